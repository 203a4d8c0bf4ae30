"""Statements of the typed program: straight-line code, `if`, bounded loops, state operations, verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.ir.expressions import Expr, Node


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
