"""Walking code symbolically: a store, the conditions on the way there, and which of them can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from polysome import smt
from polysome.prove.literals import denied, literal, literals
from polysome.prove.p4.expressions import Value
from polysome.prove.p4.store import Store
from polysome.prove.questions import Questions
from polysome.prove.window import Term


class Feasible:
    """Conditions that hold together so far, as a walk goes down and comes back.

    What a model of them makes true can be; only the other side of a split is asked for. `besides`: hold too; what
    denies one of them at sight cannot be, and more is not made of them.
    """

    def __init__(self, assumptions: Iterable[Term] = (), besides: Iterable[Term] = ()) -> None:
        self._questions = Questions(*assumptions)
        self._denied = denied(literals(besides))
        self._model: smt.Model | None = None

    def split(self, condition: Value) -> Iterator[tuple[bool, Value]]:
        """True, then False, each with what it says (1 if that was known) added, if that can be.

        What is not decided counts as possible.
        """
        if isinstance(condition, int):
            yield bool(condition), 1
            return
        for holds, said in ((True, condition), (False, smt.Not(condition))):
            if self._denied and literal(said) in self._denied:
                continue
            before = self._model
            self._questions.push()
            self._questions.add(said)
            try:
                if self._possible(said):
                    yield holds, said
            finally:
                self._model = before
                self._questions.pop()

    def _possible(self, said: Term) -> bool:
        """Can it hold too, as it was added? The model becomes one of that, if one is known."""
        asked, model = self._questions, self._model
        self._model = None
        if asked.possible is not None:
            return asked.possible
        if model is not None and smt.is_true(model.eval(said, model_completion=True)):
            asked.met()
            self._model = model
            return True
        found = asked.check()
        self._model = asked.model() if found == smt.sat else None
        return found != smt.unsat


@dataclass
class World:
    """A point on a path: `conditions` led there."""

    store: Store
    conditions: tuple[Term, ...] = ()

    def given(self, condition: Value = 1, last: bool = False) -> World:
        """A copy, on a way on which the condition holds; the world itself on the `last` one."""
        more = () if isinstance(condition, int) else (condition,)
        return World(self.store if last else self.store.copy(), (*self.conditions, *more))
