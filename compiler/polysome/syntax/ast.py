"""The abstract syntax tree: what was written, with spans, before names and types mean anything.

Every node is frozen; sequences are tuples. `build.py` makes it from the parse tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.syntax.spans import Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Ident(Node):
    text: str


# ---------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """`name<args>(values)[size]`: a type as written."""

    name: str
    args: tuple[TypeExpr | int, ...] = ()
    values: tuple[Expr, ...] = ()
    size: Expr | None = None


@dataclass(frozen=True, slots=True)
class TypeRef(Node):
    table: Ident


@dataclass(frozen=True, slots=True)
class TypeTuple(Node):
    items: tuple[TypeExpr, ...]


@dataclass(frozen=True, slots=True)
class TypeFrom(Node):
    item: TypeExpr
    pool: Ident


TypeExpr = TypeName | TypeRef | TypeTuple | TypeFrom

# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Number(Node):
    """An integer literal; `unit` is "" or what its suffix says; `value` counts in the unit's smallest part."""

    value: int
    unit: str


@dataclass(frozen=True, slots=True)
class AddressLiteral(Node):
    """`kind` is ipv4, ipv6, mac, or prefix with `length` and `bits`."""

    kind: str
    value: int
    bits: int
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Text(Node):
    value: str


@dataclass(frozen=True, slots=True)
class BoolLiteral(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class Name(Node):
    text: str


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`base.name`; `base.0` has the index as its name."""

    base: Expr
    name: Ident


@dataclass(frozen=True, slots=True)
class Index(Node):
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Range(Node):
    """`base[low..high]`, high excluded."""

    base: Expr
    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class BitSlice(Node):
    """`base[high:low]`, both included."""

    base: Expr
    high: Expr
    low: Expr


@dataclass(frozen=True, slots=True)
class Argument(Node):
    """`name: value..end where condition : result`, most parts absent."""

    name: Ident | None
    value: Expr
    end: Expr | None = None
    where: Expr | None = None
    result: Expr | None = None


@dataclass(frozen=True, slots=True)
class Call(Node):
    callee: Expr
    args: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Cast(Node):
    value: Expr
    target: TypeExpr


@dataclass(frozen=True, slots=True)
class TupleExpr(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SetExpr(Node):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FieldInit(Node):
    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class StructExpr(Node):
    name: Ident
    fields: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class IfExpr(Node):
    """As an expression both blocks end in a value; as a statement `orelse` may be absent."""

    condition: Condition
    then: Block
    orelse: Block | None


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`exists x in trace where C`, `forall x in trace where C`."""

    kind: str
    name: Ident
    domain: Expr
    where: Expr


Expr = (
    Number
    | AddressLiteral
    | Text
    | BoolLiteral
    | Name
    | Member
    | Index
    | Range
    | BitSlice
    | Call
    | Unary
    | Binary
    | Cast
    | TupleExpr
    | SetExpr
    | StructExpr
    | IfExpr
    | Quantified
)

# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """`name`, `name: type`, or `(a, b)` which takes a tuple apart."""

    names: tuple[Ident, ...]
    type: TypeExpr | None
    tuple: bool


@dataclass(frozen=True, slots=True)
class Condition(Node):
    """`expr`, or `let binding = expr`."""

    binding: Binding | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Block(Node):
    statements: tuple[Statement, ...]
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Send(Node):
    target: Expr


@dataclass(frozen=True, slots=True)
class Bounce(Node):
    pass


@dataclass(frozen=True, slots=True)
class Drop(Node):
    reason: Text | None


Verdict = Send | Bounce | Drop


@dataclass(frozen=True, slots=True)
class ElseValue(Node):
    value: Expr


ElseArm = Block | Send | Bounce | Drop | ElseValue


@dataclass(frozen=True, slots=True)
class Let(Node):
    binding: Binding
    value: Expr
    orelse: ElseArm | None


@dataclass(frozen=True, slots=True)
class Assign(Node):
    target: Expr
    op: str
    value: Expr
    orelse: ElseArm | None


@dataclass(frozen=True, slots=True)
class ExprStatement(Node):
    value: Expr


@dataclass(frozen=True, slots=True)
class For(Node):
    """`for names in domain` or `for name in low..high`."""

    names: tuple[Ident, ...]
    domain: Expr
    high: Expr | None
    body: Block


@dataclass(frozen=True, slots=True)
class Require(Node):
    condition: Expr
    orelse: ElseArm | None


@dataclass(frozen=True, slots=True)
class HeaderLiteral(Node):
    name: Ident
    fields: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class Emit(Node):
    headers: tuple[HeaderLiteral, ...]
    payload: Expr | None
    target: Expr


@dataclass(frozen=True, slots=True)
class Push(Node):
    header: HeaderLiteral
    before: Instance


@dataclass(frozen=True, slots=True)
class Pop(Node):
    first: Instance
    last: Instance


@dataclass(frozen=True, slots=True)
class Truncate(Node):
    size: Expr


@dataclass(frozen=True, slots=True)
class Remove(Node):
    target: Expr


Statement = (
    Let | Assign | ExprStatement | IfExpr | For | Require | Send | Bounce | Drop | Emit | Push | Pop | Truncate | Remove
)

# ---------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Instance(Node):
    """A header instance's name: `icmp.quoted.ipv4`, `vlan[0]`, `vlan[..2]` (stack of two). `text` is canonical."""

    text: str
    stack: int | None = None


@dataclass(frozen=True, slots=True)
class TypedName(Node):
    name: Ident
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Use(Node):
    path: str
    alias: Ident | None
    args: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class StructDecl(Node):
    name: Ident
    fields: tuple[TypedName, ...]


@dataclass(frozen=True, slots=True)
class EnumDecl(Node):
    name: Ident
    width: TypeExpr | None
    members: tuple[tuple[Ident, Expr | None], ...]


@dataclass(frozen=True, slots=True)
class ConstDecl(Node):
    name: Ident
    type: TypeExpr
    value: Expr


@dataclass(frozen=True, slots=True)
class FnDecl(Node):
    name: Ident
    params: tuple[TypedName, ...]
    result: TypeExpr
    body: Block


@dataclass(frozen=True, slots=True)
class ActionDecl(Node):
    name: Ident
    params: tuple[TypedName, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class LengthMark(Node):
    value: Expr


@dataclass(frozen=True, slots=True)
class NextMark(Node):
    enum: Ident


@dataclass(frozen=True, slots=True)
class ChecksumMark(Node):
    parts: tuple[Ident, ...]
    zero_is_none: bool


@dataclass(frozen=True, slots=True)
class HeaderField(Node):
    name: Ident
    type: TypeExpr
    marks: tuple[LengthMark | NextMark | ChecksumMark, ...]
    default: Expr | None


@dataclass(frozen=True, slots=True)
class HeaderRule(Node):
    kind: str
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class HeaderDecl(Node):
    name: Ident
    fields: tuple[HeaderField, ...]
    rules: tuple[HeaderRule, ...]


@dataclass(frozen=True, slots=True)
class Extract(Node):
    header: Ident
    instance: Instance
    cut: int | None


@dataclass(frozen=True, slots=True)
class AnyPattern(Node):
    pass


@dataclass(frozen=True, slots=True)
class TuplePattern(Node):
    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class ValuePattern(Node):
    low: Expr
    high: Expr | None


Pattern = AnyPattern | TuplePattern | ValuePattern


@dataclass(frozen=True, slots=True)
class Case(Node):
    patterns: tuple[Pattern, ...]
    target: Ident


@dataclass(frozen=True, slots=True)
class Goto(Node):
    target: Ident


@dataclass(frozen=True, slots=True)
class Select(Node):
    key: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class ParserState(Node):
    name: Ident
    extract: Extract | None
    transition: Goto | Select | None


@dataclass(frozen=True, slots=True)
class Group(Node):
    name: str
    members: tuple[Instance, ...]


@dataclass(frozen=True, slots=True)
class PacketValue(Node):
    """`value v: T = e;`, or with `for_class` its meaning in a class clause."""

    name: Ident
    type: TypeExpr
    value: Expr
    for_class: bool


@dataclass(frozen=True, slots=True)
class ParserDecl(Node):
    name: Ident
    states: tuple[ParserState, ...]
    groups: tuple[Group, ...]
    values: tuple[PacketValue, ...]


@dataclass(frozen=True, slots=True)
class Hook(Node):
    header: Ident
    instance: Instance
    after: Instance
    when: Expr | None


@dataclass(frozen=True, slots=True)
class PortDecl(Node):
    names: tuple[Ident, ...]


@dataclass(frozen=True, slots=True)
class ParamDecl(Node):
    name: Ident
    type: TypeExpr
    default: Expr | None


@dataclass(frozen=True, slots=True)
class ClauseArg(Node):
    value: Expr
    end: Expr | None


@dataclass(frozen=True, slots=True)
class Clause(Node):
    """`name args max M per P;` or, with `words`, `when full words;` (name is then "when full")."""

    name: Ident
    args: tuple[ClauseArg, ...] = ()
    maximum: Expr | None = None
    per: Expr | None = None
    words: tuple[Ident, ...] = ()


@dataclass(frozen=True, slots=True)
class ConfigDecl(Node):
    name: Ident
    type: TypeExpr
    default: Expr | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class RelevantItem(Node):
    """`instance`, `instance.{fields}`, `instance.field` (then part of `instance`), `payload[low..high]`."""

    instance: Instance
    fields: tuple[Ident, ...]
    low: Expr | None
    high: Expr | None
    when: Expr | None


@dataclass(frozen=True, slots=True)
class Relevant(Node):
    items: tuple[RelevantItem, ...]
    orelse: ElseArm | None


@dataclass(frozen=True, slots=True)
class StateDecl(Node):
    name: Ident
    type: TypeExpr
    per_core: bool
    initial: Expr | None
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class IndexDecl(Node):
    name: Ident
    map: Ident
    key: Expr


@dataclass(frozen=True, slots=True)
class Schedule(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Traffic(Node):
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class OnPacket(Node):
    ports: tuple[Ident, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class OnEnd(Node):
    map: Ident
    names: tuple[Ident, Ident, Ident]
    body: Block


@dataclass(frozen=True, slots=True)
class Every(Node):
    period: Expr
    body: Block


@dataclass(frozen=True, slots=True)
class PropertyLet(Node):
    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class PropertyFor(Node):
    names: tuple[Ident, ...]
    domain: Expr
    where: Expr | None
    body: PropertyItem


@dataclass(frozen=True, slots=True)
class Expect(Node):
    value: Expr


PropertyItem = PropertyLet | PropertyFor | Expect


@dataclass(frozen=True, slots=True)
class Property(Node):
    name: Ident
    items: tuple[PropertyItem, ...]


NfItem = (
    PortDecl
    | ParamDecl
    | ConfigDecl
    | Relevant
    | StateDecl
    | IndexDecl
    | Schedule
    | Traffic
    | OnPacket
    | OnEnd
    | Every
    | Property
    | Use
    | StructDecl
    | EnumDecl
    | ConstDecl
    | FnDecl
    | ActionDecl
)


@dataclass(frozen=True, slots=True)
class NfDecl(Node):
    """An `nf`, or with `block` a `block`."""

    name: Ident
    items: tuple[NfItem, ...]
    block: bool
    doc: str


Item = Use | StructDecl | EnumDecl | ConstDecl | FnDecl | HeaderDecl | ParserDecl | Hook | NfDecl


@dataclass(frozen=True, slots=True)
class File(Node):
    items: tuple[Item, ...]
