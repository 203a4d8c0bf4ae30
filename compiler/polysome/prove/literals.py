"""Conditions as terms that must be true or false: which deny each other is seen at sight."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from polysome import smt
from polysome.prove.window import Term

Literal = tuple[int, bool]  # the number of a term, and whether it is true


def contradict(some: frozenset[Literal], others: frozenset[Literal]) -> bool:
    """Does one list of conditions say the opposite of what stands in the other?"""
    return not denied(some).isdisjoint(others)


@lru_cache(maxsize=4096)
def denied(some: frozenset[Literal]) -> frozenset[Literal]:
    return frozenset((term, not said) for term, said in some)


def literals(conditions: Iterable[Term]) -> frozenset[Literal]:
    """Lists of which one denies what the other says exclude each other. The terms live as long as the conditions."""
    return frozenset(map(literal, conditions))


_LITERALS: dict[int, tuple[Term, Literal]] = {}  # with the condition: its number is its own while it lives


def literal(condition: Term) -> Literal:
    number = condition.get_id()
    if number not in _LITERALS:
        term, said = condition, True
        while smt.is_not(term):
            term, said = term.arg(0), not said
        _LITERALS[number] = (condition, (term.get_id(), said))
    return _LITERALS[number][1]
