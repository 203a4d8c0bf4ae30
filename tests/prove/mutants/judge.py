"""What becomes of a mutant: refused by the prover or the front end, the same as the program, or let through."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from types import FrameType

from tests.prove.mutants.changes import Mutant
from tests.prove.mutants.same import same

from polysome.p4.checks import check
from polysome.prove.case import Case
from polysome.prove.obligations import prove
from polysome.prove.result import Status
from polysome.syntax.diagnostics import Report, SpecError

SECONDS = 120


class Verdict(StrEnum):
    refuted = "refuted"  # with a packet, or because what the plan says is not so
    rejected = "rejected"  # by the front end: no program for the chip
    undecided = "undecided"  # no proof, and no packet
    failed = "failed"  # the prover came to what no program of ours does, and said so
    same = "the same"
    passed = "passed"


REFUSED = {Verdict.refuted, Verdict.rejected, Verdict.undecided, Verdict.failed}


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    why: str = ""


class _TooLong(Exception):
    pass


def judge(case: Case, mutant: Mutant, seconds: int = SECONDS) -> Judged:
    """What becomes of a mutant of the case's program."""
    try:
        with _at_most(2 * seconds):
            return _judged(case, mutant, seconds)
    except _TooLong:
        return Judged(Verdict.undecided, f"not within {2 * seconds} s")


def _judged(case: Case, mutant: Mutant, seconds: int) -> Judged:
    if (error := _rejection(case, mutant)) is not None:
        return Judged(Verdict.rejected, error)
    try:
        for result in prove(replace(case, p4=mutant.program), seconds):
            if result.status != Status.proved:
                verdict = Verdict.refuted if result.status == Status.refuted else Verdict.undecided
                return Judged(verdict, f"{result.obligation}: {result.why}")
        return Judged(Verdict.same if same(case.p4, mutant.program) else Verdict.passed)
    except (AssertionError, KeyError, ValueError, IndexError, StopIteration, RecursionError) as error:
        return Judged(Verdict.failed, repr(error)[:100])


def _rejection(case: Case, mutant: Mutant) -> str | None:
    report = Report()
    check(mutant.program, case.chip, report)
    try:
        report.stop_on_errors()
    except SpecError as error:
        return str(error.diagnostics[0].code)
    return None


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    """Ends what is inside when the time is over: a mutant may send a walk round in circles."""

    def over(signum: int, frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
