"""The branch points of a spec as it is written, and their outcomes.

Actions are inlined in the typed program, so one point of the source has many copies there: a point is its span and
kind. What the compiler makes by itself (which header of a group is there) is no point, nor is anything in the parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.syntax.spans import Span

OUTCOMES = {
    "if": ("true", "false"),
    "require": ("holds", "fails"),
    "condition": ("true", "false"),
    "lookup": ("found", "absent"),
    "loop": ("entered", "not entered"),
    "handler": ("runs",),
    "relevant": ("not met",),
}


@dataclass(frozen=True, slots=True)
class Point:
    """`kind` is a key of OUTCOMES. Outcome k of the point has the number `first` + k among all of the program."""

    span: Span
    kind: str
    first: int

    @property
    def outcomes(self) -> tuple[str, ...]:
        return OUTCOMES[self.kind]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way that a point can go."""

    point: Point
    number: int

    @property
    def name(self) -> str:
        return self.point.outcomes[self.number - self.point.first]


class Points:
    """All points of a program, in order of file and place.

    Outcomes are known by number, from 0; the numbers behind those of the outcomes are those of `lines`, the lines on
    which statements begin: (file, line), the same for all statements of a line.
    """

    def __init__(self, program: ir.Program) -> None:
        found = {(span, kind) for span, kind in _found(program)}
        files = {name: i for i, name in enumerate(dict.fromkeys([program.file, program.span.file, *program.sources]))}
        order = sorted(found, key=lambda f: (files.get(f[0].file, len(files)), f[0].start, -f[0].end, f[1]))
        self.points: list[Point] = []
        self.outcomes: list[Outcome] = []
        self._at: dict[tuple[Span, str], Point] = {}
        for span, kind in order:
            point = Point(span, kind, len(self.outcomes))
            self.points.append(point)
            self._at[span, kind] = point
            self.outcomes += [Outcome(point, point.first + k) for k in range(len(point.outcomes))]
        self._program = program
        starts = dict.fromkeys(_line(program, s.span) for s in walk(roots(program)) if isinstance(s, ir.Statement))
        self.lines = {line: len(self.outcomes) + n for n, line in enumerate(starts)}
        self.numbers = len(self.outcomes) + len(self.lines)

    def line(self, s: ir.Statement) -> int:
        """The number of the line on which a statement begins."""
        return self.lines[_line(self._program, s.span)]

    def first(self, node: Any) -> int | None:
        """The number of the first outcome of the point that a node, or a handler, is; None if it is none."""
        point = self._at.get((node.span, kind_of(self._program, node)))
        return None if point is None else point.first

    def condition(self, operand: ir.Expr) -> int | None:
        """The same for an operand of `and` or `or`."""
        point = self._at.get((operand.span, "condition"))
        return None if point is None else point.first


@lru_cache(maxsize=256)
def points(program: ir.Program) -> Points:
    """The points of a program."""
    return Points(program)


def kind_of(program: ir.Program, node: Any) -> str:
    """The kind of point that a node can be; "" for all others."""
    match node:
        case ir.If() | ir.Choose():
            found = re.match(r"(if|require)\b", program.sources[node.span.file].text[node.span.start : node.span.end])
            return found[1] if found else ""
        case ir.Lookup():
            return "lookup"
        case ir.ForEach():
            return "loop"
        case ir.PacketHandler() | ir.EndHandler() | ir.Timer():
            return "handler"
        case ir.Contract():
            return "relevant"
        case _:
            return ""


def _line(program: ir.Program, span: Span) -> tuple[str, int]:
    return span.file, program.sources[span.file].position(span.start)[0]


def operands(e: ir.Expr) -> Iterator[ir.Expr]:
    """The operands of an `and` or `or` that stands in the source, but those that are themselves `and` or `or`."""
    if not (isinstance(e, ir.Binary) and e.op in ("and", "or") and e.left.span.end < e.right.span.start):
        return
    for side in (e.left, e.right):
        inner = side
        while isinstance(inner, ir.Unary):
            inner = inner.operand
        if next(operands(inner), None) is None:
            yield side


def handlers(program: ir.Program) -> tuple[Any, ...]:
    """All handlers."""
    return (*program.packet_handlers, *program.end_handlers.values(), *program.timers)


def used_fns(program: ir.Program, roots: Any) -> list[ir.Fn]:
    """The functions that `roots` call, and those that these call."""
    found: dict[str, ir.Fn] = {}
    waiting: list[Any] = [roots]
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, ir.FnCall) and node.fn not in found:
                found[node.fn] = program.fns[node.fn]
                waiting.append(found[node.fn].body)
    return list(found.values())


def roots(program: ir.Program) -> list[Any]:
    """All code of the spec that runs after parsing: bodies, and expressions of state and schedule."""
    found: list[Any] = [h.body for h in handlers(program)]
    for decl in program.state.values():
        if isinstance(decl, ir.MapDecl):
            found += [timeout.value for timeout in (decl.idle, decl.age) if timeout is not None]
            found += [index.key for index in decl.indexes]
    return [*found, program.schedule.args]


def _found(program: ir.Program) -> Iterator[tuple[Span, str]]:
    for handler in handlers(program):
        yield handler.span, "handler"
    contract = program.contract
    if contract is not None and contract.span is not None and contract.passing != program.parser.all_classes:
        yield contract.span, "relevant"
    code = roots(program)
    for node in walk([code, [fn.body for fn in used_fns(program, code)]]):
        kind = kind_of(program, node)
        if kind:
            yield node.span, kind
        if isinstance(node, ir.Expr):
            for operand in operands(node):
                yield operand.span, "condition"
