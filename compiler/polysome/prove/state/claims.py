"""What is claimed of steps, and shown by induction over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.p4.expressions import as_term
from polysome.prove.result import NOTHING, Result, Status
from polysome.prove.state.memory import Memory, State, at, bounds
from polysome.prove.state.steps import Step
from polysome.prove.window import Term

STATE = "state"


class Missing(Exception):
    """No register does what one of them must do; in words."""


@dataclass(frozen=True)
class Claim:
    why: str  # what it means if it does not hold
    term: Term


def one(found: set[str], does: str) -> str:
    if len(found) != 1:
        raise Missing(f"{'no register' if not found else 'more than one register'} {does}")
    return found.pop()


class Machine(Protocol):
    """What is remembered, with what is known beside it, and what steps do to both.

    `state`: symbols; `first`: when nothing was sent yet; `later`: where a run may begin instead, if what is said there
    holds, as packets lead there of which nothing is told; `invariants`: of `state`; `after`: what holds if a step is
    made, and what is then; `claims`: of a step that is made.
    """

    @property
    def memory(self) -> Memory: ...
    @property
    def state(self) -> State: ...
    @property
    def first(self) -> State: ...
    @property
    def later(self) -> tuple[State, tuple[Term, ...]]: ...
    @property
    def invariants(self) -> tuple[Claim, ...]: ...
    def after(self, step: Step) -> tuple[list[Term], State]: ...
    def claims(self, step: Step) -> Iterator[Claim]: ...


def inductive(machine: Machine, run: Callable[[str], str]) -> Iterator[Result]:
    """One result for each step: its claims hold, and what holds always still holds behind it.

    `run`: looks for a run from the beginning on that breaks a claim of these words, and tells it; "" if it finds none.
    """
    known = [*(term for _, term in bounds(machine.memory)), *(claim.term for claim in machine.invariants)]
    for invariant in machine.invariants:
        term = at(invariant.term, machine.state, machine.first)
        yield _all("the beginning", (), (Claim(invariant.why, term),), run)
    for step in machine.memory.steps:
        said, then = machine.after(step)
        behind = (Claim(i.why, at(i.term, machine.state, then)) for i in machine.invariants)
        claims = (*machine.claims(step), *_exact(machine.memory, step), *behind)
        yield _all(str(step), (*known, *said), claims, run)


def _exact(memory: Memory, step: Step) -> Iterator[Claim]:
    """Whether sums are cut before they are compared is no matter (chips differ, or do not say)."""
    for access in step.accesses.values():
        same = [_equal(access.new[f], access.wrapped[f]) for f in access.new]
        term = smt.simplify(smt.And(*same, _equal(access.result, access.wrapped_result)))
        if not smt.is_true(term):
            why = f"{access.action} depends on how the chip compares sums"
            yield Claim(why, smt.Implies(memory.here(access), term))


def _equal(a: Term | int, b: Term | int) -> Term:
    bits = next((v.size() for v in (a, b) if isinstance(v, smt.Term)), 64)
    return as_term(a, Bits(bits)) == as_term(b, Bits(bits))


def _all(subject: str, known: tuple[Term, ...], claims: tuple[Claim, ...], run: Callable[[str], str]) -> Result:
    if NOTHING.prove(known, *(claim.term for claim in claims)):
        return Result(STATE, subject, Status.proved)
    for claim in claims:
        found = NOTHING.against(known, claim.term)
        if found is False:
            return Result(STATE, subject, Status.undecided, "no answer in time")
        if found is not None:
            told = run(claim.why)
            status = Status.refuted if told else Status.undecided
            return Result(STATE, subject, status, f"{claim.why}: {told or 'that it does not is not shown'}")
    return Result(STATE, subject, Status.undecided, "no answer in time")
