"""What is known of header fields: a range of values for each, and what conditions over them come to.

Fields are (instance, field) as in `ir.HeaderField`; a header's own expressions name its fields with instance -1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold

FieldKey = tuple[int, int]
Range = tuple[int, int]


@dataclass
class Known:
    """Ranges (both ends included) of fields; a field that is not listed may have any value.

    `reasons`: why a field's range is as it is, in the words that `cause` had when it was narrowed.
    """

    parser: ir.Parser
    ranges: dict[FieldKey, Range] = field(default_factory=dict)
    reasons: dict[FieldKey, tuple[str, ...]] = field(default_factory=dict)
    cause: str = ""

    def copy(self) -> Known:
        return Known(self.parser, dict(self.ranges), dict(self.reasons), self.cause)

    def of(self, key: FieldKey) -> Range:
        return self.ranges.get(key) or (0, (1 << self.width(key)) - 1)

    def width(self, key: FieldKey) -> int:
        return self.parser.instances[key[0]].header.fields[key[1]].width

    def narrow(self, key: FieldKey, low: int, high: int) -> bool:
        """Only values from low to high remain; False, and nothing changes, if none does."""
        at, to = self.of(key)
        low, high = max(low, at), min(high, to)
        if low > high:
            return False
        if (low, high) != (at, to) and self.cause not in self.reasons.get(key, ()):
            self.reasons[key] = (*self.reasons.get(key, ()), self.cause)
        self.ranges[key] = (low, high)
        return True

    # ------------------------------------------------------------ conditions

    def assume(self, e: ir.Expr, truth: bool, instance: int) -> bool:
        """Narrows ranges so that a condition is `truth` for all that remain; False if ranges cannot say so."""
        decided = self.decide(e, instance)
        if decided is not None:
            return decided == truth
        match e:
            case ir.Unary(op="not", operand=operand):
                return self.assume(operand, not truth, instance)
            case ir.Binary(op="and" | "or" as op, left=left, right=right):
                if truth == (op == "and"):
                    return self.assume(left, truth, instance) and self.assume(right, truth, instance)
                return self.assume(left, truth, instance) or self.assume(right, truth, instance)
            case ir.Binary(op="==" | "!=" | "<" | "<=" | ">" | ">=" as op, left=left, right=right):
                key, value, asked = _field(left, instance), self._value(right, instance), str(op)
                if key is None:
                    key, value, asked = _field(right, instance), self._value(left, instance), MIRRORED[op]
                if key is None or value is None or value[0] != value[1]:
                    return False
                return self._compared(key, asked if truth else OPPOSITE[asked], value[0])
        return False

    def _compared(self, key: FieldKey, op: str, value: int) -> bool:
        low, high = self.of(key)
        match op:
            case "==":
                return self.narrow(key, value, value)
            case "!=":
                if value == low:
                    return self.narrow(key, low + 1, high)
                return value == high and self.narrow(key, low, high - 1)
            case "<":
                return self.narrow(key, low, value - 1)
            case "<=":
                return self.narrow(key, low, value)
            case ">":
                return self.narrow(key, value + 1, high)
            case _:
                return self.narrow(key, value, high)

    def decide(self, e: ir.Expr, instance: int) -> bool | None:
        """What a condition is for all values that remain; None if that depends on which."""
        match e:
            case ir.Const(value=bool() as value):
                return value
            case ir.Unary(op="not", operand=operand):
                inner = self.decide(operand, instance)
                return None if inner is None else not inner
            case ir.Binary(op="and" | "or" as op, left=left, right=right):
                sides = {self.decide(left, instance), self.decide(right, instance)}
                decisive = op == "or"
                if decisive in sides:
                    return decisive
                return None if None in sides else not decisive
            case ir.Binary(op="==" | "!=" | "<" | "<=" | ">" | ">=" as op, left=left, right=right):
                a, b = self._value(left, instance), self._value(right, instance)
                return None if a is None or b is None else _ordered(op, a, b)
        return None

    def _value(self, e: ir.Expr, instance: int) -> Range | None:
        """The range of an integer expression; None if it is not followed."""
        try:
            value = fold(e)
            return (value, value) if isinstance(value, int) else None
        except (NotConstant, Undefined):
            pass
        key = _field(e, instance)
        if key is not None:
            return self.of(key)
        match e:
            case ir.Cast(value=inner, type=t.Bits(width)):
                found = self._value(inner, instance)
                return found if found and found[1] < 1 << width else None
            case ir.Binary(op="+" | "*" as op, left=left, right=right, type=t.Bits(width)):
                a, b = self._value(left, instance), self._value(right, instance)
                if a is None or b is None:
                    return None
                made = (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] * b[0], a[1] * b[1])
                return made if made[1] < 1 << width else None
        return None

    def value(self, e: ir.Expr, instance: int) -> int | None:
        """The one value that an expression has; None if it may have several."""
        found = self._value(e, instance)
        return found[0] if found and found[0] == found[1] else None


MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def _ordered(op: str, a: Range, b: Range) -> bool | None:
    if op in ("==", "!="):
        if a[1] < b[0] or b[1] < a[0]:
            return op == "!="
        return op == "==" if a[0] == a[1] == b[0] == b[1] else None
    if op in (">", ">="):
        return _ordered(MIRRORED[op], b, a)
    if op == "<":
        return True if a[1] < b[0] else False if a[0] >= b[1] else None
    return True if a[1] <= b[0] else False if a[0] > b[1] else None


def _field(e: ir.Expr, instance: int) -> FieldKey | None:
    """The field that an expression is, whatever it is cast to without loss."""
    match e:
        case ir.HeaderField(instance=i, field=f):
            return (instance if i < 0 else i, f)
        case ir.Cast(value=inner, type=t.Bits(width)) if isinstance(inner.type, t.Bits) and inner.type.width <= width:
            return _field(inner, instance)
    return None


def masks(low: int, high: int, width: int) -> Iterator[tuple[int, int]]:
    """The fewest (value, mask) pairs that match just the values from low to high (prefixes, in ascending order)."""
    full = (1 << width) - 1
    while low <= high:
        size = low & -low if low else 1 << width
        while size > high - low + 1:
            size >>= 1
        yield low, full & ~(size - 1)
        low += size


def enclosed(low: int, high: int, width: int) -> tuple[tuple[tuple[int, int], ...], tuple[int, int]]:
    """(value, mask) pairs for what is not from low to high of all that the last pair, the least prefix, matches."""
    rest = (1 << (low ^ high).bit_length()) - 1
    mask = (1 << width) - 1 & ~rest
    first = low & mask
    below, above = masks(first, low - 1, width), masks(high + 1, first + rest, width)
    return (*below, *above), (first, mask)
