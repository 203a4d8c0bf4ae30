"""The typed program: what every later stage reads.

It is small on purpose: straight-line statements, `if`, bounded `for`, state operations, verdicts. Actions are inlined,
names are resolved, widths are explicit. Every node is frozen and has its span; every expression its type.

Packets are described by an unrolled parse graph (`Parser`): its nodes extract header *instances*; a *parse class*
is a sequence of instances. Sets of parse classes are ints used as bit masks over `Parser.classes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from polysome.ir import types as t
from polysome.ir.expressions import (
    ArrayRead,
    Binary,
    BitSlice,
    BucketOp,
    Cast,
    Choose,
    Concat,
    Config,
    Const,
    Contains,
    Deref,
    Expr,
    FnCall,
    Get,
    Hash,
    HeaderBytes,
    HeaderField,
    InPort,
    InPrefix,
    InSet,
    Length,
    LetIn,
    ListIndex,
    Local,
    Make,
    MethodCall,
    MinMax,
    Node,
    Now,
    PacketFrom,
    PacketLen,
    PacketValue,
    PayloadBytes,
    PayloadLen,
    Peek,
    Place,
    Ratio,
    RestBytes,
    StateLen,
    StateRead,
    Unary,
    Valid,
)
from polysome.ir.packets import (
    Checksum,
    Field,
    Header,
    Instance,
    Match,
    ParseCase,
    ParseNode,
    Parser,
    ValueDecl,
)
from polysome.ir.statements import (
    Body,
    Bounce,
    Drop,
    Emit,
    Evaluate,
    FieldWrite,
    ForEach,
    ForRange,
    If,
    Lookup,
    MapPut,
    MapRemove,
    Pop,
    Push,
    Send,
    SetLocal,
    Statement,
    StateWrite,
    Truncate,
)
from polysome.syntax.spans import Source, Span

__all__ = [
    "DEFAULT_POLICY",
    "AnyState",
    "ArrayDecl",
    "ArrayRead",
    "Binary",
    "BitSlice",
    "Body",
    "Bounce",
    "BucketOp",
    "Cast",
    "Checksum",
    "Choose",
    "Concat",
    "Config",
    "ConfigDecl",
    "Const",
    "Contains",
    "Contract",
    "Deref",
    "Drop",
    "Emit",
    "EndHandler",
    "Evaluate",
    "Expr",
    "Field",
    "FieldWrite",
    "Fn",
    "FnCall",
    "ForEach",
    "ForRange",
    "Get",
    "Hash",
    "Header",
    "HeaderBytes",
    "HeaderField",
    "If",
    "InPort",
    "InPrefix",
    "InSet",
    "IndexDecl",
    "Instance",
    "KindDecl",
    "Length",
    "LetIn",
    "ListIndex",
    "Local",
    "Lookup",
    "Make",
    "MapDecl",
    "MapPut",
    "MapRemove",
    "Match",
    "MethodCall",
    "MinMax",
    "Node",
    "Now",
    "PacketFrom",
    "PacketHandler",
    "PacketLen",
    "PacketValue",
    "ParseCase",
    "ParseNode",
    "Parser",
    "PayloadBytes",
    "PayloadLen",
    "Peek",
    "Place",
    "PoolDecl",
    "Pop",
    "Program",
    "Push",
    "Ratio",
    "RestBytes",
    "ScalarDecl",
    "Schedule",
    "Send",
    "SetLocal",
    "StateDecl",
    "StateLen",
    "StateRead",
    "StateWrite",
    "Statement",
    "Timeout",
    "Timer",
    "Traffic",
    "Truncate",
    "Unary",
    "Valid",
    "ValueDecl",
]


@dataclass(frozen=True, slots=True)
class ConfigDecl:
    """`default` None for a scalar means it must be given. `options`: those of its kind of table."""

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


DEFAULT_POLICY: Final = "fifo"  # of an NF that declares no schedule


@dataclass(frozen=True, slots=True)
class Schedule:
    """`args`: the policy's run-time values; `options`: its constants in ns, bytes, packets; `serve` may be a config."""

    policy: str
    cls: Expr
    args: tuple[Expr, ...]
    options: Mapping[str, int | str]
    span: Span

    @property
    def plain(self) -> bool:
        """Is it what an NF has that declares none? Then every packet leaves at once, and classes mean nothing."""
        return self.policy == DEFAULT_POLICY and not self.options


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


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A checked NF; compares by identity."""

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
