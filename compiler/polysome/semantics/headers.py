"""Headers and parsers: declarations to the unrolled parse graph (LANGUAGE.md section 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold, zero
from polysome.semantics import hints
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.scope import NfScope, duplicate
from polysome.syntax import ast
from polysome.syntax.diagnostics import one_of
from polysome.syntax.spans import Span

CHECKSUM_PARTS = ("pseudo", "header", "rest")


class HeaderBuilder:
    """Turns `header` declarations into layouts."""

    def __init__(self, shared: Shared, scope: NfScope) -> None:
        self.shared = shared
        self.report = shared.report
        self.x = Expressions(shared, scope, frozenset())  # only the header's own fields
        self._length_slots: dict[int, bool] = {}

    def build(self, decl: ast.HeaderDecl) -> ir.Header:
        """The layout; marks and rules are typed against the header's own fields."""
        fields: list[ir.Field] = []
        offset = 0
        for f in decl.fields:
            field = self._field(f, offset, decl)
            if any(g.name == field.name for g in fields):
                duplicate(self.report, f.name, next(g.span for g in fields if g.name == field.name))
            if fields and fields[-1].rest:
                self._after_rest(f)
            fields.append(field)
            offset += field.width
        if offset % 8:
            self.report.add(
                "E0405",
                f"header `{decl.name.text}` has {offset} bits, no whole number of bytes",
                decl.name.span,
                why="Headers follow each other in whole bytes.",
                mend=f"Add a field of {8 - offset % 8} bits, for example `reserved: bit<{8 - offset % 8}>;`.",
            )
        header = ir.Header(decl.name.text, tuple(fields), (offset + 7) // 8, None, None, None, (), decl.name.span)
        return _with_zero_sums(self._rules(decl, self._marks(decl, header)))

    def _field(self, f: ast.HeaderField, offset: int, decl: ast.HeaderDecl) -> ir.Field:
        if isinstance(f.type, ast.TypeName) and f.type.name == "rest":
            return ir.Field(f.name.text, t.BYTE_STRING, offset, 0, f.name.span, rest=True)
        type = self.x.types.resolve(f.type)
        width = t.width(type)
        if width is None or not isinstance(type, (t.Bits, t.Address, t.Bool, t.Enum, t.Quantity)):
            if type != t.WRONG:
                self.report.add(
                    "E0406",
                    f"{type} cannot be a header field",
                    f.type.span,
                    why="A field has a fixed number of bits; `rest` takes what the header's size leaves.",
                    mend="Use `bit<N>`, an address, a quantity of 64 bits, or `rest` for the last field.",
                )
            return ir.Field(f.name.text, t.WRONG, offset, 8, f.name.span)
        return ir.Field(f.name.text, type, offset, width, f.name.span)

    def _after_rest(self, f: ast.HeaderField) -> None:
        self.report.add(
            "E0407",
            "nothing can follow a `rest` field",
            f.name.span,
            why="`rest` reaches to the end of the header.",
            mend="Make it the last field.",
        )

    def _marks(self, decl: ast.HeaderDecl, header: ir.Header) -> ir.Header:
        fields = []
        self.x.own = header
        for f, field in zip(decl.fields, header.fields, strict=True):
            for mark in f.marks:
                match mark:
                    case ast.LengthMark(_, value):
                        field = replace(field, length=self._length(value, field))
                    case ast.NextMark(_, enum):
                        field = replace(field, next=self._next(enum, field))
                    case ast.ChecksumMark():
                        field = replace(field, checksum=self._checksum(mark, field))
            if f.default is not None:
                field = replace(field, default=self.x.constant(f.default, field.type))
            fields.append(field)
        return replace(header, fields=tuple(fields))

    def _length(self, value: ast.Expr, field: ir.Field) -> ir.Expr:
        """An expression over `header` and `rest`, byte counts of any width."""
        wide = t.Bits(64)
        lengths = Expressions(self.shared, self.x.scope, frozenset())
        lengths.own = ir.Header("", (), 0, None, None, None, (), value.span)
        for name, rest in (("header", False), ("rest", True)):
            slot = lengths.bind(ast.Ident(value.span, name), wide)
            self._length_slots[slot] = rest
        found = lengths.expr(value, wide)
        return _with_lengths(found, self._length_slots)

    def _next(self, enum: ast.Ident, field: ir.Field) -> t.Enum | None:
        if enum.text not in self.x.scope.names.types:
            self.report.add(
                "E0204",
                f"there is no type `{enum.text}`",
                enum.span,
                why="`next E` names an enum whose members carry the names of header types.",
                mend=one_of(enum.text, self.x.scope.names.types),
            )
            return None
        type = self.x.types.named(enum.text)
        if isinstance(type, t.Enum) and type.width == field.width:
            return type
        self.report.add(
            "E0408",
            f"`{enum.text}` is no enum of {field.width} bits",
            enum.span,
            why="The next field holds one of the enum's numbers.",
            mend=f"Declare it as `enum {enum.text}: {t.Bits(field.width)} {{ … }}`.",
        )
        return None

    def _checksum(self, mark: ast.ChecksumMark, field: ir.Field) -> ir.Checksum:
        if field.width != 16 or field.offset % 16:
            self.report.add(
                "E0409",
                f"`{field.name}` cannot hold a checksum",
                field.span,
                why="The sum is one of 16-bit words, and the checksum is one of them.",
                mend="Make it a `u16` at an even number of bytes.",
            )
        for part in mark.parts:
            if part.text not in CHECKSUM_PARTS:
                self.report.add(
                    "E0409",
                    f"a checksum covers `pseudo`, `header` and `rest`, not `{part.text}`",
                    part.span,
                    why="These are the parts of a packet that protocols sum up.",
                    mend=one_of(part.text, CHECKSUM_PARTS),
                )
        return ir.Checksum(tuple(p.text for p in mark.parts), mark.zero_is_none, mark.zero_is_none)

    def _rules(self, decl: ast.HeaderDecl, header: ir.Header) -> ir.Header:
        self.x.own = header
        seen: dict[str, Span] = {}
        for rule in decl.rules:
            first = rule.values[0]
            if rule.kind in seen:
                duplicate(self.report, ast.Ident(rule.span, rule.kind), seen[rule.kind])
            elif rule.kind != "pseudo" and len(rule.values) > 1:
                self._one_value(rule)
            seen[rule.kind] = rule.span
            match rule.kind:
                case "size":
                    header = replace(header, size=self._bytes(first))
                case "end":
                    header = replace(header, end=self._bytes(first))
                case "valid":
                    header = replace(header, valid=self.x.expr(first, t.BOOL))
                case _:
                    header = replace(header, pseudo=self._pseudo(rule, header))
        return header

    def _one_value(self, rule: ast.HeaderRule) -> None:
        self.report.add(
            "E0513",
            f"`{rule.kind}` takes one value",
            rule.span,
            why="Only `pseudo` lists several.",
            mend=f"Write `{rule.kind} …;` with one value."
            if rule.kind != "valid"
            else "Join the conditions with `and`.",
        )

    def _bytes(self, node: ast.Expr) -> ir.Expr:
        """An integer of any width, in bytes."""
        value = self.x.typed(node, None)
        return self.x.coerce(value, t.U64) if not isinstance(value.type, t.Bits) else value

    def _pseudo(self, rule: ast.HeaderRule, header: ir.Header) -> tuple[int, ...]:
        found = []
        for value in rule.values:
            index = header.index(value.text) if isinstance(value, ast.Name) else None
            if index is None:
                self.report.add(
                    "E0402",
                    f"{header.name} has no such field",
                    value.span,
                    why="`pseudo` lists fields of this header that upper checksums cover.",
                    mend=hints.mend_field(
                        value.text if isinstance(value, ast.Name) else "", [f.name for f in header.fields]
                    ),
                )
            else:
                found.append(index)
        return tuple(found)


def _with_lengths(e: ir.Expr, slots: dict[int, bool]) -> ir.Expr:
    """Replace the locals `header` and `rest` by HeaderBytes."""
    match e:
        case ir.Local():
            return ir.HeaderBytes(e.span, e.type, slots[e.slot])
        case ir.Binary():
            return replace(e, left=_with_lengths(e.left, slots), right=_with_lengths(e.right, slots))
        case ir.Cast():
            return replace(e, value=_with_lengths(e.value, slots))
        case _:
            return e


def own_fields(e: ir.Expr | None, instance: int) -> ir.Expr | None:
    """A header's expression for one instance: its own fields become that instance's."""
    return None if e is None else _with_fields(e, lambda own: replace(own, instance=instance))


def _with_fields(e: ir.Expr, become: Callable[[ir.HeaderField], ir.Expr]) -> ir.Expr:
    """A header's expression with something else for each of its own fields."""
    match e:
        case ir.HeaderField(instance=-1):
            return become(e)
        case ir.Binary() | ir.MinMax() | ir.Concat():
            return replace(e, left=_with_fields(e.left, become), right=_with_fields(e.right, become))
        case ir.Unary():
            return replace(e, operand=_with_fields(e.operand, become))
        case ir.Cast() | ir.BitSlice():
            return replace(e, value=_with_fields(e.value, become))
        case ir.Choose():
            condition, then, orelse = (_with_fields(p, become) for p in (e.condition, e.then, e.orelse))
            return replace(e, condition=condition, then=then, orelse=orelse)
        case _:
            return e


def _may_be_zeros(header: ir.Header) -> bool:
    """Is a header of nothing but zeros one, by its `valid` and `size`?"""

    def of_zeros(e: ir.Expr) -> Any:
        return fold(_with_fields(e, lambda own: ir.Const(own.span, own.type, zero(own.type))))

    try:
        valid = header.valid is None or of_zeros(header.valid)
        return bool(valid and (header.size is None or of_zeros(header.size) >= header.fixed))
    except (NotConstant, Undefined):
        return True


def _with_zero_sums(header: ir.Header) -> ir.Header:
    """Says of each checksum whether all that it covers may be zero: with a pseudo header, which has a length, never."""

    def said(field: ir.Field) -> ir.Field:
        if field.checksum is None:
            return field
        parts = field.checksum.parts
        zeros = "pseudo" not in parts and ("header" not in parts or _may_be_zeros(header))
        return replace(field, checksum=replace(field.checksum, never_zero=field.checksum.zero_is_none or zeros))

    return replace(header, fields=tuple(said(field) for field in header.fields))


def header(shared: Shared, scope: NfScope, name: ast.Ident) -> ir.Header | None:
    """The layout of the header type `name`, built at its first use; E0411 if there is none."""
    if name.text not in shared.headers:
        decl = scope.names.headers.get(name.text)
        if decl is None:
            shared.report.add(
                "E0411",
                f"there is no header type `{name.text}`",
                name.span,
                why="Header types are declared with `header`; types, headers and values are three name spaces.",
                mend=one_of(name.text, scope.names.headers),
            )
            return None
        shared.headers[name.text] = HeaderBuilder(shared, scope).build(decl)
    return shared.headers[name.text]
