"""Constant folding, and integer arithmetic as the language defines it."""

from __future__ import annotations

from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t


class NotConstant(Exception):
    """The expression depends on something only known at run time."""


class Undefined(Exception):
    """Division by zero, or an index past the end: ends a handler at run time, is an error in a constant."""


def arithmetic(op: str, a: int, b: int, width: int) -> int:
    """`a op b` modulo 2^width (LANGUAGE.md L3.4, L3.6); raises Undefined for a division by zero."""
    mask = (1 << width) - 1
    match op:
        case "+":
            return (a + b) & mask
        case "-":
            return (a - b) & mask
        case "*":
            return (a * b) & mask
        case "/" | "%":
            if b == 0:
                raise Undefined("division by zero")
            return a // b if op == "/" else a % b
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<":
            return (a << b) & mask if b < width else 0
        case ">>":
            return a >> b if b < width else 0
    raise NotConstant(op)


def compare(op: str, a: Any, b: Any) -> bool:
    """`a op b` for values of one type."""
    match op:
        case "==":
            return bool(a == b)
        case "!=":
            return bool(a != b)
        case "<":
            return bool(a < b)
        case "<=":
            return bool(a <= b)
        case ">":
            return bool(a > b)
        case _:
            return bool(a >= b)


def mapped(address: int) -> int:
    """The IPv4-mapped IPv6 address ::ffff:a.b.c.d."""
    return 0xFFFF_0000_0000 | address


def fold(e: ir.Expr) -> Any:
    """The value of a constant expression; raises NotConstant or Undefined."""
    match e:
        case ir.Const():
            return e.value
        case ir.Unary(op="not"):
            return not fold(e.operand)
        case ir.Unary():
            return ~fold(e.operand) & ((1 << _width(e.type)) - 1)
        case ir.Binary(op="and"):
            return fold(e.left) and fold(e.right)
        case ir.Binary(op="or"):
            return fold(e.left) or fold(e.right)
        case ir.Binary() if isinstance(e.type, t.Bool):
            return compare(e.op, fold(e.left), fold(e.right))
        case ir.Binary():
            return arithmetic(e.op, fold(e.left), fold(e.right), _width(e.type))
        case ir.Choose():
            return fold(e.then) if fold(e.condition) else fold(e.orelse)
        case ir.Cast():
            value = int(fold(e.value))
            return mapped(value) if e.mapped else value & ((1 << _width(e.type)) - 1)
        case ir.BitSlice():
            return (fold(e.value) >> e.low) & ((1 << (e.high - e.low + 1)) - 1)
        case ir.Concat():
            return fold(e.left) << _width(e.right.type) | fold(e.right)
        case ir.Make():
            values = tuple(fold(i) for i in e.items)
            return frozenset(values) if isinstance(e.type, t.SetOf) else values
        case ir.Get():
            return fold(e.value)[e.index]
        case ir.MinMax():
            a, b = fold(e.left), fold(e.right)
            return min(a, b) if e.op == "min" else max(a, b)
        case _:
            raise NotConstant(type(e).__name__)


def _width(type: t.Type) -> int:
    found = t.width(type)
    return 128 if found is None else found


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
