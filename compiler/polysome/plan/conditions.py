"""Conditions on a packet as a switch's parser can ask them: ranges of fields, and of bits that follow a header.

A *box* says for some keys between which values they are; a condition of the language is a set of boxes, or lies
between two such sets (`Boxes`). Whoever lets packets pass takes the inner one, whoever turns packets away the outer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.kinds.values import Prefix
from polysome.plan.values import MIRRORED, OPPOSITE, Range, masks

MOST_BOXES = 16  # of one condition; each is rows of a parser


@dataclass(frozen=True, order=True)
class Ahead:
    """`width` bits from bit `first` on behind a header, the most significant one first."""

    first: int
    width: int


Key = int | Ahead  # a field of the header, by its index, or what is behind it
Box = tuple[tuple[Key, Range], ...]  # each key once, ordered by `place`
ANY: Box = ()


@dataclass(frozen=True)
class Boxes:
    """`inner`: what is in one of these boxes meets the condition; `outer`: what meets it is in one of these."""

    inner: tuple[Box, ...]
    outer: tuple[Box, ...]

    @property
    def exact(self) -> bool:
        return self.inner == self.outer


NEVER, ALWAYS, UNKNOWN = Boxes((), ()), Boxes((ANY,), (ANY,)), Boxes((), (ANY,))


def place(key: Key) -> tuple[int, int, int]:
    """The order of keys: fields, then what is behind the header."""
    return (0, key, 0) if isinstance(key, int) else (1, key.first, key.width)


def both(a: Box, b: Box) -> Box | None:
    """The box that lies in both; None if it is empty."""
    ranges = dict(a)
    for key, (low, high) in b:
        at, to = ranges.get(key, (low, high))
        if max(low, at) > min(high, to):
            return None
        ranges[key] = (max(low, at), min(high, to))
    return box(ranges.items())


def box(ranges: Iterable[tuple[Key, Range]]) -> Box:
    return tuple(sorted(ranges, key=lambda entry: place(entry[0])))


def width(key: Key, header: ir.Header) -> int:
    return key.width if isinstance(key, Ahead) else header.fields[key].width


def bytes_of(key: Key, header: ir.Header) -> range:
    """The bytes, counted from the header's first, that a parser looks at."""
    if isinstance(key, Ahead):
        first, bits = 8 * header.fixed + key.first, key.width
    else:
        first, bits = header.fields[key].offset, header.fields[key].width
    return range(first // 8, (first + bits + 7) // 8)


def asked_together(keys: Iterable[Key], header: ir.Header) -> bool:
    """Do keys fit what one parser state compares: two bytes that follow each other, and two single ones?"""
    found = {b for key in keys for b in bytes_of(key, header)}
    return len(found) <= 3 or (len(found) == 4 and any(b + 1 in found for b in found))


def rows(of: Box, header: ir.Header) -> Iterator[dict[Key, tuple[int, int]]]:
    """The box as rows of (value, mask), one of which fits just what is in the box."""
    said = [[(key, pair) for pair in masks(*found, width(key, header))] for key, found in of]
    for row in product(*said):
        yield {key: pair for key, pair in row if pair[1]}


# ---------------------------------------------------------------- of the language


def boxes(e: ir.Expr | None, instance: int, parser: ir.Parser, truth: bool = True) -> Boxes:
    """A condition on header `instance`, just extracted, and on what follows it; None: always.

    Fields of other headers are not followed, nor is arithmetic.
    """
    header = parser.instances[instance].header
    match e:
        case None:
            return ALWAYS
        case ir.Unary(op="not", operand=operand):
            return boxes(operand, instance, parser, not truth)
        case ir.Binary(op="and" | "or" as op, left=left, right=right):
            sides = [boxes(side, instance, parser, truth) for side in (left, right)]
            return _and(*sides) if (op == "and") == truth else _or(*sides)
        case ir.Binary(op="==" | "!=" | "<" | "<=" | ">" | ">=" as op, left=left, right=right):
            key, value, asked = key_of(left, instance), _number(right), str(op)
            if key is None:
                key, value, asked = key_of(right, instance), _number(left), MIRRORED[op]
            if key is not None and value is not None:
                return _compared(key, asked if truth else OPPOSITE[asked], value, width(key, header))
        case ir.InPrefix(address=address, prefix=ir.Const(value=Prefix() as prefix)):
            key = key_of(address, instance)
            if key is not None and width(key, header) == prefix.bits:
                low = prefix.value
                return _between(key, low, low + (1 << (prefix.bits - prefix.length)) - 1, width(key, header), truth)
        case ir.InSet(item=item, set=found):
            members = _members(found)
            if members is not None:
                single = [ir.Binary(e.span, t.BOOL, "==", item, member) for member in members]
                return (
                    _or(*(boxes(one, instance, parser) for one in single))
                    if truth
                    else _and(*(boxes(one, instance, parser, False) for one in single))
                )
    try:
        return ALWAYS if e is not None and bool(fold(e)) == truth else NEVER
    except (NotConstant, Undefined):
        pass
    key = key_of(e, instance) if e is not None else None
    if key is not None and width(key, header) == 1:  # a field that is a bool
        return _between(key, 1, 1, 1, truth)
    return UNKNOWN


def key_of(e: ir.Expr, instance: int) -> Key | None:
    """The field, or the bits behind the header, that an expression is, whatever it is cast to without loss."""
    match e:
        case ir.HeaderField(instance=i, field=f):
            return f if i in (-1, instance) else None
        case ir.Peek(bits=bits):
            return Ahead(0, bits)
        case ir.BitSlice(value=ir.Peek(bits=bits), high=high, low=low):
            return Ahead(bits - 1 - high, high - low + 1)
        case ir.Cast(value=inner, type=t.Bits(wide)) if isinstance(inner.type, t.Bits) and inner.type.width <= wide:
            return key_of(inner, instance)
    return None


def _number(e: ir.Expr) -> int | None:
    try:
        value = fold(e)
    except (NotConstant, Undefined):
        return None
    return int(value) if isinstance(value, int) else None


def _members(e: ir.Expr) -> tuple[ir.Expr, ...] | None:
    match e:
        case ir.Make(items=items):
            return items
        case ir.Const(value=frozenset() as values, type=t.SetOf(item) | t.ListOf(item)):
            return tuple(ir.Const(e.span, item, value) for value in sorted(values))
    return None


def _compared(key: Key, op: str, value: int, bits: int) -> Boxes:
    most = (1 << bits) - 1
    match op:
        case "==" | "!=":
            return _between(key, value, value, bits, op == "==")
        case "<":
            return _between(key, 0, value - 1, bits)
        case "<=":
            return _between(key, 0, value, bits)
        case ">":
            return _between(key, value + 1, most, bits)
        case _:
            return _between(key, value, most, bits)


def _between(key: Key, low: int, high: int, bits: int, truth: bool = True) -> Boxes:
    most = (1 << bits) - 1
    inside = [(max(low, 0), min(high, most))]
    outside = [(0, min(low - 1, most)), (max(high + 1, 0), most)]
    found = tuple(((key, r),) if r != (0, most) else ANY for r in (inside if truth else outside) if r[0] <= r[1])
    return Boxes(found, found)


def _or(*sides: Boxes) -> Boxes:
    inner = tuple(dict.fromkeys(b for side in sides for b in side.inner))
    outer = tuple(dict.fromkeys(b for side in sides for b in side.outer))
    return _bounded(inner, outer)


def _and(*sides: Boxes) -> Boxes:
    inner: tuple[Box, ...] = (ANY,)
    outer: tuple[Box, ...] = (ANY,)
    for side in sides:
        inner = tuple(dict.fromkeys(m for a in inner for b in side.inner if (m := both(a, b)) is not None))
        outer = tuple(dict.fromkeys(m for a in outer for b in side.outer if (m := both(a, b)) is not None))
        if len(inner) > MOST_BOXES or len(outer) > MOST_BOXES:
            return UNKNOWN
    return _bounded(inner, outer)


def _bounded(inner: tuple[Box, ...], outer: tuple[Box, ...]) -> Boxes:
    return Boxes(inner[:MOST_BOXES], outer if len(outer) <= MOST_BOXES else (ANY,))
