"""What a fault is put into: a file as it was written, and what its words mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from polysome.ir import program as ir
from polysome.resources import folder
from polysome.semantics.modules import Loader, Module
from polysome.syntax import ast
from polysome.syntax.diagnostics import Report

_NOT_MEANING = (ast.Property, ast.Traffic, ast.ParamDecl, ast.PortDecl, ast.Text)


@dataclass(frozen=True)
class Edit:
    """`new` instead of the characters `start` to `end` (excluded)."""

    start: int
    end: int
    new: str


Edits = tuple[Edit, ...]  # of one fault, ascending and disjoint


@dataclass(frozen=True, eq=False)
class Written:
    """A file of a spec. `visible`: the trees of all files that it may take names from; `program`: the whole NF."""

    name: str
    path: Path
    text: str
    tree: ast.File
    visible: tuple[ast.File, ...]
    program: ir.Program

    def said(self, node: ast.Node) -> str:
        """A node as it was written."""
        return self.text[node.span.start : node.span.end]

    @cached_property
    def nodes(self) -> tuple[tuple[ast.Node, tuple[ast.Node, ...]], ...]:
        """All nodes that say what the NF does, with those around each, the innermost last.

        Not its properties, nor what these are told by name: a param's default belongs to both.
        """
        return tuple(_nodes(self.tree, ()))

    def declared(self, kind: type[Any]) -> Iterator[Any]:
        """Declarations of a kind, here and in the files that this one uses."""
        for tree in self.visible:
            for item in tree.items:
                yield from (n for n in (item, *getattr(item, "items", ())) if isinstance(n, kind))


def replaced(node: ast.Node, new: str) -> Edits:
    """Other words for a node."""
    return (Edit(node.span.start, node.span.end, new),)


def between(written: Written, left: ast.Node, right: ast.Node, old: str, new: str) -> Edits | None:
    """Another operator between two operands; None if it cannot be told where it stands."""
    gap = written.text[left.span.end : right.span.start]
    if gap.count(old) != 1:
        return None
    start = left.span.end + gap.index(old)
    return (Edit(start, start + len(old), new),)


def edited(text: str, edits: Sequence[Edit]) -> str:
    """The text with the fault in it. What was left out leaves its line ends, so that all other lines stay."""
    for edit in sorted(edits, key=lambda e: -e.start):
        ends = text.count("\n", edit.start, edit.end) - edit.new.count("\n")
        text = text[: edit.start] + edit.new + "\n" * ends + text[edit.end :]
    return text


def files(path: Path, program: ir.Program) -> list[Written]:
    """The spec's file and those that it uses, but not the standard library: that has its own tests."""
    report = Report()
    module = Loader(report).load(path, str(path))
    assert module is not None, "the spec was checked before"
    library = folder("stdlib").resolve()
    own = [m for m in module.visible if not m.path.is_relative_to(library)]
    return [_written(m, report, program) for m in own]


def _written(module: Module, report: Report, program: ir.Program) -> Written:
    text = report.sources[module.name].text
    return Written(module.name, module.path, text, module.ast, tuple(m.ast for m in module.visible), program)


def _nodes(value: Any, above: tuple[ast.Node, ...]) -> Iterator[tuple[ast.Node, tuple[ast.Node, ...]]]:
    if isinstance(value, _NOT_MEANING) or (isinstance(value, ast.Use) and value.path.startswith("test.")):
        return
    if isinstance(value, ast.Node):
        yield value, above
        above = (*above, value)
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes(item, above)
    elif is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            yield from _nodes(getattr(value, f.name), above)
