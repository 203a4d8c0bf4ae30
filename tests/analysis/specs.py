"""Small specs as programs, and their analyses with names instead of numbers."""

from __future__ import annotations

from pathlib import Path

from polysome.analysis.layout import ClassLayout, layout
from polysome.analysis.relevance import PAYLOAD, Need, members, relevance
from polysome.analysis.words import line
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/*.nf"))


def program(folder: Path, text: str) -> ir.Program:
    """The program of a spec that has no errors; its first line is line 1."""
    path = folder / "spec.nf"
    path.write_text(text, encoding="utf-8")
    return check(path, Report())


def class_of(p: ir.Program, *headers: str) -> int:
    """The number of the parse class with exactly these headers."""
    names = [i.name for i in p.parser.instances]
    return p.parser.classes.index(tuple(names.index(h) for h in headers))


Bytes = tuple[str, int, int, int]  # header, first byte, last byte, line


def said(p: ir.Program, needs: tuple[Need, ...]) -> list[Bytes]:
    """Needs as (header, first byte, last byte, line)."""
    names = {n: i.name for n, i in enumerate(p.parser.instances)} | {PAYLOAD: "payload"}
    return [(names[n.instance], n.low, n.high - 1, line(p, n.span)) for n in needs]


def needs(p: ir.Program, *headers: str) -> list[Bytes]:
    """What packets with exactly these headers need."""
    c = class_of(p, *headers)
    return next(said(p, g.needs) for g in relevance(p).groups if g.classes >> c & 1)


def layout_of(p: ir.Program, *headers: str) -> ClassLayout:
    c = class_of(p, *headers)
    return next(one for one in layout(p).classes if one.classes >> c & 1)


def fields(p: ir.Program, one: ClassLayout) -> list[tuple[str, int, int, int]]:
    """The fields frame as (header, first byte, length, offset)."""
    names = {n: i.name for n, i in enumerate(p.parser.instances)} | {PAYLOAD: "payload"}
    return [(names[s.instance], s.first, s.length, s.offset) for s in one.fields]


def edits(one: ClassLayout) -> list[tuple[str, int, int]]:
    """The edits frame as (name, length, offset)."""
    return [(e.name, e.length, e.offset) for e in one.edits]


def paths(p: ir.Program, mask: int) -> set[tuple[str, ...]]:
    """The classes of a mask, by header names."""
    return {tuple(p.parser.instances[i].name for i in p.parser.classes[c]) for c in members(mask)}
