"""Walking code symbolically: a store, the conditions on the way there, and which of them can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import z3

from polysome.prove.p4.expressions import Value
from polysome.prove.p4.store import Store
from polysome.prove.window import Term


class Feasible:
    """Conditions that hold together so far: pushed on the way down, popped on the way back."""

    def __init__(self, assumptions: Iterable[Term] = ()) -> None:
        self.solver = z3.Solver()
        self.solver.add(*assumptions)

    def having(self, condition: Term) -> Iterator[bool]:
        """Once, with the condition added, if it can hold there; what is not decided counts as possible."""
        self.solver.push()
        try:
            self.solver.add(condition)
            if self.solver.check() != z3.unsat:
                yield True
        finally:
            self.solver.pop()

    def split(self, condition: Value) -> Iterator[tuple[bool, Value]]:
        """True, then False, each with what it says (1 if that was known) added, if that can be."""
        if isinstance(condition, int):
            yield bool(condition), 1
            return
        for _ in self.having(condition):
            yield True, condition
        opposite = z3.Not(condition)
        for _ in self.having(opposite):
            yield False, opposite


@dataclass
class World:
    """A point on a path: `conditions` led there."""

    store: Store
    conditions: tuple[Term, ...] = ()

    def given(self, condition: Value = 1) -> World:
        """A copy, on a way on which the condition holds."""
        more = () if isinstance(condition, int) else (condition,)
        return World(self.store.copy(), (*self.conditions, *more))
