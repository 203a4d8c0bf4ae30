"""Runs: frames, one after the other from the beginning on, that break a claim. Looked for where induction fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from polysome import smt
from polysome.prove.state.claims import Claim, Machine
from polysome.prove.state.memory import PAIR, SEQ, State
from polysome.prove.state.steps import Step, renamed, symbols_of
from polysome.prove.window import Term

MOST = 8  # frames
PATIENCE = 15_000  # ms for the last of them
MUST_BE = 60_000  # for a run without which nothing is proved


@dataclass(frozen=True)
class Runs:
    machine: Machine
    _known: dict[int, list[tuple[Term, Term]]] = field(default_factory=dict)  # the state's symbols at a time

    def breaks(self, why: str) -> str:
        """In words, a run of at most `MOST` frames whose last one breaks a claim of these words; "": none is found."""
        solver = smt.Solver()
        solver.patience(PATIENCE)
        begins, said = self.machine.later
        solver.add(*self._are(0, begins), *said)
        for time in range(MOST):
            broken = [smt.And(self._choice(time) == n, b) for n, b in enumerate(self._broken(time, why))]
            solver.add(self._made(time))
            solver.push()
            solver.add(smt.Or(*broken))
            if solver.check() == smt.sat:
                return self._told(solver.model(), time)
            solver.pop()
        return ""

    def reaches(self, *does: str) -> bool | None:
        """Can frames that do this come one after the other? None: no answer in time."""
        solver = smt.Solver()
        solver.patience(MUST_BE)
        solver.add(*self._are(0, self.machine.first))
        for time, wanted in enumerate(does):
            of = [(n, step) for n, step in self._numbered if step.does == wanted]
            made = [(self._choice(time) == n, self._mine(time, s), self._one(time, s)) for n, s in of]
            solver.add(smt.Or(*(smt.And(*one) for one in made)))
        return {smt.sat: True, smt.unsat: False}.get(solver.check())

    # ------------------------------------------------------------ one frame

    @cached_property
    def _numbered(self) -> list[tuple[int, Step]]:
        return list(enumerate(self.machine.memory.steps))

    def _choice(self, time: int) -> Term:
        return smt.BitVec(f"step at {time}", 16)

    def _state(self, time: int) -> State:
        return {cell: _at(term, time) for cell, term in self.machine.state.items()}

    def _are(self, time: int, state: State) -> Iterator[Term]:
        there = self._state(time)
        yield from (there[cell] == term for cell, term in state.items())

    def _made(self, time: int) -> Term:
        """Some step is made."""
        return smt.Or(*(smt.And(self._choice(time) == n, self._one(time, step)) for n, step in self._numbered))

    def _one(self, time: int, step: Step) -> Term:
        said, then = self.machine.after(_stamped(step, time))
        before = {cell: self._now(term, time) for cell, term in then.items()}
        return smt.And(*(self._now(term, time) for term in said), *self._are(time + 1, before))

    def _now(self, term: Term, time: int) -> Term:
        """With the symbols of the state at that time."""
        return smt.substitute(term, *self._symbols(time))

    def _symbols(self, time: int) -> list[tuple[Term, Term]]:
        found = self._known.get(time)
        if found is None:
            found = self._known[time] = [(own, _at(own, time)) for own in self.machine.state.values()]
        return found

    def _mine(self, time: int, step: Step) -> Term:
        return _stamped(step, time).seq == SEQ

    def _broken(self, time: int, why: str) -> Iterator[Term]:
        """For each step: does it break a claim of these words?"""
        invariants = [claim for claim in self.machine.invariants if claim.why == why]
        behind = [smt.Not(self._now(claim.term, time + 1)) for claim in invariants]
        for _, step in self._numbered:
            claims: Iterable[Claim] = self.machine.claims(_stamped(step, time))
            own = [smt.Not(self._now(claim.term, time)) for claim in claims if claim.why == why]
            yield smt.Or(*own, *behind)

    def _told(self, model: smt.Model, last: int) -> str:
        found = []
        for time in range(last + 1):
            step = _stamped(self.machine.memory.steps[_number(model, self._choice(time))], time)
            found.append(f"{step} (number {_number(model, step.seq):#x}, at {_number(model, step.now):#x})")
        about = f"packet {_number(model, SEQ):#x}, queue pair {_number(model, PAIR)}"
        first, (begins, _) = self.machine.first, self.machine.later
        for cell, term in begins.items():
            about += "" if term.eq(first[cell]) else f", {term.name}: {_number(model, term)}"
        return f"{about}: " + "; then ".join(found)


def _number(model: smt.Model, term: Term) -> int:
    return int(model.eval(term, model_completion=True).as_long())


def _at(symbol: Term, time: int) -> Term:
    name = f"{symbol.name} at {time}"
    return smt.Bool(name) if smt.is_bool(symbol) else smt.BitVec(name, symbol.size())


def _stamped(step: Step, time: int) -> Step:
    """The step with symbols of its own."""
    return renamed(step, [(symbol, _at(symbol, time)) for symbol in symbols_of(step)])
