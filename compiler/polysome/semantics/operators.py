"""Operators and casts: which types go together (LANGUAGE.md L3.4 to L3.6, L3.13 to L3.15)."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.ir.operators import COMPARISONS
from polysome.semantics import hints, names
from polysome.semantics.context import Context
from polysome.semantics.typed import is_zero, plain, retype
from polysome.syntax import ast


def operate(x: Context, node: ast.Unary | ast.Binary, want: t.Type | None) -> ir.Expr:
    """A unary or binary operation."""
    if isinstance(node, ast.Unary):
        return _unary(x, node, want)
    if node.op in ("and", "or"):
        return _logic(x, node)
    if node.op == "in":
        return _membership(x, node)
    if node.op == "++":
        return _concat(x, node)
    want_side = None if node.op in COMPARISONS else want
    left, right = _sides(x, node, want_side)
    if t.WRONG in (left.type, right.type):
        return ir.Const(node.span, t.BOOL if node.op in COMPARISONS else t.WRONG, 0)
    if node.op in COMPARISONS:
        return _compare(x, node, left, right)
    if node.op in ("<<", ">>"):
        return _shift(x, node, left, right)
    return arithmetic(x, node, left, right)


def _sides(x: Context, node: ast.Binary, want: t.Type | None) -> tuple[ir.Expr, ir.Expr]:
    """Both sides; literals take the other side's type; rows and enums with a width become what they hold."""
    left = plain(x.typed(node.left, want))
    right = plain(x.typed(node.right, want))
    if node.op in ("<<", ">>"):
        return left, right
    zero_has_a_unit = node.op not in ("*", "/")  # `0 * 5s` is a number times a quantity
    left, right = unify(x, left, right, zero_has_a_unit)
    same = left.type if left.type == right.type else None
    if node.op not in ("==", "!=") and isinstance(same, t.Enum) and same.width is not None:
        return x.coerce(left, t.Bits(same.width)), x.coerce(right, t.Bits(same.width))
    return left, right


def unify(x: Context, left: ir.Expr, right: ir.Expr, zero_has_a_unit: bool = True) -> tuple[ir.Expr, ir.Expr]:
    """Give literals and enums with a width the other side's type; leaves honest differences alone."""
    for _ in range(2):
        literal = isinstance(left.type, t.Literal)
        zero = zero_has_a_unit and isinstance(right.type, t.Quantity) and is_zero(left)
        if literal and (isinstance(right.type, t.Bits) or zero):
            left = x.coerce(left, right.type)
        elif isinstance(right.type, t.Ratio) and isinstance(left.type, t.Literal) and is_zero(left):
            left = x.coerce(left, t.Quantity(right.type.rate))
        elif isinstance(left.type, t.Enum) and left.type.width and isinstance(right.type, (t.Bits, t.Literal)):
            left = x.coerce(left, t.Bits(left.type.width))
        elif isinstance(left, ir.Make) and isinstance(right.type, (t.Tuple, t.SetOf)) and left.type != right.type:
            left = _coerce_silently(x, left, right.type)
        left, right = right, left
    return left, right


def _coerce_silently(x: Context, e: ir.Make, want: t.Type) -> ir.Expr:
    if isinstance(want, t.Tuple) and isinstance(e.type, t.Tuple) and len(want.items) == len(e.items):
        return x.coerce(e, want)
    if isinstance(want, t.SetOf) and isinstance(e.type, t.SetOf):
        return x.coerce(e, want)
    return e


def _unary(x: Context, node: ast.Unary, want: t.Type | None) -> ir.Expr:
    if node.op == "not":
        return ir.Unary(node.span, t.BOOL, "not", x.expr(node.operand, t.BOOL))
    inner = plain(x.expr(node.operand, want))
    if isinstance(inner.type, (t.Bits, t.Address)):
        return ir.Unary(node.span, inner.type, "~", inner)
    if inner.type != t.WRONG:
        no_operator(x, node.span, "~", (inner.type,))
    return x.wrong(node.span)


def _logic(x: Context, node: ast.Binary) -> ir.Expr:
    """`and`, `or`: the right side sees the packets that get there."""
    left = x.expr(node.left, t.BOOL)
    before = x.mask
    yes, no = x.split(left, before)
    x.mask = yes if node.op == "and" else no
    right = x.expr(node.right, t.BOOL)
    x.mask = before
    return ir.Binary(node.span, t.BOOL, node.op, left, right)


def _membership(x: Context, node: ast.Binary) -> ir.Expr:
    contains = names.contains(x, node)
    if contains is not None:
        return contains
    right = plain(x.typed(node.right, None))
    if isinstance(right.type, t.Prefix):
        address = plain(x.value(node.left))
        if address.type not in (t.IPV4, t.IPV6, t.WRONG):
            no_operator(x, node.span, "in", (address.type, right.type))
        return ir.InPrefix(node.span, t.BOOL, address, right)
    if isinstance(right.type, t.SetOf):
        if isinstance(right, ir.Make):
            return _in_literal(x, node, right, right.type.item)
        return ir.InSet(node.span, t.BOOL, x.expr(node.left, right.type.item), right)
    if isinstance(right.type, t.ListOf):
        return ir.InSet(node.span, t.BOOL, x.expr(node.left, right.type.item), right)
    left = x.typed(node.left, None)
    if t.WRONG not in (left.type, right.type):
        no_operator(x, node.span, "in", (left.type, right.type))
    return ir.Const(node.span, t.BOOL, False)


def _in_literal(x: Context, node: ast.Binary, right: ir.Make, have: t.Type) -> ir.Expr:
    """`x in {…}`: an enum with a width, on either side, converts."""
    item = plain(x.value(node.left) if isinstance(have, t.Literal) else x.typed(node.left, have))
    wanted = item.type if isinstance(have, t.Literal) else plain(ir.Const(right.span, have, None)).type
    if isinstance(wanted, t.Enum) and wanted.width is not None and item.type != have:
        wanted = t.Bits(wanted.width)
    return ir.InSet(node.span, t.BOOL, x.coerce(item, wanted), x.coerce(right, t.SetOf(wanted)))


def _concat(x: Context, node: ast.Binary) -> ir.Expr:
    left, right = plain(x.value(node.left)), plain(x.value(node.right))
    widths = [t.width(e.type) for e in (left, right) if isinstance(e.type, (t.Bits, t.Address, t.Enum))]
    if t.WRONG in (left.type, right.type):
        return x.wrong(node.span)
    if len(widths) < 2 or None in widths:
        no_operator(x, node.span, "++", (left.type, right.type))
        return x.wrong(node.span)
    width = sum(w for w in widths if w is not None)
    if width > 128:
        x.report.add(
            "E0313",
            f"this would be {width} bits wide",
            node.span,
            why="No value is wider than 128 bits.",
            mend="Use a tuple or a struct.",
        )
        return x.wrong(node.span)
    return ir.Concat(node.span, t.Bits(width), left, right)


def _compare(x: Context, node: ast.Binary, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    a, b = left.type, right.type
    rates = {("bitrate"): t.BITRATE, ("packetrate"): t.PACKETRATE}
    if (isinstance(a, t.Ratio) and b == rates[a.rate]) or (isinstance(b, t.Ratio) and a == rates[b.rate]):
        return ir.Binary(node.span, t.BOOL, node.op, left, right)
    if isinstance(a, t.Literal) and isinstance(b, t.Literal):
        left, right = retype(left, t.Bits(128)), retype(right, t.Bits(128))
        return ir.Binary(node.span, t.BOOL, node.op, left, right)
    ordered = isinstance(a, (t.Bits, t.Quantity, t.Address))
    comparable = a == b and not isinstance(a, (t.ListOf, t.Table, t.Bucket, t.ByteString, t.Optional))
    if not comparable or (node.op not in ("==", "!=") and not ordered):
        no_operator(x, node.span, node.op, (a, b))
    return ir.Binary(node.span, t.BOOL, node.op, left, right)


def _shift(x: Context, node: ast.Binary, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    if isinstance(right.type, t.Literal):
        right = x.coerce(right, t.U64)
    if isinstance(left.type, (t.Bits, t.Address, t.Literal)) and isinstance(right.type, t.Bits):
        return ir.Binary(node.span, left.type, node.op, left, right)
    no_operator(x, node.span, node.op, (left.type, right.type))
    return x.wrong(node.span)


def arithmetic(x: Context, node: ast.Binary, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    a, b, op = left.type, right.type, node.op
    if isinstance(a, t.SetOf) and a == b and op in "+-":
        return ir.Binary(node.span, a, op, left, right)
    if isinstance(a, t.SetOf) and b == a.item and op in "+-":
        return ir.Binary(node.span, a, op, left, ir.Make(right.span, a, (right,)))
    if isinstance(a, t.Literal) and isinstance(b, t.Literal):
        return _literals(x, node, left, right)
    if a == b and isinstance(a, t.Bits):
        return ir.Binary(node.span, a, op, left, right)
    if a == b and isinstance(a, t.Address) and op in "&|^":
        return ir.Binary(node.span, a, op, left, right)
    result = _quantities(op, a, b)
    if isinstance(result, t.Ratio):
        amount = x.coerce(left, t.BYTES if result.rate == "bitrate" else t.U64)
        return ir.Ratio(node.span, result, amount, right)
    if result is not None:
        left = x.coerce(left, t.U64) if isinstance(a, (t.Bits, t.Literal)) and a != t.U64 else left
        right = x.coerce(right, t.U64) if isinstance(b, (t.Bits, t.Literal)) and b != t.U64 else right
        return ir.Binary(node.span, result, op, left, right)
    no_operator(x, node.span, op, (a, b))
    return x.wrong(node.span)


def _literals(x: Context, node: ast.Binary, left: ir.Expr, right: ir.Expr) -> ir.Expr:
    """Literals among themselves are exact integers (below 2^128) until they meet a width."""
    try:
        value = fold(ir.Binary(node.span, t.Bits(128), node.op, left, right))
    except (Undefined, NotConstant):
        return ir.Binary(node.span, t.LITERAL, node.op, left, right)
    return ir.Const(node.span, t.LITERAL, value)


def _quantities(op: str, a: t.Type, b: t.Type) -> t.Type | None:
    """The result type of an operation on quantities, or None if it makes no sense (L3.5)."""
    integer = (t.Bits, t.Literal)
    if isinstance(a, t.Quantity) and a == b:
        if op == "-" and a == t.TIME:
            return t.DURATION
        if op == "/":
            return None if a == t.TIME else t.U64
        if op == "%":
            return None if a == t.TIME else a
        return a if op in "+-" and a != t.TIME else None
    if a == t.TIME and b == t.DURATION and op in "+-":
        return t.TIME
    if op == "/" and a == t.BYTES and b == t.DURATION:
        return t.Ratio("bitrate")
    if op == "/" and isinstance(a, integer) and b == t.DURATION:
        return t.Ratio("packetrate")
    if isinstance(a, t.Quantity) and a != t.TIME and isinstance(b, integer) and op in "*/":
        return a
    if isinstance(b, t.Quantity) and b != t.TIME and isinstance(a, integer) and op == "*":
        return b
    return None


def cast(x: Context, node: ast.Cast) -> ir.Expr:
    """`e as T` (L3.14)."""
    target = x.types.resolve(node.target)
    value = plain(x.typed(node.value, None))
    if t.WRONG in (value.type, target):
        return ir.Const(node.span, target, 0)
    if isinstance(value.type, t.Literal):
        value = x.coerce(value, target if isinstance(target, t.Bits) else t.Bits(128))
        if value.type == t.WRONG:
            return ir.Const(node.span, target, 0)
    if value.type == target:
        return value
    scalar = (t.Bits, t.Address, t.Quantity)
    source_ok = isinstance(value.type, (*scalar, t.Bool)) or (isinstance(value.type, t.Enum) and value.type.width)
    to_integer = isinstance(target, t.Bits)
    from_integer = isinstance(value.type, t.Bits) and isinstance(target, scalar)
    addresses = {value.type, target} == {t.IPV4, t.IPV6}
    if source_ok and (to_integer or from_integer or addresses):
        return ir.Cast(node.span, target, value, value.type == t.IPV4 and target == t.IPV6)
    x.report.add(
        "E0314",
        f"{value.type} cannot become {target}",
        node.span,
        why="`as` goes between integers, between integers and addresses or quantities, and between ipv4 and ipv6.",
        mend=hints.mend_cast(value.type, target),
    )
    return x.wrong(node.span)


def no_operator(x: Context, span: object, op: str, types: tuple[t.Type, ...]) -> None:
    shown = " and ".join(str(i) for i in types)
    x.report.add(
        "E0315",
        f"`{op}` is not defined for {shown}",
        span,  # type: ignore[arg-type]
        why="Widths and units never change by themselves: same ± same, quantity × integer, same / same; nothing else."
        if op in "+-*/%"
        else "Both sides must have one type, and the operator a meaning for it.",
        mend=hints.mend_operation(op, types),
    )
