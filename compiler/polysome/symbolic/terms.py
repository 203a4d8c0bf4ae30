"""The language's operators on terms of z3 (LANGUAGE.md section 3)."""

from __future__ import annotations

from typing import Any

from polysome import smt
from polysome.ir import types as t
from polysome.kinds.values import Prefix
from polysome.symbolic.values import FALSE, TRUE, UNKNOWN, Rows, Term, anything, conj, disj, equal, neg

COMPARE = {"<": smt.ULT, "<=": smt.ULE, ">": smt.UGT, ">=": smt.UGE}


def width(type: t.Type) -> int:
    """Bits of a type's term; 64 for what has no width of its own."""
    found = t.width(type)
    return 64 if found is None else found


def resized(term: Term, width: int) -> Term:
    """Truncated, or extended with zeros."""
    have = term.size()
    if have == width:
        return term
    return smt.Extract(width - 1, 0, term) if have > width else smt.ZeroExt(width - have, term)


def arithmetic(op: str, a: Term, b: Term) -> Term:
    """`a op b` as LANGUAGE.md L3.4 and L3.6 have it; a division by zero is the caller's business."""
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return smt.UDiv(a, b)
        case "%":
            return smt.URem(a, b)
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
    size = max(a.size(), b.size())
    wide, by = resized(a, size), resized(b, size)
    return resized(wide << by if op == "<<" else smt.LShR(wide, by), a.size())


def in_prefix(address: Term, prefix: Any) -> Term:
    """Is the address inside?"""
    if not isinstance(prefix, Prefix):
        return anything(t.BOOL)
    if prefix.bits != address.size():
        return FALSE
    if prefix.length == 0:
        return TRUE
    low, value = prefix.bits - prefix.length, prefix.value
    assert isinstance(value, smt.Term)
    return smt.Extract(prefix.bits - 1, low, address) == smt.Extract(prefix.bits - 1, low, value)


def member(item: Any, rows: Rows) -> Term:
    return disj(*(conj(there, equal(item, value)) for there, _, value in rows.rows))


def sets(op: str, a: Any, b: Any) -> Any:
    """`a + b` or `a - b` of sets."""
    if not isinstance(a, Rows) or not isinstance(b, Rows):
        return UNKNOWN
    if op == "+":
        return Rows((*a.rows, *b.rows))
    return Rows(tuple((conj(there, neg(member(v, b))), key, v) for there, key, v in a.rows))
