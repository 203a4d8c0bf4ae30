"""Headers, the unrolled parse graph and its classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polysome.ir import types as t
from polysome.ir.expressions import Expr
from polysome.syntax.spans import Span


@dataclass(frozen=True, slots=True)
class Checksum:
    """RFC 1071 over `parts` (of pseudo, header, rest). With `never_zero` a result of zero becomes ffff (L10.2)."""

    parts: tuple[str, ...]
    zero_is_none: bool
    never_zero: bool


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


@dataclass(frozen=True, slots=True, eq=False)
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
