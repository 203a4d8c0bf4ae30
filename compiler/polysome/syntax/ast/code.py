"""Types, expressions and statements as they were written."""

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
class Instance(Node):
    """A header instance's name: `icmp.quoted.ipv4`, `vlan[0]`, `vlan[..2]` (stack of two). `text` is canonical."""

    text: str
    stack: int | None = None


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
