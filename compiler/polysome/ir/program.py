"""The typed program: what every later stage reads.

It is small on purpose: straight-line statements, `if`, bounded `for`, state operations, verdicts. Actions are inlined,
names are resolved, widths are explicit. Every node is frozen and has its span; every expression its type.

Packets are described by an unrolled parse graph (`Parser`): its nodes extract header *instances*; a *parse class*
is a sequence of instances. Sets of parse classes are ints used as bit masks over `Parser.classes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polysome.ir import types as t
from polysome.syntax.spans import Source, Span

# ---------------------------------------------------------------- expressions


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
    """A row of a config list, or of a maglev table by hash."""

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


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class SetLocal(Node):
    slot: int
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Evaluate(Node):
    """An expression for its effect."""

    value: Expr


@dataclass(frozen=True, slots=True)
class If(Node):
    condition: Expr
    then: Body
    orelse: Body


@dataclass(frozen=True, slots=True)
class ForRange(Node):
    slot: int
    name: str
    low: Expr
    high: Expr
    body: Body


@dataclass(frozen=True, slots=True)
class ForEach(Node):
    """Over a config table or iterable state as it was when the loop began. One slot, or key and value."""

    slots: tuple[int, ...]
    names: tuple[str, ...]
    state: str | None
    table: Expr | None
    body: Body


@dataclass(frozen=True, slots=True)
class Lookup(Node):
    """Look `key` up in a map, index, config table, or take from a pool (`key`: the partition).

    If there is something, it is bound to `slot` and `found` runs, else `absent`. `kind` is map, index, table, pool;
    `refresh` is False for `peek`.
    """

    kind: str
    source: str
    key: Expr | None
    slot: int
    name: str
    found: Body
    absent: Body
    index: str | None = None
    refresh: bool = True


@dataclass(frozen=True, slots=True)
class MapPut(Node):
    """`m[k] = value`. With `current`, `value` may read the entry's present (or initial) value from that slot."""

    state: str
    key: Expr
    value: Expr
    current: int | None


@dataclass(frozen=True, slots=True)
class MapRemove(Node):
    state: str
    key: Expr


@dataclass(frozen=True, slots=True)
class StateWrite(Node):
    """A scalar, or with `index` an element of an array."""

    state: str
    index: Expr | None
    value: Expr


@dataclass(frozen=True, slots=True)
class FieldWrite(Node):
    instance: int
    field: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Push(Node):
    """A new header directly before `before` (None: before the payload)."""

    header: str
    fields: tuple[tuple[int, Expr], ...]
    before: int | None


@dataclass(frozen=True, slots=True)
class Pop(Node):
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Truncate(Node):
    size: Expr


@dataclass(frozen=True, slots=True)
class Emit(Node):
    headers: tuple[tuple[str, tuple[tuple[int, Expr], ...]], ...]
    payload: Expr | None
    target: Expr


@dataclass(frozen=True, slots=True)
class Send(Node):
    """To a port or a set of ports, by the type of `target`."""

    target: Expr


@dataclass(frozen=True, slots=True)
class Bounce(Node):
    pass


@dataclass(frozen=True, slots=True)
class Drop(Node):
    reason: str


Statement = (
    SetLocal
    | Evaluate
    | If
    | ForRange
    | ForEach
    | Lookup
    | MapPut
    | MapRemove
    | StateWrite
    | FieldWrite
    | Push
    | Pop
    | Truncate
    | Emit
    | Send
    | Bounce
    | Drop
)
Body = tuple[Statement, ...]

# ---------------------------------------------------------------- headers and parser


@dataclass(frozen=True, slots=True)
class Checksum:
    """RFC 1071 over `parts` (of pseudo, header, rest)."""

    parts: tuple[str, ...]
    zero_is_none: bool


@dataclass(frozen=True, slots=True)
class Field:
    """A header's field: `offset` and `width` in bits; a `rest` field has width 0 and ends where the header does."""

    name: str
    type: t.Type
    offset: int
    width: int
    span: Span
    rest: bool = False
    length: Expr | None = None
    next: t.Enum | None = None
    checksum: Checksum | None = None
    default: int | None = None

    @property
    def read_only(self) -> bool:
        return self.rest or self.length is not None or self.next is not None or self.checksum is not None


@dataclass(frozen=True, slots=True)
class Header:
    """A header type. Expressions read its own fields as HeaderField(instance=-1)."""

    name: str
    fields: tuple[Field, ...]
    fixed: int  # bytes of the fixed fields
    size: Expr | None
    valid: Expr | None
    end: Expr | None
    pseudo: tuple[int, ...]
    span: Span

    def index(self, name: str) -> int | None:
        for i, f in enumerate(self.fields):
            if f.name == name:
                return i
        return None


@dataclass(frozen=True, slots=True)
class Instance:
    """A header as the parser names it; with `cut`, its first `cut` bytes suffice."""

    name: str
    header: Header
    cut: int | None


@dataclass(frozen=True, slots=True)
class Match:
    """One alternative of a select case: per key an inclusive range, or None for any."""

    ranges: tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class ParseCase:
    matches: tuple[Match, ...]
    target: int  # node, or -1: accept


@dataclass(frozen=True, slots=True)
class ParseNode:
    """Extract `instance` (if any), try `hooks` in order, then the cases; no case: accept."""

    name: str
    instance: int | None
    keys: tuple[Expr, ...]
    cases: tuple[ParseCase, ...]
    hooks: tuple[tuple[Expr | None, int], ...]


@dataclass(frozen=True, slots=True)
class ValueDecl:
    """A `value` of the parser; `for_class` is its meaning in a class clause."""

    name: str
    value: Expr
    for_class: Expr


@dataclass(frozen=True, slots=True)
class Parser:
    """The unrolled parse graph; node 0 is the start. `classes` holds every possible sequence of instances."""

    name: str
    instances: tuple[Instance, ...]
    nodes: tuple[ParseNode, ...]
    classes: tuple[tuple[int, ...], ...]
    having: tuple[int, ...]  # per instance: mask of the classes that hold it
    groups: Mapping[str, tuple[int, ...]]
    values: Mapping[str, ValueDecl]

    @property
    def all_classes(self) -> int:
        return (1 << len(self.classes)) - 1


# ---------------------------------------------------------------- state, config, schedule


@dataclass(frozen=True, slots=True)
class ConfigDecl:
    """`default` None for a scalar means it must be given. `options`: size of a maglev table."""

    name: str
    type: t.Type
    default: Any
    span: Span
    options: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Timeout:
    """`value` in ns, over the slots of key and value; bounded by `maximum`, constant if that is all."""

    value: Expr
    maximum: int | None
    key_slot: int
    value_slot: int


@dataclass(frozen=True, slots=True)
class IndexDecl:
    name: str
    key: Expr
    key_slot: int
    value_slot: int
    span: Span


@dataclass(frozen=True, slots=True)
class StateDecl:
    name: str
    span: Span
    per_core: bool


@dataclass(frozen=True, slots=True)
class MapDecl(StateDecl):
    """A map, or with `value` None a set."""

    key: t.Type
    value: t.Type | None
    capacity: int
    idle: Timeout | None
    age: Timeout | None
    when_full: str  # drop, evict, pass
    indexes: tuple[IndexDecl, ...]


@dataclass(frozen=True, slots=True)
class PoolDecl(StateDecl):
    """`axes`: each a config name of a list, or an inclusive range; values are their product in order."""

    item: t.Type
    axes: tuple[str | tuple[int, int], ...]
    per: Expr | None


@dataclass(frozen=True, slots=True)
class ArrayDecl(StateDecl):
    item: t.Type
    size: int
    initial: Any


@dataclass(frozen=True, slots=True)
class ScalarDecl(StateDecl):
    type: t.Type
    initial: Any


@dataclass(frozen=True, slots=True)
class KindDecl(StateDecl):
    """State of a method-style kind (`kinds.state.STATE_KINDS`)."""

    kind: str
    params: tuple[t.Type, ...]
    options: Mapping[str, int]


AnyState = MapDecl | PoolDecl | ArrayDecl | ScalarDecl | KindDecl


@dataclass(frozen=True, slots=True)
class Schedule:
    """`args`: the policy's run-time values; `options`: its constants in ns, bytes, packets; `serve` may be a config."""

    policy: str
    cls: Expr
    args: tuple[Expr, ...]
    options: Mapping[str, int | str]
    span: Span


@dataclass(frozen=True, slots=True)
class Contract:
    """What `relevant` declares, each part for a mask of parse classes, and who passes.

    `fields`: (instance, field, classes, span); `payload`: (low, high, classes, span) in bytes; `spans`: bytes counted
    from a header, (instance, low, high, classes, span); `packet`: the classes of which everything is relevant.
    `passing`: the classes the handlers see; the others get `orelse`.
    """

    fields: tuple[tuple[int, int, int, Span], ...]
    payload: tuple[tuple[int, int, int, Span], ...]
    spans: tuple[tuple[int, int, int, int, Span], ...]
    packet: int
    passing: int
    orelse: Statement
    span: Span | None


@dataclass(frozen=True, slots=True)
class PacketHandler:
    ports: tuple[int, ...]
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class EndHandler:
    map: str
    slots: tuple[int, int, int]
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Timer:
    period: int
    body: Body
    span: Span


@dataclass(frozen=True, slots=True)
class Fn:
    name: str
    slots: tuple[int, ...]
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Traffic:
    """Declared load, each value or None: bit/s, bytes, flows, new flows per second."""

    rate: int | None
    mean: int | None
    flows: int | None
    new: int | None


@dataclass(frozen=True, slots=True)
class Program:
    """A checked NF."""

    name: str
    doc: str
    file: str
    ports: tuple[str, ...]
    params: Mapping[str, tuple[t.Type, Any]]
    headers: Mapping[str, Header]
    parser: Parser
    fns: Mapping[str, Fn]
    config: Mapping[str, ConfigDecl]
    state: Mapping[str, AnyState]
    contract: Contract | None
    packet_handlers: tuple[PacketHandler, ...]
    end_handlers: Mapping[str, EndHandler]
    timers: tuple[Timer, ...]
    schedule: Schedule
    traffic: Traffic | None
    properties: tuple[Any, ...]
    span: Span
    sources: Mapping[str, Source]

    def place(self, span: Span) -> str:
        """`file:line` of a span, as drop reasons and reports name it."""
        return f"{span.file.rsplit('/', 1)[-1]}:{self.sources[span.file].position(span.start)[0]}"
