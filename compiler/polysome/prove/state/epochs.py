"""READs that a sequence NAK gave up are not let out behind it, for nobody counts them any more (rule 6).

Each queue pair has the number of its READs' epoch twice: ingress counts it, and gives it to each READ; egress lets out
those of the epoch that the last frame that set the PSN began. That frame overtakes all that waits (rule 3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polysome.p4.types import Bits
from polysome.prove.answers import Answer, reads
from polysome.prove.p4.expressions import as_term
from polysome.prove.p4.pipe import Passed
from polysome.prove.p4.store import Access
from polysome.prove.result import NOTHING, Result, Status
from polysome.prove.state.claims import STATE, one
from polysome.prove.state.guard import Guard
from polysome.prove.state.steps import Does
from polysome.prove.traffic import Traffic
from polysome.prove.window import Term

BITS = 8  # of an epoch
DOES = "says which READs are given up"


@dataclass(frozen=True)
class Epochs:
    """The registers of ingress and of egress."""

    ingress: str
    egress: str

    def begins(self, access: Access) -> bool:
        """Is it the next epoch of ingress?"""
        return access.register == self.ingress and NOTHING.prove((), _new(access) == _old(access) + 1)

    def wrong(self, passed: Passed, given: list[Access]) -> str:
        """What is wrong with the epoch that a frame which sets a PSN gives egress, in words."""
        there = next((a for a in passed.store.accesses if a.register == self.ingress), None)
        begun = next((a for a in given if a.register == self.egress), None)
        if there is None or begun is None:
            return "READs that were given up are let out: egress does not hear of it"
        right = NOTHING.prove(passed.conditions, _new(begun) == _new(there))
        return "" if right else "egress takes another epoch than the queue pair's for its own"

    def results(self, seen: Traffic) -> Iterator[Result]:
        """One for each pass of edits that become a READ."""
        for answer in reads(seen).answers:
            why = "" if self._of_now(answer) else "a READ that was given up is let out"
            yield Result(STATE, str(answer.passed.path), Status.refuted if why else Status.proved, why)

    def _of_now(self, answer: Answer) -> bool:
        given = next((a for a in answer.passed.store.accesses if a.register == self.ingress), None)
        found = next((a for a in answer.read.store.accesses if a.register == self.egress), None)
        if given is None or found is None:
            return False
        return NOTHING.prove(answer.conditions, _old(found) == _old(given))


def epochs(seen: Traffic, guard: Guard) -> Epochs:
    """Both are asked, and not changed, on the way of a READ."""
    asked = (s for s in guard.memory.steps if s.does == Does.reads)
    ingress = {r for step in asked for r in step.accesses if not step.changes(r)}
    answers = reads(seen).answers
    egress = {a.register for answer in answers for a in answer.read.store.accesses if not a.changes}
    return Epochs(one(ingress, DOES), one(egress, DOES))


def _old(access: Access) -> Term:
    return as_term(access.old[""], Bits(BITS))


def _new(access: Access) -> Term:
    return as_term(access.new[""], Bits(BITS))
