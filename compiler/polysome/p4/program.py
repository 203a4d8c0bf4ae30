"""The typed program: what the checks and the translation to C++ read.

Every name is resolved to where it is stored (`Place`), every width is known, controls called by others are put in
their place, and the externs have become statements and expressions of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from polysome.p4.types import BOOL, Bits, Composite, Type
from polysome.syntax.spans import Span

# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Const:
    value: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Place:
    """Storage: `root` is a parameter of the architecture (`hdr`, `md`, `tm`) or a variable, `path` the fields in it."""

    root: str
    path: tuple[str, ...]
    type: Type
    span: Span

    @property
    def key(self) -> tuple[str, ...]:
        return (self.root, *self.path)

    def __str__(self) -> str:
        return ".".join((self.root.removeprefix("$"), *self.path))


@dataclass(frozen=True, slots=True)
class Valid:
    """`header.isValid()`."""

    header: Place
    span: Span
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Slice:
    value: Expr
    high: int
    low: int
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    op: str
    value: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    op: str
    left: Expr
    right: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Expr
    yes: Expr
    no: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Cast:
    value: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Execute:
    """A RegisterAction runs; the value is its `rv`. `action` is the full name."""

    action: str
    index: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class HashOf:
    algorithm: str
    items: tuple[Expr, ...]
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class MeterOf:
    meter: str
    index: Expr
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class ChecksumOf:
    """A deparser's `update`: the ones' complement sum of the items, complemented; 0 becomes all ones if `ones`."""

    items: tuple[Expr, ...]
    ones: bool
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class ChecksumGet:
    """A parser's residual so far: 0 minus what was subtracted, in ones' complement."""

    unit: str
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Lookahead:
    type: Type
    span: Span


@dataclass(frozen=True, slots=True)
class Hit:
    """`table.apply().hit`, or `.miss` if `miss`."""

    table: str
    miss: bool
    span: Span
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Random:
    type: Type
    span: Span


Expr = (
    Const | Place | Valid | Slice | Unary | Binary | Conditional | Cast | Execute | HashOf | MeterOf
    | ChecksumOf | ChecksumGet | Lookahead | Hit | Random
)  # fmt: skip

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Assign:
    """`target` may be a slice of a place."""

    target: Place | Slice
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class SetValid:
    header: Place
    valid: bool
    span: Span


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    yes: tuple[Stmt, ...]
    no: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Apply:
    """`table.apply();`"""

    table: str
    span: Span


@dataclass(frozen=True, slots=True)
class ApplySwitch:
    """`switch (table.apply().action_run)`: bodies by action; "" is `default`."""

    table: str
    cases: tuple[tuple[tuple[str, ...], tuple[Stmt, ...]], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Do:
    """An expression for its effect."""

    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Run:
    """An action called directly: what it does, its parameters replaced by variables set before."""

    action: str
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Declare:
    """A variable comes into being: 0 until it is written."""

    variable: Place
    span: Span


@dataclass(frozen=True, slots=True)
class Count:
    counter: str
    index: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Extract:
    header: Place
    span: Span


@dataclass(frozen=True, slots=True)
class ExtractIntrinsic:
    span: Span


@dataclass(frozen=True, slots=True)
class PortMetadata:
    """`target` takes the bits before the frame; None skips them."""

    target: Place | None
    span: Span


@dataclass(frozen=True, slots=True)
class Advance:
    bits: int
    span: Span


@dataclass(frozen=True, slots=True)
class ChecksumSubtract:
    unit: str
    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ChecksumDeposit:
    """`subtract_all_and_deposit`: headers extracted later are subtracted too; `target` is set when the parser ends."""

    unit: str
    target: Place
    span: Span


@dataclass(frozen=True, slots=True)
class EmitHeader:
    header: Place
    span: Span


@dataclass(frozen=True, slots=True)
class EmitMirror:
    session: Expr
    items: tuple[Expr, ...]
    span: Span


Stmt = (
    Assign | SetValid | If | Apply | ApplySwitch | Do | Run | Declare | Count | Extract | ExtractIntrinsic
    | PortMetadata | Advance | ChecksumSubtract | ChecksumDeposit | EmitHeader | EmitMirror
)  # fmt: skip

# ---------------------------------------------------------------- objects


@dataclass(frozen=True, slots=True)
class Action:
    """`params` are what the controller gives, in order; the body reads them as places of root `$NAME.param`."""

    name: str
    params: tuple[Place, ...]
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Key:
    value: Expr
    kind: str
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class ActionCall:
    """An action with the values of its parameters."""

    action: str
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """Of each key its value and mask (all ones if exact)."""

    keys: tuple[tuple[int, int], ...]
    call: ActionCall


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    keys: tuple[Key, ...]
    actions: tuple[str, ...]
    size: int
    default: ActionCall
    default_constant: bool
    entries: tuple[Entry, ...]
    fixed: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Register:
    """`fields` is empty for a plain value; else the names and types of a pair."""

    name: str
    element: Bits | Composite
    index: Bits
    size: int
    initial: tuple[int, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterAction:
    """The body reads and writes the places `$NAME.value` and `$NAME.rv`."""

    name: str
    register: str
    result: Type
    value: Place
    rv: Place | None
    body: tuple[Stmt, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Counter:
    name: str
    width: int
    size: int
    kind: str  # PACKETS, BYTES or PACKETS_AND_BYTES
    span: Span


@dataclass(frozen=True, slots=True)
class Meter:
    name: str
    size: int
    bytes: bool
    span: Span


# ---------------------------------------------------------------- blocks


@dataclass(frozen=True, slots=True)
class SelectCase:
    """Of each value, (value, mask); mask 0 matches all."""

    keys: tuple[tuple[int, int], ...]
    state: str
    span: Span


@dataclass(frozen=True, slots=True)
class State:
    """`cases` are tried in order; without `values` the only case is where it goes. None matching is a parser error."""

    name: str
    body: tuple[Stmt, ...]
    values: tuple[Expr, ...]
    cases: tuple[SelectCase, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Parser:
    name: str
    states: tuple[State, ...]
    units: tuple[str, ...]
    span: Span

    def state(self, name: str) -> State:
        return next(s for s in self.states if s.name == name)


@dataclass(frozen=True, slots=True)
class Gress:
    """Ingress or egress: its parser, control and deparser, and what is stored while a packet is in them."""

    name: str  # "ingress" or "egress"
    roots: tuple[
        tuple[str, Composite], ...
    ]  # what the parameters of the architecture are called here, with their types
    parser: Parser
    control: tuple[Stmt, ...]
    deparser: tuple[Stmt, ...]
    variables: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A whole pipe. The dictionaries are by full name, as a driver has it: `Ingress.bucket`."""

    name: str
    arch: str
    ingress: Gress
    egress: Gress
    actions: dict[str, Action] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    registers: dict[str, Register] = field(default_factory=dict)
    register_actions: dict[str, RegisterAction] = field(default_factory=dict)
    counters: dict[str, Counter] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)


# ---------------------------------------------------------------- walks


def subexpressions(e: Expr) -> Iterator[Expr]:
    """The expression itself and all in it, operands first: the order in which they are computed."""
    match e:
        case Slice() | Unary() | Cast():
            yield from subexpressions(e.value)
        case Binary():
            yield from subexpressions(e.left)
            yield from subexpressions(e.right)
        case Conditional():
            yield from subexpressions(e.condition)
            yield from subexpressions(e.yes)
            yield from subexpressions(e.no)
        case Execute() | MeterOf():
            yield from subexpressions(e.index)
        case HashOf() | ChecksumOf():
            for item in e.items:
                yield from subexpressions(item)
        case _:
            pass
    yield e


def reads(s: Stmt) -> tuple[Expr, ...]:
    """The expressions that a statement computes itself, not those of statements in it."""
    match s:
        case Assign():
            return (s.value,)
        case If():
            return (s.condition,)
        case Do():
            return (s.value,)
        case Count():
            return (s.index,)
        case ChecksumSubtract():
            return s.items
        case EmitMirror():
            return (s.session, *s.items)
        case _:
            return ()
