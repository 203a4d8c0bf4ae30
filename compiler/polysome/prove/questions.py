"""A solver that asks z3 each question once: whether the same terms, added in the same order, can hold is remembered.

It is remembered for all proofs of a process: programs that differ little ask mostly the same. An answer follows from
the terms alone, and terms that are built alike are one term (`smt.Term.get_id`) as long as they are kept, as here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome import smt
from polysome.prove.window import Term

# What is known after some terms, and one more: a number of its own, with the term, so that its number remains its own.
_AFTER: dict[tuple[int, int], tuple[int, Term]] = {}
_POSSIBLE: dict[int, bool] = {}  # by such a number: can all of it hold together? What is not there is not known


@dataclass
class _Scope:
    """Terms that were added between two calls of `push`; `known`: the number of all terms up to the last of them."""

    known: int
    terms: list[Term] = field(default_factory=list)
    given: int = 0  # how many of them z3 has


class Questions:
    """As `smt.Solver`, of which z3 gets to know when it must answer.

    `patience`: milliseconds that one question may take, 0: as long as it takes. `logic`: of SMT-LIB, if all is of one.
    """

    def __init__(self, *terms: Term, patience: int = 0, logic: str = "") -> None:
        self._patience, self._logic = patience, logic
        self._solver: smt.Solver | None = None
        self._scopes = [_Scope(0)]
        self._pushed = 1  # scopes that z3 has
        self._answered = -1  # the number of all terms of z3's last question, while it has a model of them
        self.add(*terms)

    def add(self, *terms: Term) -> None:
        scope = self._scopes[-1]
        for term in terms:
            key = (scope.known, term.get_id())
            if key not in _AFTER:
                _AFTER[key] = (len(_AFTER) + 1, term)
            scope.known = _AFTER[key][0]
        scope.terms += terms

    def push(self) -> None:
        self._scopes.append(_Scope(self._scopes[-1].known))

    def pop(self) -> None:
        self._scopes.pop()
        if self._pushed > len(self._scopes):
            assert self._solver is not None
            self._solver.pop()
            self._pushed -= 1
            self._answered = -1

    @property
    def possible(self) -> bool | None:
        """Can all that was added hold together, if that is known?"""
        return _POSSIBLE.get(self._scopes[-1].known)

    def met(self) -> None:
        """Says that it can: there is a model."""
        _POSSIBLE[self._scopes[-1].known] = True

    def check(self) -> smt.Answer:
        if self.possible is not None:
            return smt.sat if self.possible else smt.unsat
        return self._asked()

    def model(self) -> smt.Model | None:
        """Of what was added. None: it cannot hold together, or time ran out."""
        if self.possible is False:
            return None
        solver = self._told()
        found = smt.sat if self._answered == self._scopes[-1].known else self._asked()
        return solver.model() if found == smt.sat else None

    def _asked(self) -> smt.Answer:
        found = self._told().check()
        known = self._scopes[-1].known
        self._answered = known if found == smt.sat else -1
        if found != smt.unknown:
            _POSSIBLE[known] = found == smt.sat
        return found

    def _told(self) -> smt.Solver:
        """z3's, with all that was added."""
        if self._solver is None:
            self._solver = smt.Solver(self._logic)
            if self._patience:
                self._solver.patience(self._patience)
        for n, scope in enumerate(self._scopes):
            if n == self._pushed:
                self._solver.push()
                self._pushed += 1
                self._answered = -1
            if scope.given < len(scope.terms):
                self._solver.add(*scope.terms[scope.given :])
                scope.given = len(scope.terms)
                self._answered = -1
        return self._solver
