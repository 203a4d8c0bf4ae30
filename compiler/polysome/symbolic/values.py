"""Values of the language as terms of z3, and back.

| type                          | term                                                            |
|-------------------------------|-----------------------------------------------------------------|
| integers, addresses, ports, … | bit vector of `ir.types.width` bits                             |
| bool                          | Bool                                                            |
| struct, tuple, entry          | `tuple` of terms                                                |
| ref TABLE, T from POOL        | Boxed                                                           |
| token_bucket                  | (128 bits of tokens, 64 bits of time)                           |
| prefix                        | kinds.values.Prefix whose `value` is a term                     |
| list, set, config tables      | Rows                                                            |
| all else                      | UNKNOWN: whatever is asked of it may be anything                |
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

from polysome import smt
from polysome.ir import types as t
from polysome.kinds.values import Prefix, Row, Taken

Term = Any  # z3 has no types of its own
TOKENS, TIME = 128, 64

TRUE: Final[Term] = smt.BoolVal(True)
FALSE: Final[Term] = smt.BoolVal(False)


class Unknown:
    """What a term cannot say."""


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class Boxed:
    """A row, or something taken from a pool, and what it holds."""

    value: Term


@dataclass(frozen=True)
class Rows:
    """Rows in order: (is it there, key or None, value). Of a list, those that are there come first."""

    rows: tuple[tuple[Term, Any, Any], ...]

    def count(self, width: int) -> Term:
        """How many are there, modulo 2^width."""
        total = bits(0, width)
        for there, _, _ in self.rows:
            total = total + smt.If(there, bits(1, width), bits(0, width))
        return smt.simplify(total)


def bits(value: int, width: int) -> Term:
    return smt.BitVecVal(value, width)


# ---------------------------------------------------------------- logic


def conj(*conditions: Term) -> Term:
    """And; constants vanish."""
    left = [c for c in conditions if not smt.is_true(c)]
    if any(smt.is_false(c) for c in left):
        return FALSE
    return TRUE if not left else left[0] if len(left) == 1 else smt.And(*left)


def disj(*conditions: Term) -> Term:
    """Or; constants vanish."""
    left = [c for c in conditions if not smt.is_false(c)]
    if any(smt.is_true(c) for c in left):
        return TRUE
    return FALSE if not left else left[0] if len(left) == 1 else smt.Or(*left)


def neg(condition: Term) -> Term:
    if smt.is_true(condition):
        return FALSE
    return TRUE if smt.is_false(condition) else smt.Not(condition)


def choose(condition: Term, a: Any, b: Any) -> Any:
    """`a` if the condition holds, else `b`."""
    if smt.is_true(condition) or a is b:
        return a
    if smt.is_false(condition):
        return b
    match a, b:
        case tuple(), tuple() if type(a) is tuple and type(b) is tuple:
            return tuple(choose(condition, x, y) for x, y in zip(a, b, strict=True))
        case Boxed(), Boxed():
            return Boxed(choose(condition, a.value, b.value))
        case (Boxed(), _) | (_, Boxed()):  # where a row and its value meet, the value is meant
            return choose(condition, getattr(a, "value", a), getattr(b, "value", b))
        case Rows(), Rows():
            first = [(conj(condition, there), key, value) for there, key, value in a.rows]
            return Rows((*first, *((conj(neg(condition), there), key, value) for there, key, value in b.rows)))
        case smt.Term(), smt.Term():
            return a if a.eq(b) else smt.If(condition, a, b)
        case _:
            return UNKNOWN


def equal(a: Any, b: Any) -> Term:
    """a == b, by value."""
    match a, b:
        case Boxed(), _:
            return equal(a.value, b)
        case _, Boxed():
            return equal(a, b.value)
        case tuple(), tuple() if type(a) is tuple and type(b) is tuple:
            return conj(*(equal(x, y) for x, y in zip(a, b, strict=True)))
        case smt.Term(), smt.Term():
            return smt.simplify(a == b) if _plain(a) and _plain(b) else a == b
        case _:
            return anything(t.BOOL)


def _plain(term: Term) -> bool:
    return bool(smt.is_bv_value(term) or smt.is_true(term) or smt.is_false(term))


# ---------------------------------------------------------------- making terms

_numbers = itertools.count()


def anything(type: t.Type, limits: list[Term] | None = None, ports: int = 0) -> Any:
    """A value of the type that may be anything; what restricts it is appended to `limits`."""
    limits = [] if limits is None else limits
    name = f"any{next(_numbers)}"
    match type:
        case t.Bool():
            return smt.Bool(name)
        case t.Struct(_, fields):
            return tuple(anything(f, limits, ports) for _, f in fields)
        case t.Tuple(items):
            return tuple(anything(i, limits, ports) for i in items)
        case t.Entry(key, value):
            return (anything(key, limits, ports), anything(value, limits, ports))
        case t.Ref(_, inner) | t.FromPool(_, inner):
            return Boxed(anything(inner, limits, ports))
        case t.Bucket():
            return (smt.BitVec(name, TOKENS), smt.BitVec(name + "t", TIME))
    width = t.width(type)
    if width is None:
        return UNKNOWN
    term = smt.BitVec(name, width)
    if isinstance(type, t.Port) and ports:
        limits.append(smt.ULT(term, ports))
    if isinstance(type, t.Enum) and type.width is None:
        limits.append(smt.Or(*(term == n for _, n in type.members)))
    return term


def lift(type: t.Type, value: Any) -> Any:
    """A value of the interpreter as a term."""
    match type:
        case t.Bool():
            return smt.BoolVal(bool(value))
        case t.Struct(_, fields):
            return tuple(lift(f, v) for (_, f), v in zip(fields, value, strict=True))
        case t.Tuple(items):
            return tuple(lift(i, v) for i, v in zip(items, value, strict=True))
        case t.Ref(_, inner) | t.FromPool(_, inner):
            if value is None:
                return UNKNOWN
            return Boxed(lift(inner, value.value if isinstance(value, (Row, Taken)) else value))
        case t.Bucket():
            return (bits(value[0], TOKENS), bits(value[1], TIME))
        case t.Prefix():
            return Prefix(value.bits, bits(value.value, value.bits), value.length)
        case t.SetOf(item):
            return Rows(tuple((TRUE, None, lift(item, v)) for v in sorted(value)))
        case t.ListOf(item):
            return Rows(tuple((TRUE, None, lift(item, v.value if isinstance(v, Row) else v)) for v in value))
    width = t.width(type)
    return UNKNOWN if width is None else bits(value, width)


# ---------------------------------------------------------------- back from a model


def number(model: Term, term: Term) -> int:
    """A bit vector's value; what the model leaves open is 0."""
    return int(model.eval(term, model_completion=True).as_long())


def holds(model: Term, condition: Term) -> bool:
    return bool(smt.is_true(model.eval(condition, model_completion=True)))
