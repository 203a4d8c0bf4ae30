"""Operators, and what leaves of a run, in the simplest way (LANGUAGE.md L3.4 to L3.6, L12.13)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from polysome.ir import types as t

COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def mask(type: t.Type) -> int:
    return (1 << (t.width(type) or 128)) - 1


def arithmetic(op: str, a: Any, b: Any, type: t.Type) -> Any:
    if isinstance(type, t.SetOf):
        return a | b if op == "+" else a - b
    width = t.width(type) or 128
    match op:
        case "+" | "-" | "*":
            return (a + b if op == "+" else a - b if op == "-" else a * b) % (1 << width)
        case "/" | "%":
            return None if b == 0 else a // b if op == "/" else a % b
        case "<<":
            return (a << min(b, width)) % (1 << width)
        case ">>":
            return a >> min(b, width)
        case _:
            return a & b if op == "&" else a | b if op == "|" else a ^ b


def multiset(record: Any) -> Any:
    leaving = [(c.port, c.data) for f in record.fates for c in f.copies] + [(m.port, m.data) for m in record.emitted]
    return Counter(leaving)


def by_class(record: Any) -> Any:
    """What leaves of each class in order, and what each packet became."""
    found: dict[Any, list[Any]] = {}
    for _, number, cls in sorted((c.place, f.number, f.order_class) for f in record.fates for c in f.copies):
        found.setdefault(cls, []).append(number)
    each = [sorted((c.port, c.data) for c in f.copies) for f in record.fates]
    return found, each, [(m.port, m.data) for m in record.emitted]
