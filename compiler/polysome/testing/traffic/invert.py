"""Values of fields for which a comparison just holds, and just does not, where an expression can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import constant
from polysome.ir.operators import COMPARISONS, MAPPED
from polysome.ir.walk import walk


def undone(e: ir.Expr, value: int, fns: Mapping[str, ir.Fn]) -> Iterator[tuple[ir.Expr, int]]:
    """Leaves of `e` with a value that may make `e` equal `value`; whether it does is for the caller to find out.

    Follows conversions, slices and operations with a constant; of two leaves each as if the other were zero.
    """
    match e:
        case ir.HeaderField() | ir.Peek():
            yield e, value
        case ir.Cast(value=inner):
            yield from undone(
                inner, value & 0xFFFF_FFFF if e.mapped and value == MAPPED | value & 0xFFFF_FFFF else value, fns
            )
        case ir.BitSlice(value=inner, low=low):
            yield from undone(inner, value << low, fns)
        case ir.Unary(operand=inner) if e.op != "not":
            yield from undone(inner, ~value & ((1 << (t.width(e.type) or 128)) - 1), fns)
        case ir.Concat(left=left, right=right):
            width = t.width(right.type) or 0
            yield from undone(left, value >> width, fns)
            yield from undone(right, value & ((1 << width) - 1), fns)
        case ir.Binary(left=left, right=right) if not isinstance(e.type, t.Bool):
            most = (1 << (t.width(e.type) or 128)) - 1
            for one, other, is_left in ((left, right, True), (right, left, False)):
                known = constant(other, fns)
                for before in _before(e.op, value, known if isinstance(known, int) else 0, is_left):
                    yield from undone(one, before & most, fns)


def _before(op: str, value: int, other: int, left: bool) -> Iterator[int]:
    """What one operand may have been if the other one is `other`."""
    match op:
        case "+":
            yield value - other
        case "-":
            yield value + other if left else other - value
        case "*" if other:
            yield value // other
            yield -(-value // other)
        case "/" if left:
            yield value * max(other, 1)
            yield value * max(other, 1) + max(other, 1) - 1
        case "%" if left:
            yield value
            yield value + other
        case "^":
            yield value ^ other
        case "<<" if left and other < 128:
            yield value >> other
        case ">>" if left and other < 128:
            yield value << other
        case _:
            yield value


def edges(condition: Any, fns: Mapping[str, ir.Fn]) -> Iterator[tuple[ir.Expr, int]]:
    """Leaves of the comparisons in a condition, with values at which they hold, and beside them."""
    for node in walk(condition):
        if isinstance(node, ir.Binary) and node.op in COMPARISONS:
            for e, other in ((node.left, node.right), (node.right, node.left)):
                value = constant(other, fns)
                if isinstance(value, int):
                    for near in (value, value + 1, value - 1):
                        if near >= 0:
                            yield from undone(e, near, fns)
        elif isinstance(node, ir.InSet):
            members = constant(node.set, fns)
            for member in sorted(members) if isinstance(members, frozenset) else ():
                yield from undone(node.item, member, fns)
