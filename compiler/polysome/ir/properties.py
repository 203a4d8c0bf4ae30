"""Properties, typed (LANGUAGE.md section 12): what an evaluator needs to judge a trace.

Ordinary expressions are nodes of `ir.program`. The nodes here say what only a property can say: a packet seen from
outside, state around a packet, quantifiers, sums over windows, whole runs.

A value may be undefined: a field of a header that is not there, a lookup that finds nothing, the time at which a
dropped packet left. An operator with an undefined operand is undefined, but a comparison and `in` with one are false,
and so is an undefined condition (L12.3). `Unary("not", …)` therefore always sees a bool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polysome.ir import types as t
from polysome.ir.program import Expr, Node
from polysome.resources import engines

# ---------------------------------------------------------------- types


@dataclass(frozen=True)
class Packet(t.Type):
    """A packet that a property speaks of: of the trace, or with `emitted` one that the NF made."""

    emitted: bool

    def __str__(self) -> str:
        return "emitted packet" if self.emitted else "packet"


@dataclass(frozen=True)
class Outputs(t.Type):
    """All that leaves in one run over the trace: `==`, `!=`, and `<=` (is part of)."""

    def __str__(self) -> str:
        return "run's outputs"


PACKET, EMITTED, OUTPUTS = Packet(False), Packet(True), Outputs()

# Attributes of packets beside those of `Seen`; `class` has the type of the schedule's class.
PACKET_ATTRIBUTES: Mapping[str, t.Type] = {
    "sent": t.BOOL,
    "dropped": t.BOOL,
    "held": t.BOOL,
    "reason": t.STR,
    "at": t.TIME,
    "left": t.TIME,
    "number": t.U64,
    "changes": t.U64,
    "place": t.U64,
    "out_port": t.PORT,
    "ports": t.PORT_SET,
}
EMITTED_ATTRIBUTES: Mapping[str, t.Type] = {"at": t.TIME, "port": t.PORT, "cause": PACKET}

# Options of `outputs(…)`: a type, or the names that may stand there (`faults` takes several).
RUN_OPTIONS: Mapping[str, t.Type | tuple[str, ...]] = {
    "engine": engines(),
    "batch": t.U64,
    "cores": t.U64,
    "split": t.BOOL,
    "scramble": t.BOOL,
    "steps": t.U64,
    "jump": t.DURATION,
    "ties": t.U64,
    "capacity": t.U64,
    "collisions": t.BOOL,
    "faults": ("loss", "duplication", "reordering"),
}

# ---------------------------------------------------------------- packets


@dataclass(frozen=True, slots=True)
class Attribute(Expr):
    """What became of `packet`: `name` is `class` or one of PACKET_ATTRIBUTES, EMITTED_ATTRIBUTES.

    Undefined: `reason` unless dropped; `left`, `place` unless sent; `out_port` unless sent to exactly one port;
    `cause` of what a timer or `on end` without a packet emitted.
    """

    packet: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Seen(Expr):
    """`value` (over the packet, and nothing else) of the packet as it arrived ("in") or, parsed anew, left ("out").

    A field of a header that is not valid is undefined; so is "out" of what was not sent.
    """

    packet: Expr
    side: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Frame(Expr):
    """In `Seen`: all bytes of the packet, from the first header to its end."""


@dataclass(frozen=True, slots=True)
class Undefined(Expr):
    """What no packet has: a field of a header that the parser never extracts."""


@dataclass(frozen=True, slots=True)
class Written(Expr):
    """A field of the first `header` that the `emit` of an emitted packet lists; without `field`: does it list one?"""

    packet: Expr
    header: str
    field: int | None


# ---------------------------------------------------------------- state and config


@dataclass(frozen=True, slots=True)
class Snapshot(Expr):
    """`read` in the state and config right before or after the handler of `packet` ran.

    `read` is a single access: StateRead, ArrayRead, StateLen, Contains, MethodCall of a method that does not write,
    BucketOp that only looks, Config, Lookup, Entries. Its operands are values of the property: the snapshot does not
    extend to them. Rows of config tables are plain values; `len` of a pool with `per` counts the partition of `packet`;
    a bucket of a key that is not there is a full one.
    """

    packet: Expr
    when: str
    read: Expr


@dataclass(frozen=True, slots=True)
class Lookup(Expr):
    """What a map, index or config table (`kind`) has for `key`, without refresh; undefined if nothing."""

    kind: str
    source: str
    key: Expr
    index: str | None


@dataclass(frozen=True, slots=True)
class Entries(Expr):
    """A list of all that a map, set or `top_k` holds, in the order of `for`: elements, or entries (key, value)."""

    state: str


# ---------------------------------------------------------------- quantifiers


@dataclass(frozen=True, slots=True)
class Domain(Node):
    """What a name runs over: `kind` trace, emitted, or values: then `source` is a list, set or config map.

    The elements of a map have type Entry and are pairs.
    """

    kind: str
    source: Expr | None


@dataclass(frozen=True, slots=True)
class Quantified(Expr):
    """`exists`, `forall` (`kind`)."""

    kind: str
    slot: int
    name: str
    domain: Domain
    condition: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Expr):
    """count, sum, min, max, distinct (`op`) of `value` over the elements for which `where` holds.

    Elements with an undefined `value` do not count. `sum` wraps like `+`; `min` and `max` of nothing are undefined;
    `distinct` is the number of different values.
    """

    op: str
    slot: int
    name: str
    domain: Domain
    where: Expr | None
    value: Expr | None


# ---------------------------------------------------------------- the trace as a whole


@dataclass(frozen=True, slots=True)
class Window(Node):
    """From `low` to before `high`."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Passed(Expr):
    """Bytes (as they leave) or packets (`unit`) of the trace with this flow or class (`by`) that left in the window."""

    unit: str
    by: str
    key: Expr
    window: Window


@dataclass(frozen=True, slots=True)
class NoGap(Expr):
    """No span of `longest` or more without an arrival of the flow lies inside the window.

    Without a window: between the first and the last arrival of the flow.
    """

    flow: Expr
    longest: Expr
    window: Window | None


@dataclass(frozen=True, slots=True)
class Ended(Expr):
    """An entry with this key of one of the maps (full names) ended, in the window if given; `why`: an END, None any.

    Without `key`, any entry of these maps, which are then all that there are.
    """

    maps: tuple[str, ...]
    key: Expr | None
    why: int | None
    window: Window | None


@dataclass(frozen=True, slots=True)
class Full(Expr):
    """A new entry found its map or set full (whatever `when full` says), or a `take` its pool empty, in the window."""

    window: Window | None


@dataclass(frozen=True, slots=True)
class ChecksumsValid(Expr):
    """Every checksum of the packet, parsed as it arrived ("in") or left ("out"), is right; false if not sent."""

    packet: Expr
    side: str


@dataclass(frozen=True, slots=True)
class Run(Expr):
    """What leaves when the trace is run again with these options (RUN_OPTIONS) and the test's own for the rest."""

    options: tuple[tuple[str, Any], ...]


# ---------------------------------------------------------------- properties


@dataclass(frozen=True, slots=True)
class ForAll(Node):
    """The body holds for all elements with `where`. Several slots: packets in their order, or the parts of an entry."""

    slots: tuple[int, ...]
    names: tuple[str, ...]
    domain: Domain
    where: Expr | None
    body: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Let(Node):
    """A name for the items behind it in the same body."""

    slot: int
    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Expect(Node):
    condition: Expr


Item = ForAll | Let | Expect


@dataclass(frozen=True, slots=True)
class Property(Node):
    """`name` is `alias.name` for one of a block; `doc`, what it promises: the text of the `///` lines above it."""

    name: str
    doc: str
    items: tuple[Item, ...]
