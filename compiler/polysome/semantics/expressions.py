"""Expressions: AST to typed IR (LANGUAGE.md section 3).

`expr(node, want)` types a node; `want` is the type that a literal in it should take. What is wrong is reported once;
the result then has type WRONG, which agrees with everything.
"""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.values import Prefix
from polysome.semantics import calls, hints, names, operators
from polysome.semantics.context import Context
from polysome.semantics.scope import NfScope
from polysome.semantics.typed import ends_or_changes, plain, with_article
from polysome.syntax import ast
from polysome.syntax.diagnostics import one_of
from polysome.syntax.spans import Span


class Expressions(Context):
    """Types all expressions but those of properties."""

    def apart(self, scope: NfScope) -> Expressions:
        return Expressions(self.shared, scope, frozenset())

    def typed(self, node: ast.Expr, want: t.Type | None) -> ir.Expr:
        match node:
            case ast.Number():
                return self._number(node)
            case ast.AddressLiteral():
                return self._address(node)
            case ast.BoolLiteral():
                return ir.Const(node.span, t.BOOL, node.value)
            case ast.Text():
                return ir.Const(node.span, t.STR, node.value)
            case ast.Name() | ast.Member():
                return names.resolve(self, node)
            case ast.Index() | ast.Range():
                return names.index(self, node)
            case ast.BitSlice():
                return self._bit_slice(node)
            case ast.Call():
                return calls.call(self, node)
            case ast.Unary() | ast.Binary():
                return operators.operate(self, node, want)
            case ast.Cast():
                return operators.cast(self, node)
            case ast.TupleExpr():
                return self._tuple(node, want)
            case ast.SetExpr():
                return self._set(node, want)
            case ast.StructExpr():
                return self._struct(node)
            case ast.IfExpr():
                return self._choose(node, want)
            case _:
                self.report.add(
                    "E0306",
                    "quantifiers belong into properties",
                    node.span,
                    why="A handler sees one packet; a property sees the whole trace.",
                    mend="Move it into a `property`; here, test with `in`, or keep what you need to know in state.",
                )
                return self.wrong(node.span)

    def _number(self, node: ast.Number) -> ir.Expr:
        if node.unit == "":
            return ir.Const(node.span, t.LITERAL, node.value)
        return ir.Const(node.span, t.Quantity(node.unit), node.value)

    def _address(self, node: ast.AddressLiteral) -> ir.Expr:
        if node.kind == "prefix":
            return ir.Const(node.span, t.PREFIX, Prefix(node.bits, node.value, node.length or 0))
        return ir.Const(node.span, {"ipv4": t.IPV4, "ipv6": t.IPV6, "mac": t.MAC}[node.kind], node.value)

    def _bit_slice(self, node: ast.BitSlice) -> ir.Expr:
        base = plain(self.value(node.base))
        if base.type == t.WRONG:
            return base
        high, low = self.constant(node.high, t.LITERAL), self.constant(node.low, t.LITERAL)
        width = t.width(base.type) if isinstance(base.type, (t.Bits, t.Address)) else None
        if high is None or low is None:
            return self.wrong(node.span)
        if width is None or not width > high >= low:
            self.report.add(
                "E0307",
                f"this slice is not inside {with_article(base.type)}",
                node.span,
                why="`x[high:low]` takes bits high to low, both included; bit 0 is the least.",
                mend=hints.mend_bits(width, high, low),
            )
            return self.wrong(node.span)
        return ir.BitSlice(node.span, t.Bits(high - low + 1), base, high, low)

    def _tuple(self, node: ast.TupleExpr, want: t.Type | None) -> ir.Expr:
        wants: tuple[t.Type | None, ...] = (None,) * len(node.items)
        if isinstance(want, t.Tuple) and len(want.items) == len(node.items):
            wants = want.items
        items = tuple(self.expr(i, w) for i, w in zip(node.items, wants, strict=True))
        return ir.Make(node.span, t.Tuple(tuple(i.type for i in items)), items)

    def _set(self, node: ast.SetExpr, want: t.Type | None) -> ir.Expr:
        item_type = want.item if isinstance(want, t.SetOf) else None
        items = [self.expr(i, item_type) for i in node.items]
        if item_type is None:
            typed = [i.type for i in items if not isinstance(i.type, t.Literal)]
            item_type = typed[0] if typed else t.LITERAL
            items = [self.coerce(i, item_type) for i in items]
        return ir.Make(node.span, t.SetOf(item_type), tuple(items))

    def _struct(self, node: ast.StructExpr) -> ir.Expr:
        if node.name.text not in self.scope.names.types:
            self.report.add(
                "E0204",
                f"there is no type `{node.name.text}`",
                node.name.span,
                why="A struct literal begins with the name of a struct.",
                mend=one_of(node.name.text, self.scope.names.types),
            )
            return self.wrong(node.span)
        type = self.types.named(node.name.text)
        if not isinstance(type, t.Struct):
            return self.wrong(node.span)
        given = self.inits(node.fields, dict(type.fields), f"struct `{type.name}`", node.name.span)
        if len(given) < len(type.fields):
            return self.wrong(node.span)
        return self._in_order(node.span, type, given)

    def _in_order(self, span: Span, type: t.Struct, given: dict[str, ir.Expr]) -> ir.Expr:
        """The struct's value, its members evaluated in the order in which they are written (L3.8)."""
        names = [name for name, _ in type.fields]
        if list(given) == names or sum(map(ends_or_changes, given.values())) < 2:
            return ir.Make(span, type, tuple(given[name] for name in names))
        slots = {name: self.shared.slot() for name in given}
        items = tuple(ir.Local(given[name].span, given[name].type, slots[name], name) for name in names)
        found: ir.Expr = ir.Make(span, type, items)
        for name, value in reversed(given.items()):
            found = ir.LetIn(span, type, slots[name], value, found)
        return found

    def _choose(self, node: ast.IfExpr, want: t.Type | None) -> ir.Expr:
        if (
            node.condition.binding is not None
            or node.then.value is None
            or node.orelse is None
            or node.orelse.value is None
        ):
            self.report.add(
                "E0311",
                "this `if` has no value on every path",
                node.span,
                why="As a value, an `if` needs both branches, each ending in an expression; `if let` is a statement.",
                mend="Add the missing branch or value, or make it a statement.",
            )
            return self.wrong(node.span)
        condition = self.expr(node.condition.value, t.BOOL)
        before = self.mask
        yes, no = self.split(condition, before)
        self.mask = yes
        then = self.value_block(node.then, want)
        self.mask = no
        orelse = self.value_block(node.orelse, want if want is not None else self._branch_want(then))
        self.mask = before
        then, orelse = operators.unify(self, then, orelse)
        return ir.Choose(node.span, then.type, condition, then, orelse)

    def _branch_want(self, then: ir.Expr) -> t.Type | None:
        return None if isinstance(then.type, (t.Literal, t.Wrong)) else then.type

    def value_block(self, block: ast.Block, want: t.Type | None) -> ir.Expr:
        """A block inside an expression: `let`s, then the value."""
        self.locals.append({})
        lets: list[tuple[int, ir.Expr, Span]] = []
        for s in block.statements:
            if isinstance(s, ast.Let) and s.orelse is None and not s.binding.tuple:
                value = self.let_value(s)
                lets.append((self.bind(s.binding.names[0], value.type), value, s.span))
            else:
                self.report.add(
                    "E0312",
                    "only `let` can stand inside an expression",
                    s.span,
                    why="The order of effects inside an expression would be hard to see.",
                    mend="Make it a statement of its own before.",
                )
        assert block.value is not None
        body = self.expr(block.value, want)
        for slot, value, span in reversed(lets):
            body = ir.LetIn(span, body.type, slot, value, body)
        self.locals.pop()
        return body
