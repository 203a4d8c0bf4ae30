"""The syntax tree of a P4 file: what is written, with its place, before names and widths are known."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.syntax.spans import Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span


@dataclass(frozen=True, slots=True)
class Ident(Node):
    text: str


@dataclass(frozen=True, slots=True)
class Annotation(Node):
    """`@name("text")`; everything but `@name` is ignored."""

    name: str
    body: str


# ---------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class BitType(Node):
    """`bit<N>` or `int<N>`; the width may be a constant's name."""

    width: Expr
    signed: bool


@dataclass(frozen=True, slots=True)
class BoolType(Node):
    pass


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    name: Ident
    args: tuple[Type, ...] = ()


Type = BitType | BoolType | NamedType


# ---------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class Number(Node):
    """`width` is None for `5`, 16 for `16w5`; `signed` for `16s5`."""

    value: int
    width: int | None
    signed: bool


@dataclass(frozen=True, slots=True)
class Boolean(Node):
    value: bool


@dataclass(frozen=True, slots=True)
class Name(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Member(Node):
    base: Expr
    name: Ident


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`base[high:low]`; `low` is None in `base[high]`, an index into a stack."""

    base: Expr
    high: Expr
    low: Expr | None


@dataclass(frozen=True, slots=True)
class Call(Node):
    callee: Expr
    type_args: tuple[Type, ...]
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    op: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Binary(Node):
    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Conditional(Node):
    condition: Expr
    yes: Expr
    no: Expr


@dataclass(frozen=True, slots=True)
class Cast(Node):
    type: Type
    value: Expr


@dataclass(frozen=True, slots=True)
class ListOf(Node):
    items: tuple[Expr, ...]


Expr = Number | Boolean | Name | Member | Slice | Call | Unary | Binary | Conditional | Cast | ListOf


@dataclass(frozen=True, slots=True)
class KeyValue(Node):
    """One value of a keyset: `default` or `_` (value None), a value, or `value &&& mask`."""

    value: Expr | None
    mask: Expr | None


# ---------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Block(Node):
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class If(Node):
    condition: Expr
    yes: Block
    no: Block | None


@dataclass(frozen=True, slots=True)
class SwitchCase(Node):
    """`label` is None for `default`; `body` is None where the case falls through to the next one."""

    label: Ident | None
    body: Block | None


@dataclass(frozen=True, slots=True)
class Switch(Node):
    value: Expr
    cases: tuple[SwitchCase, ...]


@dataclass(frozen=True, slots=True)
class Assign(Node):
    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Do(Node):
    """A call whose result is not used."""

    call: Expr


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A variable or, with `constant`, a constant."""

    type: Type
    name: Ident
    value: Expr | None
    constant: bool


Statement = Block | If | Switch | Assign | Do | Variable


# ---------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Param(Node):
    direction: str
    type: Type
    name: Ident


@dataclass(frozen=True, slots=True)
class Field(Node):
    type: Type
    name: Ident


@dataclass(frozen=True, slots=True)
class Method(Node):
    name: Ident
    params: tuple[Param, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Instance(Node):
    """`Type(args) name;` or, with abstract methods, `Type(args) name = { … };`."""

    type: Type
    args: tuple[Expr, ...]
    name: Ident
    methods: tuple[Method, ...]
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Action(Node):
    name: Ident
    params: tuple[Param, ...]
    body: Block
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Key(Node):
    value: Expr
    kind: Ident
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class Entry(Node):
    keys: tuple[KeyValue, ...]
    action: Expr


@dataclass(frozen=True, slots=True)
class Property(Node):
    name: Ident
    value: Expr
    constant: bool


@dataclass(frozen=True, slots=True)
class Table(Node):
    name: Ident
    keys: tuple[Key, ...]
    actions: tuple[Ident, ...]
    entries: tuple[Entry, ...]
    properties: tuple[Property, ...]
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True, slots=True)
class SelectCase(Node):
    keys: tuple[KeyValue, ...]
    state: Ident


@dataclass(frozen=True, slots=True)
class Transition(Node):
    """Directly to `state`, or by `select` over `values`."""

    state: Ident | None
    values: tuple[Expr, ...]
    cases: tuple[SelectCase, ...]


@dataclass(frozen=True, slots=True)
class State(Node):
    name: Ident
    statements: tuple[Statement, ...]
    transition: Transition | None


@dataclass(frozen=True, slots=True)
class Constant(Node):
    type: Type
    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Typedef(Node):
    type: Type
    name: Ident


@dataclass(frozen=True, slots=True)
class Composite(Node):
    """A header (`header` is true) or a struct."""

    header: bool
    name: Ident
    fields: tuple[Field, ...]


Local = Variable | Action | Table | Instance


@dataclass(frozen=True, slots=True)
class Parser(Node):
    name: Ident
    params: tuple[Param, ...]
    locals: tuple[Local, ...]
    states: tuple[State, ...]


@dataclass(frozen=True, slots=True)
class Control(Node):
    name: Ident
    params: tuple[Param, ...]
    locals: tuple[Local, ...]
    body: Block


@dataclass(frozen=True, slots=True)
class Include(Node):
    name: str


Item = Include | Constant | Typedef | Composite | Parser | Control | Instance


@dataclass(frozen=True, slots=True)
class File(Node):
    items: tuple[Item, ...]
