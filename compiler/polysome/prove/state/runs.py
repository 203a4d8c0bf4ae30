"""Runs: frames, one after the other from the beginning on, that break a claim. Looked for where induction fails."""

from __future__ import annotations

from collections.abc import Iterator
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
    _times: dict[int, _Time] = field(default_factory=dict)
    _broke: dict[str, str] = field(default_factory=dict)  # what `breaks` found, by the words

    def breaks(self, why: str) -> str:
        """In words, a run of at most `MOST` frames whose last one breaks a claim of these words; "": none is found."""
        found = self._broke.get(why)
        if found is None:
            found = self._broke[why] = self._breaks(why)
        return found

    def _breaks(self, why: str) -> str:
        solver = smt.Solver()
        solver.patience(PATIENCE)
        begins, said = self.machine.later
        solver.add(*self._at(0).is_in(begins), *said)
        for time in range(MOST):
            solver.add(self._at(time).made)
            solver.push()
            solver.add(self._broken(time, why))
            if solver.check() == smt.sat:
                return self._told(solver.model(), time)
            solver.pop()
        return ""

    def reaches(self, *does: str) -> bool | None:
        """Can frames that do this come one after the other? None: no answer in time."""
        solver = smt.Solver()
        solver.patience(MUST_BE)
        solver.add(*self._at(0).is_in(self.machine.first))
        for time, wanted in enumerate(does):
            at = self._at(time)
            of = (n for n, step in enumerate(self.machine.memory.steps) if step.does == wanted)
            solver.add(smt.Or(*(smt.And(at.choice == n, at.step(n).seq == SEQ, at.makes(n)) for n in of)))
        return {smt.sat: True, smt.unsat: False}.get(solver.check())

    def _at(self, time: int) -> _Time:
        if time not in self._times:
            self._times[time] = _Time(self.machine, time)
        return self._times[time]

    def _broken(self, time: int, why: str) -> Term:
        """Does the step that is made break a claim of these words?"""
        at, invariants = self._at(time), [claim for claim in self.machine.invariants if claim.why == why]
        behind = [smt.Not(self._at(time + 1).now(claim.term)) for claim in invariants]
        own = ([smt.Not(at.now(claim.term)) for claim in claims if claim.why == why] for claims in at.claims)
        return smt.Or(*(smt.And(at.choice == n, smt.Or(*terms, *behind)) for n, terms in enumerate(own)))

    def _told(self, model: smt.Model, last: int) -> str:
        found = []
        for time in range(last + 1):
            at = self._at(time)
            step = at.step(_number(model, at.choice))
            found.append(f"{step} (number {_number(model, step.seq):#x}, at {_number(model, step.now):#x})")
        about = f"packet {_number(model, SEQ):#x}, queue pair {_number(model, PAIR)}"
        first, (begins, _) = self.machine.first, self.machine.later
        for cell, term in begins.items():
            about += "" if term.eq(first[cell]) else f", {term.name}: {_number(model, term)}"
        return f"{about}: " + "; then ".join(found)


@dataclass(frozen=True)
class _Time:
    """Before the frame of this number, with symbols of its own."""

    machine: Machine
    time: int
    _steps: dict[int, Step] = field(default_factory=dict)

    @cached_property
    def choice(self) -> Term:
        """The number of the step that is made."""
        return smt.BitVec(f"step at {self.time}", 16)

    def step(self, n: int) -> Step:
        if n not in self._steps:
            self._steps[n] = _stamped(self.machine.memory.steps[n], self.time)
        return self._steps[n]

    def is_in(self, state: State) -> Iterator[Term]:
        yield from (_at(self.machine.state[cell], self.time) == term for cell, term in state.items())

    def now(self, term: Term) -> Term:
        """With the symbols of the state at this time."""
        return smt.substitute(term, *self._symbols)

    @cached_property
    def _symbols(self) -> list[tuple[Term, Term]]:
        return [(own, _at(own, self.time)) for own in self.machine.state.values()]

    @cached_property
    def made(self) -> Term:
        """Some step is made."""
        return smt.Or(*(smt.And(self.choice == n, self.makes(n)) for n in range(len(self.machine.memory.steps))))

    def makes(self, n: int) -> Term:
        said, then = self.machine.after(self.step(n))
        behind = {cell: self.now(term) for cell, term in then.items()}
        return smt.And(*map(self.now, said), *_Time(self.machine, self.time + 1).is_in(behind))

    @cached_property
    def claims(self) -> list[list[Claim]]:
        """Of each step."""
        return [list(self.machine.claims(self.step(n))) for n in range(len(self.machine.memory.steps))]


def _number(model: smt.Model, term: Term) -> int:
    return int(model.eval(term, model_completion=True).as_long())


def _at(symbol: Term, time: int) -> Term:
    name = f"{symbol.name} at {time}"
    return smt.Bool(name) if smt.is_bool(symbol) else smt.BitVec(name, symbol.size())


def _stamped(step: Step, time: int) -> Step:
    """The step with symbols of its own."""
    return renamed(step, [(symbol, _at(symbol, time)) for symbol in symbols_of(step)])
