"""Files and what they `use` (LANGUAGE.md L1.9). The AST of every file read is cached by its content."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache, lru_cache
from pathlib import Path

from polysome.resources import folder, user_cache
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report, did_you_mean, listed
from polysome.syntax.spans import Source
from polysome.syntax.text import decoded


@dataclass(frozen=True, eq=False)
class Module:
    """A file and, transitively, all that it uses: `visible` has them in the order of use, itself last."""

    name: str
    path: Path
    ast: ast.File
    visible: tuple[Module, ...]


class Loader:
    """Loads modules; each file once. `texts`: what stands in some files, whatever the disk says."""

    def __init__(self, report: Report, texts: Mapping[Path, str] | None = None) -> None:
        self.report = report
        self._texts = texts or {}
        self._modules: dict[Path, Module | None] = {}
        self._loading: list[Path] = []

    def load(self, path: Path, shown: str) -> Module | None:
        """The module in `path`, or None if it has errors (reported)."""
        path = path.resolve()
        if path in self._modules:
            return self._modules[path]
        self._loading.append(path)
        self._modules[path] = None
        tree = self._parse(path, shown)
        if tree is not None:
            used: list[Module] = []
            for use in _uses(tree):
                module = self.resolve(use, path, tree)
                for m in module.visible if module else ():
                    if m not in used:
                        used.append(m)
            module = Module(shown, path, tree, ())
            object.__setattr__(module, "visible", (*used, module))
            self._modules[path] = module
        self._loading.pop()
        return self._modules[path]

    def resolve(self, use: ast.Use, user: Path, tree: ast.File) -> Module | None:
        """The module that `use` names in the file `user`, of which `tree` is the text."""
        relative = Path(*use.path.split(".")).with_suffix(".nf")
        roots = ((user.parent, ""), (folder("stdlib"), "stdlib/"))
        for root, prefix in roots:
            candidate = (root / relative).resolve()
            if candidate.is_file():
                if candidate in self._loading:
                    self.circle(use)
                    return None
                shown = prefix + str(relative) if prefix else os.path.relpath(candidate)
                return self.load(candidate, shown)
        self._not_found(use, tree)
        return None

    def circle(self, use: ast.Use) -> None:
        self.report.add(
            "E0202",
            f"`{use.path}` uses itself, in a circle",
            use.span,
            why="A file's declarations must be known before those that use it.",
            mend="Move what both files need into a third one.",
        )

    def _not_found(self, use: ast.Use, tree: ast.File) -> None:
        library = folder("stdlib")
        known = [".".join(p.relative_to(library).with_suffix("").parts) for p in library.rglob("*.nf")]
        self.report.add(
            "E0201",
            f"there is no file for `{use.path}`",
            use.span,
            why="It was looked for beside this file and in the standard library.",
            mend=_mend_in_the_file(use, tree)
            or did_you_mean(use.path, known)
            or f"The library has {listed(sorted(known))}.",
        )

    def _parse(self, path: Path, shown: str) -> ast.File | None:
        if path in self._texts:
            return _parsed(shown, self._texts[path], self.report)
        text = decoded(shown, path.read_bytes(), self.report)
        if text is None:
            return None
        entry = user_cache() / hashlib.sha256(f"{_version()}\0{shown}\0{text}".encode()).hexdigest()
        tree = _kept(entry)
        if tree is not None:
            self.report.sources[shown] = Source(shown, text)
            return tree
        before = len(self.report.errors)
        parsed = _parsed(shown, text, self.report)
        if parsed is not None and len(self.report.errors) == before:
            _store(entry, parsed)
        return parsed


def _parsed(shown: str, text: str, report: Report) -> ast.File | None:
    from polysome.syntax.parse import parse  # ANTLR is slow to import and rarely needed

    return parse(shown, text, report)


@lru_cache(maxsize=64)
def _read(data: bytes) -> ast.File | None:
    """The tree in an entry of the cache; trees are frozen, so all who ask for the same may have the same."""
    try:
        tree = _Trees(io.BytesIO(data)).load()
    except Exception:  # it is damaged: unpickling may then raise anything
        return None
    return tree if isinstance(tree, ast.File) else None


def _kept(entry: Path) -> ast.File | None:
    try:
        return _read(entry.read_bytes())
    except OSError:
        return None


class _Trees(pickle.Unpickler):
    """Makes nodes of syntax trees and nothing else: whoever can write to the cache must not have code run by it."""

    def find_class(self, module: str, name: str) -> type:
        if module.startswith("polysome.syntax."):
            found = super().find_class(module, name)
            if isinstance(found, type) and is_dataclass(found) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is no node of a syntax tree")


def _mend_in_the_file(use: ast.Use, tree: ast.File) -> str:
    """What to do about a `use` of something that the same file declares; nothing if it does not."""
    names = {getattr(item, "name", None): item for item in tree.items}
    found = next((item for name, item in names.items() if isinstance(name, ast.Ident) and name.text == use.path), None)
    if found is None:
        return ""
    if isinstance(found, ast.NfDecl) and found.block:
        return f"Blocks are used from files of their own: move `{use.path}` into `{use.path}.nf`, beside this file."
    return f"Remove it: this file declares `{use.path}`, and all of it may use that."


def _uses(tree: ast.File) -> list[ast.Use]:
    return [item for item in tree.items if isinstance(item, ast.Use)]


@cache
def _version() -> str:
    """Changes with the front end's sources, so that an old cache is never read by a new compiler."""
    syntax = Path(__file__).resolve().parent.parent / "syntax"
    stats = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in sorted(syntax.rglob("*.py"))]
    return hashlib.sha256(repr(stats).encode()).hexdigest()


def _store(entry: Path, tree: ast.File) -> None:
    """Best effort: a cache that cannot be written costs time, nothing else."""
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        scratch = entry.with_name(f"{entry.name}.{os.getpid()}")
        scratch.write_bytes(pickle.dumps(tree, protocol=5))
        scratch.replace(entry)
    except (OSError, RecursionError):
        pass
