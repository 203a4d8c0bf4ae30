"""Which parts of the packet an expression or statement reads, and for which parse classes.

The walk follows header tests, so a read is only counted for the classes that can get there. Reads inside a parser
`value` are attributed to the place that uses the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from polysome.ir import program as ir
from polysome.ir.classes import split
from polysome.syntax.spans import Span

Read = ir.HeaderField | ir.RestBytes | ir.PayloadBytes | ir.PayloadLen | ir.PacketFrom | ir.PacketLen | ir.InPort


@dataclass(frozen=True)
class PacketRead:
    """`node` is read at `span` for packets of `classes` (a mask); `via` is the parser value it is part of, or ""."""

    node: Read
    classes: int
    span: Span
    via: str


def reads_of(e: ir.Expr, mask: int, parser: ir.Parser) -> Iterator[PacketRead]:
    """The reads of an expression evaluated for packets of `mask`."""
    yield from _expression(e, mask, parser, None, "")


def _expression(e: ir.Expr, mask: int, parser: ir.Parser, place: Span | None, via: str) -> Iterator[PacketRead]:
    if not mask:
        return
    match e:
        case ir.HeaderField(instance=i) | ir.RestBytes(instance=i) | ir.PacketFrom(instance=i):
            yield PacketRead(e, mask & parser.having[i], place or e.span, via)
        case ir.PayloadBytes() | ir.PayloadLen() | ir.PacketLen() | ir.InPort():
            yield PacketRead(e, mask, place or e.span, via)
        case ir.PacketValue(name=name):
            value = parser.values[name]
            inner = value.for_class if e.for_class else value.value
            yield from _expression(inner, mask, parser, place or e.span, via or name)
        case ir.Choose():
            yield from _expression(e.condition, mask, parser, place, via)
            yes, no = split(e.condition, mask, parser)
            yield from _expression(e.then, yes, parser, place, via)
            yield from _expression(e.orelse, no, parser, place, via)
        case ir.Binary(op="and" | "or"):
            yield from _expression(e.left, mask, parser, place, via)
            yes, no = split(e.left, mask, parser)
            yield from _expression(e.right, yes if e.op == "and" else no, parser, place, via)
        case _:
            for child in children(e):
                yield from _expression(child, mask, parser, place, via)


def children(node: Any) -> Iterator[ir.Expr]:
    """The expressions directly inside a node, also in its tuples and places; not those inside statements."""
    for f in fields(node):
        yield from _exprs(getattr(node, f.name))


def _exprs(value: Any) -> Iterator[ir.Expr]:
    if isinstance(value, ir.Expr):
        yield value
    elif isinstance(value, ir.Place):
        if value.key is not None:
            yield value.key
    elif isinstance(value, tuple):
        for item in value:
            if not isinstance(item, ir.Node) or isinstance(item, ir.Expr):
                yield from _exprs(item)


def statement_reads(body: ir.Body, mask: int, parser: ir.Parser) -> Iterator[PacketRead]:
    """The reads of a body that packets of `mask` enter; a field that was surely written before is not read."""
    yield from _Walk(parser).body(body, mask, frozenset())


Written = frozenset[tuple[int, int]]


class _Walk:
    """Walks statements with the classes that reach them and the fields surely written before.

    `after` and `written` describe the place behind the last statement walked.
    """

    def __init__(self, parser: ir.Parser) -> None:
        self.parser = parser
        self.after = 0
        self.written: Written = frozenset()

    def body(self, body: ir.Body, mask: int, written: Written) -> Iterator[PacketRead]:
        self.after, self.written = mask, written
        for statement in body:
            yield from self._statement(statement, self.after, self.written)

    def _statement(self, s: ir.Statement, mask: int, written: Written) -> Iterator[PacketRead]:
        for child in children(s):
            for read in _expression(child, mask, self.parser, None, ""):
                own = isinstance(read.node, ir.HeaderField) and not read.via
                if not (own and (read.node.instance, read.node.field) in written):  # type: ignore[union-attr]
                    yield read
        match s:
            case ir.If():
                yes, no = split(s.condition, mask, self.parser)
                yield from self._branches((s.then, yes), (s.orelse, no), written)
            case ir.Lookup():
                yield from self._branches((s.found, mask), (s.absent, mask), written)
            case ir.ForRange() | ir.ForEach():
                yield from self.body(s.body, mask, written)
                self.after, self.written = mask, written
            case ir.Send() | ir.Bounce() | ir.Drop():
                self.after = 0
            case ir.FieldWrite():
                self.after, self.written = mask, written | {(s.instance, s.field)}
            case _:
                self.after = mask

    def _branches(self, a: tuple[ir.Body, int], b: tuple[ir.Body, int], written: Written) -> Iterator[PacketRead]:
        yield from self.body(*a, written)
        after, first = self.after, self.written
        yield from self.body(*b, written)
        if after and self.after:
            self.written = first & self.written
        elif after:
            self.written = first
        self.after |= after
