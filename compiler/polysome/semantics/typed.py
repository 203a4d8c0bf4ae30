"""Questions about typed expressions that need nothing but the expression."""

from __future__ import annotations

from dataclasses import replace

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import children
from polysome.ir.value_places import behind
from polysome.syntax.spans import Span


def plain(e: ir.Expr) -> ir.Expr:
    """Read through a reference or an owned value."""
    while isinstance(e.type, (t.Ref, t.FromPool)):
        e = ir.Deref(e.span, behind(e.type), e)
    return e


def is_zero(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value == 0


def retype(e: ir.Expr, want: t.Type) -> ir.Expr:
    """An expression of literals only, with a width given to all of it."""
    match e:
        case ir.Const():
            return replace(e, type=want)
        case ir.Binary():
            right = e.right if e.op in ("<<", ">>") else retype(e.right, want)
            return replace(e, type=want, left=retype(e.left, want), right=right)
        case ir.Unary():
            return replace(e, type=want, operand=retype(e.operand, want))
        case ir.Choose():
            return replace(e, type=want, then=retype(e.then, want), orelse=retype(e.orelse, want))
        case ir.MinMax():
            return replace(e, type=want, left=retype(e.left, want), right=retype(e.right, want))
        case _:
            return replace(e, type=want)


def without_width(e: ir.Expr) -> Span | None:
    """The first number in a value, tuple or set that has met no width."""
    if isinstance(e, ir.Make) and isinstance(e.type, (t.Tuple, t.SetOf)):
        return next((found for item in e.items if (found := without_width(item)) is not None), None)
    open_type = isinstance(e.type, t.Literal) or (isinstance(e.type, t.Tuple) and t.LITERAL in e.type.items)
    return e.span if open_type else None


def ends_or_changes(e: ir.Expr) -> bool:
    """May evaluating `e` end the handler or change state, so that its turn matters?"""
    ends = isinstance(e, (ir.ListIndex, ir.ArrayRead, ir.MethodCall, ir.BucketOp, ir.FnCall, ir.Ratio))
    ends = ends or (isinstance(e, ir.Binary) and e.op in ("/", "%") and not isinstance(e.right, ir.Const))
    return ends or any(map(ends_or_changes, children(e)))


def with_article(type: t.Type) -> str:
    text = str(type)
    return (
        text if text in ("bytes", "text") or text.startswith("(") else ("an " if text[0] in "aeioAEIO" else "a ") + text
    )
