"""Walking code symbolically: a store, the conditions on the way there, and which of them can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from polysome import smt
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.store import Store
from polysome.prove.window import Term


class Feasible:
    """Conditions that hold together so far, as a walk goes down and comes back.

    What a model of them makes true can be; only the other side of a split is asked for.
    """

    def __init__(self, assumptions: Iterable[Term] = ()) -> None:
        self._solver = smt.Solver()
        self._solver.add(*assumptions)
        self._path: list[Term] = []
        self._pushed = 0  # how many of the path's conditions the solver has
        self._model: smt.Model | None = None

    def split(self, condition: Value) -> Iterator[tuple[bool, Value]]:
        """True, then False, each with what it says (1 if that was known) added, if that can be.

        What is not decided counts as possible.
        """
        if isinstance(condition, int):
            yield bool(condition), 1
            return
        for holds, said in ((True, condition), (False, smt.Not(condition))):
            possible, model = self._possible(said)
            if possible:
                before, self._model = self._model, model
                self._path.append(said)
                try:
                    yield holds, said
                finally:
                    self._model = before
                    self._path.pop()
                    self._taken_back()

    def _possible(self, said: Term) -> tuple[bool, smt.Model | None]:
        """Can it hold too? With a model of that, if one is known."""
        if self._model is not None and smt.is_true(self._model.eval(said, model_completion=True)):
            return True, self._model
        for condition in (*self._path[self._pushed :], said):
            self._solver.push()
            self._solver.add(condition)
            self._pushed += 1
        found = self._solver.check()
        model = self._solver.model() if found == smt.sat else None
        if found == smt.unsat:
            self._taken_back()
        return found != smt.unsat, model

    def _taken_back(self) -> None:
        while self._pushed > len(self._path):
            self._solver.pop()
            self._pushed -= 1


@dataclass
class World:
    """A point on a path: `conditions` led there."""

    store: Store
    conditions: tuple[Term, ...] = ()

    def given(self, condition: Value = 1) -> World:
        """A copy, on a way on which the condition holds."""
        more = () if isinstance(condition, int) else (condition,)
        return World(self.store.copy(), (*self.conditions, *more))
