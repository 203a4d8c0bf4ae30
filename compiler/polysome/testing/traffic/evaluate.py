"""Values of expressions of parsers and header rules, given the values of the fields they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, arithmetic, compare, mapped
from polysome.kinds.values import Prefix

Read = Callable[[ir.Expr], Any]  # the value of a leaf; raises NotConstant for what it does not know


def evaluate(e: ir.Expr, read: Read, fns: Mapping[str, ir.Fn], local: Mapping[int, Any] | None = None) -> Any:
    """The value of `e`; NotConstant or Undefined (a division by zero) if it has none."""
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
        case ir.Unary():
            return ~value(e.operand) & ((1 << _width(e.type)) - 1)
        case ir.Binary(op="and"):
            return value(e.left) and value(e.right)
        case ir.Binary(op="or"):
            return value(e.left) or value(e.right)
        case ir.Binary() if isinstance(e.type, t.Bool):
            return compare(e.op, value(e.left), value(e.right))
        case ir.Binary():
            return arithmetic(e.op, value(e.left), value(e.right), _width(e.type))
        case ir.Choose():
            return value(e.then) if value(e.condition) else value(e.orelse)
        case ir.LetIn():
            return evaluate(e.body, read, fns, {**known, e.slot: value(e.value)})
        case ir.Cast():
            number = int(value(e.value))
            return mapped(number) if e.mapped else number & ((1 << _width(e.type)) - 1)
        case ir.BitSlice():
            return (value(e.value) >> e.low) & ((1 << (e.high - e.low + 1)) - 1)
        case ir.Concat():
            return value(e.left) << _width(e.right.type) | value(e.right)
        case ir.MinMax():
            return min(value(e.left), value(e.right)) if e.op == "min" else max(value(e.left), value(e.right))
        case ir.Make():
            items = tuple(value(item) for item in e.items)
            return frozenset(items) if isinstance(e.type, t.SetOf) else items
        case ir.Get():
            return value(e.value)[e.index]
        case ir.InSet():
            return value(e.item) in value(e.set)
        case ir.InPrefix():
            prefix: Prefix = value(e.prefix)
            return prefix.contains(value(e.address), _width(e.address.type))
        case ir.FnCall():
            fn = fns[e.fn]
            return evaluate(fn.body, read, fns, dict(zip(fn.slots, map(value, e.args), strict=True)))
        case _:
            return read(e)


def unknown(e: ir.Expr) -> Any:
    """A `Read` that knows nothing."""
    raise NotConstant(type(e).__name__)


def constant(e: ir.Expr, fns: Mapping[str, ir.Fn]) -> Any:
    """The value of a constant expression, None if it is none."""
    try:
        return evaluate(e, unknown, fns)
    except (NotConstant, Undefined):
        return None


def _width(type: t.Type) -> int:
    found = t.width(type)
    return 128 if found is None else found
