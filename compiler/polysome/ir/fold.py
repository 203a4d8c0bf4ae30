"""Values of expressions, where they can be found without running the program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.operators import bits, operated

Read = Callable[[ir.Expr], Any]  # the value of a leaf; raises NotConstant for what it does not know


class NotConstant(Exception):
    """The expression depends on something only known at run time."""


class Undefined(Exception):
    """Division by zero, or an index past the end: ends a handler at run time, is an error in a constant."""


def fold(e: ir.Expr) -> Any:
    """The value of a constant expression; raises NotConstant or Undefined."""
    return evaluate(e, _unknown, {})


def constant(e: ir.Expr, fns: Mapping[str, ir.Fn]) -> Any:
    """The value of a constant expression that may call functions, None if it is none."""
    try:
        return evaluate(e, _unknown, fns)
    except (NotConstant, Undefined):
        return None


def evaluate(e: ir.Expr, read: Read, fns: Mapping[str, ir.Fn], local: Mapping[int, Any] | None = None) -> Any:
    """The value of `e`, of whose leaves `read` knows some; NotConstant, or Undefined if it has none."""
    known = local or {}

    def value(e: ir.Expr) -> Any:
        return evaluate(e, read, fns, known)

    match e:
        case ir.Const():
            return e.value
        case ir.Local() if e.slot in known:
            return known[e.slot]
        case ir.Unary(op="not"):
            return not value(e.operand)
        case ir.Unary(operand=a) | ir.Cast(value=a) | ir.BitSlice(value=a):
            return operated(e, value(a))
        case ir.Binary(op="and"):
            return value(e.left) and value(e.right)
        case ir.Binary(op="or"):
            return value(e.left) or value(e.right)
        case ir.Binary(left=a, right=b) | ir.Concat(left=a, right=b) | ir.MinMax(left=a, right=b):
            operands = value(a), value(b)
            try:
                return operated(e, *operands)
            except ZeroDivisionError:
                raise Undefined("division by zero") from None
        case ir.Choose():
            return value(e.then) if value(e.condition) else value(e.orelse)
        case ir.LetIn():
            return evaluate(e.body, read, fns, {**known, e.slot: value(e.value)})
        case ir.Make():
            items = tuple(value(item) for item in e.items)
            return frozenset(items) if isinstance(e.type, t.SetOf) else items
        case ir.Get():
            return value(e.value)[e.index]
        case ir.InSet():
            return value(e.item) in value(e.set)
        case ir.InPrefix():
            return value(e.prefix).contains(value(e.address), bits(e.address.type))
        case ir.FnCall() if e.fn in fns:
            fn = fns[e.fn]
            return evaluate(fn.body, read, fns, dict(zip(fn.slots, map(value, e.args), strict=True)))
        case _:
            return read(e)


def _unknown(e: ir.Expr) -> Any:
    raise NotConstant(type(e).__name__)


def zero(type: t.Type) -> Any:
    """The initial value of a type: zeros, false, an empty path; a token bucket is full."""
    match type:
        case t.Bool():
            return False
        case t.Struct(_, fields):
            return tuple(zero(f) for _, f in fields)
        case t.Tuple(items):
            return tuple(zero(i) for i in items)
        case t.Bucket():
            return (2**128 - 1, 0)
        case t.SetOf():
            return frozenset()
        case t.ListOf():
            return ()
        case t.FromPool() | t.Ref():
            return None
        case _:
            return 0
