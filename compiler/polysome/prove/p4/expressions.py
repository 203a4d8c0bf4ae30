"""Expressions of the typed P4 program as values: what `p4/translate/expressions.py` makes of them in C++.

What is known is computed here, so that z3 sees only what depends on a packet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from polysome import smt
from polysome.p4 import program as pr
from polysome.p4.types import BOOL, Bits, Type, width
from polysome.prove.window import Term

# A number that is known (of a truth value 0 or 1), or a simplified term that is no constant: a bit vector as wide as
# the type, or a truth value.
Value = int | Term


class Reads(Protocol):
    """What expressions are about."""

    def value(self, place: pr.Place) -> Value: ...

    def is_valid(self, header: pr.Place) -> bool: ...

    def extern(self, e: pr.Expr) -> Value:
        """Of an object of the architecture; may have effects."""
        ...


def evaluate(e: pr.Expr, on: Reads, exact: bool = False) -> Value:
    """The value. `exact`: in a stateful ALU, which compares sums exactly, of values without a sign."""
    match e:
        case pr.Const():
            return int(e.value)
        case pr.Place():
            return on.value(e)
        case _:
            found = _Evaluation(on, exact).of(e)
            return found if isinstance(found, int) else simplified(found)


def simplified(term: Term) -> Value:
    """A term as a value."""
    term = smt.simplify(term)
    if smt.is_bv_value(term):
        return int(term.as_long())
    return 1 if smt.is_true(term) else 0 if smt.is_false(term) else term


def as_term(value: Value, kind: Type) -> Term:
    if not isinstance(value, int):
        return value
    return smt.BoolVal(bool(value)) if kind == BOOL else smt.BitVecVal(value, width(kind))


_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "&&": lambda a, b: a & b,
    "||": lambda a, b: a | b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
}
_TERMS: dict[str, Callable[[Term, Term], Term]] = {
    "&&": lambda a, b: smt.And(a, b),
    "||": lambda a, b: smt.Or(a, b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "++": lambda a, b: smt.Concat(a, b),
}


class _Evaluation:
    def __init__(self, on: Reads, exact: bool) -> None:
        self.on, self.exact = on, exact

    def term(self, e: pr.Expr) -> Term:
        return as_term(self.of(e), e.type)

    def of(self, e: pr.Expr) -> Value:
        match e:
            case pr.Const():
                return int(e.value)
            case pr.Place():
                return self.on.value(e)
            case pr.Valid():
                return int(self.on.is_valid(e.header))
            case pr.Slice():
                value = self.of(e.value)
                if isinstance(value, int):
                    return value >> e.low & _ones(e.type)
                return smt.Extract(e.high, e.low, value)
            case pr.Unary():
                return self._unary(e)
            case pr.Binary():
                return self._binary(e)
            case pr.Conditional():
                chosen = self.of(e.condition)
                if isinstance(chosen, int):
                    return self.of(e.yes if chosen else e.no)
                return smt.If(chosen, self.term(e.yes), self.term(e.no))
            case pr.Cast():
                return self._cast(e)
            case _:
                return self.on.extern(e)

    def _unary(self, e: pr.Unary) -> Value:
        value = self.of(e.value)
        if isinstance(value, int):
            return {"!": 1 - value, "~": ~value, "-": -value, "+": value}[e.op] & _ones(e.type)
        match e.op:
            case "!":
                return smt.Not(value)
            case "~":
                return ~value
            case "-":
                return -value
            case _:
                return value

    def _cast(self, e: pr.Cast) -> Value:
        value, source = self.term(e.value), e.value.type
        if e.type == BOOL:
            return value if source == BOOL else value != 0
        bits = width(e.type)
        if source == BOOL:
            return smt.If(value, smt.BitVecVal(1, bits), smt.BitVecVal(0, bits))
        more = bits - value.size()
        if more <= 0:
            return smt.Extract(bits - 1, 0, value)
        return smt.SignExt(more, value) if _signed(source) else smt.ZeroExt(more, value)

    def _binary(self, e: pr.Binary) -> Value:
        if e.op in ("<<", ">>"):
            return self._shift(e)
        if e.op in ("<", "<=", ">", ">="):
            return self._order(e)
        left, right = self.of(e.left), self.of(e.right)
        if isinstance(left, int) and isinstance(right, int) and e.op in _NUMBERS:
            return _NUMBERS[e.op](left, right) & _ones(e.type)
        left, right = as_term(left, e.left.type), as_term(right, e.right.type)
        if e.op in ("|+|", "|-|"):
            return _saturated(e.op[1], left, right, _signed(e.type))
        return _TERMS[e.op](left, right)

    def _shift(self, e: pr.Binary) -> Value:
        assert isinstance(e.right, pr.Const)
        left, by, bits = self.term(e.left), e.right.value, width(e.type)
        if e.op == ">>" and _signed(e.type):
            return left >> smt.BitVecVal(min(by, bits - 1), bits)
        if by >= bits:
            return 0
        return left << by if e.op == "<<" else smt.LShR(left, by)

    def _order(self, e: pr.Binary) -> Value:
        if self.exact and (_is_sum(e.left) or _is_sum(e.right)):
            left, right, signed = self._wide(e.left), self._wide(e.right), True
        else:
            left, right, signed = self.term(e.left), self.term(e.right), _signed(e.left.type)
        match e.op:
            case "<":
                return left < right if signed else smt.ULT(left, right)
            case "<=":
                return left <= right if signed else smt.ULE(left, right)
            case ">":
                return left > right if signed else smt.UGT(left, right)
            case _:
                return left >= right if signed else smt.UGE(left, right)

    def _wide(self, e: pr.Expr) -> Term:
        """In 64 bits, signed: nothing wraps."""
        if isinstance(e, pr.Binary) and _is_sum(e):
            left, right = self._wide(e.left), self._wide(e.right)
            return left + right if e.op == "+" else left - right
        value = self.term(e)
        if isinstance(e, pr.Const) and _signed(e.type):
            return smt.SignExt(64 - value.size(), value)
        return smt.ZeroExt(64 - value.size(), value)


def _ones(kind: Type) -> int:
    return (1 << width(kind)) - 1


def _is_sum(e: pr.Expr) -> bool:
    return isinstance(e, pr.Binary) and e.op in ("+", "-")


def _signed(kind: Type) -> bool:
    return isinstance(kind, Bits) and kind.signed


def _saturated(op: str, left: Term, right: Term, signed: bool) -> Term:
    bits = left.size()
    wide = smt.SignExt if signed else smt.ZeroExt
    exact = wide(2, left) + wide(2, right) if op == "+" else wide(2, left) - wide(2, right)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    above, below = exact > most, exact < least
    cut = smt.Extract(bits - 1, 0, exact)
    return smt.If(above, smt.BitVecVal(most, bits), smt.If(below, smt.BitVecVal(least, bits), cut))
