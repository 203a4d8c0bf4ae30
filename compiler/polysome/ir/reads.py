"""Which parts of the packet an expression or statement reads, and for which parse classes.

The walk follows header tests, so a read is only counted for the classes that can get there. Reads inside a parser
`value` are attributed to the place that uses the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
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


def bodies(statement: ir.Statement) -> Iterator[ir.Body]:
    """The bodies inside a statement."""
    for f in fields(statement):
        value = getattr(statement, f.name)
        if isinstance(value, tuple) and value and all(is_dataclass(v) and not isinstance(v, ir.Expr) for v in value):
            yield value


def statement_reads(body: ir.Body, mask: int, parser: ir.Parser) -> Iterator[PacketRead]:
    """The reads of a body that packets of `mask` enter."""
    yield from _Walk(parser).body(body, mask)


class _Walk:
    """Walks statements with the classes that reach them; `after` is the mask behind the last statement walked."""

    def __init__(self, parser: ir.Parser) -> None:
        self.parser = parser
        self.after = 0

    def body(self, body: ir.Body, mask: int) -> Iterator[PacketRead]:
        self.after = mask
        for statement in body:
            yield from self._statement(statement, self.after)

    def _statement(self, s: ir.Statement, mask: int) -> Iterator[PacketRead]:
        for child in children(s):
            yield from _expression(child, mask, self.parser, None, "")
        match s:
            case ir.If():
                yes, no = split(s.condition, mask, self.parser)
                yield from self._branches((s.then, yes), (s.orelse, no))
            case ir.Lookup():
                yield from self._branches((s.found, mask), (s.absent, mask))
            case ir.ForRange() | ir.ForEach():
                yield from self.body(s.body, mask)
                self.after = mask
            case ir.Send() | ir.Bounce() | ir.Drop():
                self.after = 0
            case _:
                self.after = mask

    def _branches(self, *branches: tuple[ir.Body, int]) -> Iterator[PacketRead]:
        joined = 0
        for body, mask in branches:
            yield from self.body(body, mask)
            joined |= self.after
        self.after = joined
