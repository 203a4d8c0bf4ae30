"""The folders are the agreed ones, and dependencies between them point one way (the design's section 3)."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "compiler" / "polysome"

TOP = {
    *("compiler", "runtime", "stdlib", "targets", "examples", "tests"),
    *("pyproject.toml", "Makefile", "README.md", "CONTRIBUTING.md", "LICENSE"),
    *(".ci", ".clang-format", ".clang-tidy", ".editorconfig", ".gitattributes", ".gitignore"),
}

CODE = {".py", ".nf", ".g4", ".p4", ".c", ".cc", ".cpp", ".h", ".hh", ".hpp", ".j2", ".sh"}
MOST_LINES = 500

SPANS, DIAGNOSTICS = "syntax.spans", "syntax.diagnostics"
ANY = {""}
# What the modules of each part may import from Polysome beside its own; a name stands for itself and all below it.
MAY_IMPORT = {
    "resources": set[str](),
    "captures": set[str](),
    "syntax": set[str](),
    "explain": set[str](),
    "smt": set[str](),
    "kinds": {"ir.types", "ir.value_places"},  # the places in a key that a matcher each is for
    "ir": {"resources", SPANS},
    "semantics": {"syntax", "ir", "kinds", "resources"},
    "analysis": {"ir", "kinds", SPANS, DIAGNOSTICS},
    "config": {"ir", "kinds", "syntax.literals", SPANS, DIAGNOSTICS},
    "interp": {"ir", "kinds", "analysis"},
    "symbolic": {"smt", "ir", "kinds"},
    "p4": {SPANS, DIAGNOSTICS},
    "plan": {"analysis", "ir", "kinds", "config", "resources", SPANS, DIAGNOSTICS},
    "backends": {"prove", "p4", "plan", "analysis", "ir", "kinds", "resources", "syntax.literals"},
    # What is proved knows nothing of how the P4 is made; the plan says what ways there are and assume.
    "prove": {"symbolic", "smt", "p4", "plan", "analysis", "ir", SPANS},
    "deploy": {"backends", "plan", "config.items", "resources", DIAGNOSTICS},
    "engines": {"resources", "interp", "backends", "plan", "config", "analysis", "ir", "kinds", SPANS, DIAGNOSTICS},
    "testing": {
        *("engines", "interp", "backends", "plan", "p4", "symbolic", "smt", "captures", "syntax", "ir", "kinds"),
        *("semantics", "analysis", "config", "resources"),
    },
    "passes": {"ir", "analysis", "interp"},
    # It runs NFs as everybody does, in the engine room.
    "cli": {
        *("engines", "testing", "prove", "deploy", "backends", "plan", "config", "captures", "analysis"),
        *("semantics", "ir", "kinds", "p4", "syntax", "passes", "resources"),
    },
}
# What a kind's folder holds beside the kind belongs to the part that asks for it, by its name (`kinds/found.py`).
BROUGHT = {
    **{"invariant": "testing", "shadow": "testing", "expected": "testing", "lookup": "testing", "traffic": "testing"},
    **{"model": "symbolic", "rows": "config", "cpp": "backends"},
}
# So with what an architecture's folder brings; the rest of it is the plan's.
ARCHITECTURE_BROUGHT = dict.fromkeys(("p4", "controller", "bundle", "simulated", "probes"), "backends")


def listed(*options: str) -> list[Path]:
    """The files that git knows, relative to the top."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    git = ["git", "-c", "safe.directory=*", "ls-files", "-z", *options]
    names = subprocess.run(git, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted({Path(name) for name in names if name and (ROOT / name).is_file()})


def sources() -> list[Path]:
    """Committed or not: what is about to be."""
    files = listed("--cached", "--others", "--exclude-standard")
    return [path for path in files if "generated" not in path.parts]


def test_the_top_level_is_the_agreed_one() -> None:
    found = {path.parts[0] for path in listed()}
    assert sorted(found) == sorted(TOP)


def test_files_are_short_enough_to_read() -> None:
    code = [path for path in sources() if path.suffix in CODE]
    lines = {str(path): (ROOT / path).read_text(encoding="utf-8").count("\n") for path in code}
    long = [f"{path}: {n} lines" for path, n in lines.items() if n > MOST_LINES]
    assert code and not long, "\n".join(long)


def test_nothing_is_marked_as_unfinished() -> None:
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    found = []
    for path in sources():
        if path.suffix in CODE | {".md", ".toml", ""} and path.name != "LICENSE":
            lines = (ROOT / path).read_text(encoding="utf-8").split("\n")
            found += [f"{path}:{i}: {line.strip()}" for i, line in enumerate(lines, 1) if mark.search(line)]
    assert not found, "\n".join(found)


def is_module(name: str) -> bool:
    path = PACKAGE.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(tree: ast.AST, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """The modules of Polysome that a module imports anywhere in it, as names below `polysome`, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "polysome":
                    yield node.lineno, alias.name.removeprefix("polysome").removeprefix(".")
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".")
            if node.level:
                here = ["polysome", *module.split(".")]
                base = [*here[: len(here) - node.level + is_package], *filter(None, base)]
            if base[0] == "polysome":
                for alias in node.names:
                    below = ".".join([*base[1:], alias.name])
                    yield node.lineno, below if is_module(below) else ".".join(base[1:])


def allowed(target: str, rights: set[str]) -> bool:
    return any(right == "" or target == right or target.startswith(right + ".") for right in rights)


def part_of(module: str) -> str:
    """The part of Polysome that a module belongs to; "": the package itself."""
    match module.split("."):
        case ["kinds", "state" | "policy", _, brought]:
            return BROUGHT.get(brought, brought)
        case ["plan", "architectures", _, brought]:
            return ARCHITECTURE_BROUGHT.get(brought, "plan")
        case [part, *_]:
            return part
    return ""


def is_brought(module: str) -> bool:
    """Does it stand in a kind's or an architecture's folder for another part?"""
    return part_of(module) != module.partition(".")[0]


def every_import() -> Iterator[tuple[str, str, str]]:
    """What imports: its part of Polysome ("" for the package itself), its place, and the module that it imports."""
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if "generated" not in path.parts]
    assert files
    for path in files:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        for line, target in imports(ast.parse(path.read_text(encoding="utf-8")), module, is_package):
            yield part_of(module), f"{path.relative_to(ROOT)}:{line}", target


def test_imports_point_one_way() -> None:
    wrong = []
    for part, place, target in every_import():
        rights = {part, *MAY_IMPORT.get(part, ())} if part else set()
        if part and part not in MAY_IMPORT:
            wrong.append(f"{place}: `{part}` is new; say in MAY_IMPORT what it may import")
        elif not allowed(target, rights) or (is_brought(target) and not allowed(part_of(target), rights)):
            wrong.append(f"{place}: {part} may not import polysome.{target}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))


def test_no_part_has_a_right_that_it_does_not_use() -> None:
    unused = {(part, right) for part, rights in MAY_IMPORT.items() for right in rights}
    for part, _, target in every_import():
        unused -= {(part, right) for right in MAY_IMPORT.get(part, ()) if allowed(target, {right})}
    assert not unused, "\n".join(f"{part} does not import polysome.{right}" for part, right in sorted(unused))


def test_no_module_needs_itself() -> None:
    """Inside a part too, and for types too: who reads one module need not have read another that reads it."""
    needs: dict[str, set[str]] = {}
    for _, place, target in every_import():
        module = place.partition(":")[0].removeprefix("compiler/polysome/").removesuffix(".py").replace("/", ".")
        needs.setdefault(module.removesuffix(".__init__"), set()).add(target)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        raise AssertionError(" needs ".join(error.args[1][::-1])) from None


def test_private_names_stay_in_their_module() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if "generated" not in path.parts:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [f"{path.relative_to(ROOT)}:{line}: {name}" for line, name in private_uses(tree)]
    assert not found, "\n".join(found)


def private_uses(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names with `_` in front that are another module's of Polysome."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "polysome":
            modules |= {alias.asname or alias.name for alias in node.names}
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.startswith("_"))
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules and re.match("_[^_]", name):
                yield node.lineno, f"{module}.{name}"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from polysome.ir import fold\nfold._zero(1)", ["fold._zero"]),
        ("from polysome.ir.fold import _zero", ["_zero"]),
        ("from polysome.ir import fold as f\nf.zero(1)", []),
        ("import os\nos._exit(0)\nself._x", []),
    ],
)
def test_private_names_are_found(code: str, found: list[str]) -> None:
    assert [name for _, name in private_uses(ast.parse(code))] == found


@pytest.mark.parametrize(
    ("code", "module", "is_package", "found"),
    [
        ("from polysome.syntax import ast", "ir.fold", False, ["syntax.ast"]),
        ("from polysome.syntax.spans import Span", "ir.fold", False, ["syntax.spans"]),
        ("import polysome.semantics.check as c", "ir.fold", False, ["semantics.check"]),
        ("from .types import U", "ir.fold", False, ["ir.types"]),
        ("from . import types", "ir", True, ["ir.types"]),
        ("from ..syntax import spans, ast", "ir.fold", False, ["syntax.spans", "syntax.ast"]),
        ("import os\nfrom polysomes import x", "ir.fold", False, []),
        ("def f():\n    from polysome import semantics", "ir.fold", False, ["semantics"]),
    ],
)
def test_imports_are_found(code: str, module: str, is_package: bool, found: list[str]) -> None:
    assert [target for _, target in imports(ast.parse(code), module, is_package)] == found


def test_a_right_covers_what_is_below_it_only() -> None:
    assert allowed("syntax.spans", {"syntax"}) and allowed("syntax", {"syntax"}) and allowed("cli.main", ANY)
    assert not allowed("syntax", {"syntax.spans"}) and not allowed("syntaxes", {"syntax"}) and not allowed("ir", set())
