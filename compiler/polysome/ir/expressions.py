"""Expressions of the typed program: every node has its span and its type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polysome.ir import types as t
from polysome.syntax.spans import Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Expr(Node):
    type: t.Type


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A value as `ir.types` represents it (also frozenset for sets of ports)."""

    value: Any


@dataclass(frozen=True, slots=True)
class Local(Expr):
    slot: int
    name: str


@dataclass(frozen=True, slots=True)
class Config(Expr):
    """The present value of a config item."""

    name: str


@dataclass(frozen=True, slots=True)
class Now(Expr):
    pass


@dataclass(frozen=True, slots=True)
class PacketLen(Expr):
    pass


@dataclass(frozen=True, slots=True)
class InPort(Expr):
    pass


@dataclass(frozen=True, slots=True)
class PayloadLen(Expr):
    pass


@dataclass(frozen=True, slots=True)
class PayloadBytes(Expr):
    """`payload[low..high]`: as an integer (zeros beyond the end) if the type is Bits, as bytes (cut) if ByteString."""

    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class PacketFrom(Expr):
    """The packet as it arrived from the header on, at most `limit` bytes."""

    instance: int
    limit: int


@dataclass(frozen=True, slots=True)
class HeaderField(Expr):
    """A field of a header instance, as last written."""

    instance: int
    field: int


@dataclass(frozen=True, slots=True)
class RestBytes(Expr):
    """Bytes of a header's `rest` field, zeros beyond its end; with low = high = None its length."""

    instance: int
    field: int
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Valid(Expr):
    instance: int


@dataclass(frozen=True, slots=True)
class Peek(Expr):
    """The bits after the header just extracted; only in a select."""

    bits: int


@dataclass(frozen=True, slots=True)
class HeaderBytes(Expr):
    """In a `length(…)`: bytes of this header (`rest` False) or after it (True)."""

    rest: bool


@dataclass(frozen=True, slots=True)
class PacketValue(Expr):
    """A `value` of the parser, computed on the packet as it arrived."""

    name: str
    for_class: bool


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """`+ - * / % & | ^ << >> == != < <= > >= and or`; on sets of ports + and -. Ratios compare exactly."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Ratio(Expr):
    """bytes / duration, only compared with a rate."""

    amount: Expr
    duration: Expr


@dataclass(frozen=True, slots=True)
class Choose(Expr):
    """`if condition { then } else { orelse }`."""

    condition: Expr
    then: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class LetIn(Expr):
    slot: int
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """To `type`: truncating or extending with zeros; `mapped` for ipv4 as ipv6."""

    value: Expr
    mapped: bool


@dataclass(frozen=True, slots=True)
class BitSlice(Expr):
    value: Expr
    high: int
    low: int


@dataclass(frozen=True, slots=True)
class Concat(Expr):
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Make(Expr):
    """A struct or tuple of its members, or with type SetOf a set."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Get(Expr):
    """Member `index` of a struct or tuple."""

    value: Expr
    index: int


@dataclass(frozen=True, slots=True)
class Deref(Expr):
    """The value of a row (Ref) or of something owned from a pool (FromPool)."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Hash(Expr):
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MinMax(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class InPrefix(Expr):
    address: Expr
    prefix: Expr


@dataclass(frozen=True, slots=True)
class InSet(Expr):
    item: Expr
    set: Expr


@dataclass(frozen=True, slots=True)
class ListIndex(Expr):
    """A row of a config list, or of a table that has one for every hash."""

    table: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Length(Expr):
    """Rows of a config table."""

    table: Expr


@dataclass(frozen=True, slots=True)
class FnCall(Expr):
    fn: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class StateRead(Expr):
    """A scalar."""

    state: str


@dataclass(frozen=True, slots=True)
class ArrayRead(Expr):
    state: str
    index: Expr


@dataclass(frozen=True, slots=True)
class Contains(Expr):
    """`k in m` without refresh; `index` names an index of the map."""

    state: str
    key: Expr
    index: str | None


@dataclass(frozen=True, slots=True)
class StateLen(Expr):
    state: str


@dataclass(frozen=True, slots=True)
class MethodCall(Expr):
    """A method of a method-style kind; `type` is None-like (Tuple()) for statements."""

    state: str
    method: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Place(Node):
    """Where a token bucket lives: a scalar, an array element, or an entry of a map; then members of structs."""

    state: str
    kind: str
    key: Expr | None
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BucketOp(Expr):
    """`has` or `take` of a token bucket; only `take` writes."""

    place: Place
    take: bool
    amount: Expr
    rate: Expr
    burst: Expr
