"""Declarations as they were written: files, types, headers, parsers, network functions, properties."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.syntax.ast.code import (
    Block,
    ElseArm,
    Expr,
    FieldInit,
    Ident,
    Instance,
    Node,
    TypeExpr,
)


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
    doc: str


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
