"""All mutants of a spec on several processes: a few traces for each first, then ever more for those that survive."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from enum import StrEnum

from polysome.resources import MEANING
from polysome.testing.counterexample import Counterexample, dumps, shrink
from polysome.testing.mutants.difference import NoDifference
from polysome.testing.mutants.mutant import Mutant, fingerprint, mutants
from polysome.testing.mutants.trial import Bench, Trial
from polysome.testing.orphans import end_with_parent
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

_ROUNDS = (6, 24, 80, 200, 500, 1500, 4000, 10000, 30000, 100000)  # traces by the end of each
_ENOUGH = 80  # traces, to say of a mutant that nothing notices it
_SHRINKING = 8.0  # seconds for each trace that a person is to read, at most;
_SHARE = 0.5  # of the time that the mutants had, for all of them


class Verdict(StrEnum):
    """What became of a mutant."""

    noticed = "noticed"
    unnoticed = "not noticed"
    unreached = "not reached"
    equal = "equal"
    proved = "proved equal"
    twin = "same as another"
    refused = "does not compile"
    undecided = "not decided"


@dataclass(frozen=True)
class Found:
    """A mutant's verdict: which property noticed it, after how many traces; the smallest trace that tells it apart."""

    mutant: Mutant
    verdict: Verdict
    traces: int = 0
    property: str | None = None
    counterexample: bytes | None = None


@dataclass(frozen=True)
class Mutants:
    """What became of all mutants of a spec, by number."""

    found: tuple[Found, ...]
    seconds: float

    def of(self, *verdicts: Verdict) -> list[Found]:
        return [f for f in self.found if f.verdict in verdicts]

    @property
    def score(self) -> float | None:
        """Which part of those that may differ was noticed; None if there are none."""
        noticed, missed = len(self.of(Verdict.noticed)), len(self.of(Verdict.unnoticed, Verdict.unreached))
        return noticed / (noticed + missed) if noticed + missed else None


Progress = Callable[[int, int, int], None]  # traces by the end of this round, mutants looked at in it, those left


def on_processes(spec: Spec, plan: Plan, workers: int, progress: Progress) -> Mutants:
    """Tries all mutants of `spec` for the plan's `seconds`, and as long as it takes to say what became of them.

    Raises SpecFails, and LookupError for a name in `only` that is no property.
    """
    pools = [ProcessPoolExecutor(1, initializer=_start, initargs=(spec, plan)) for _ in range(workers)]
    try:
        trials = _Trials(spec, plan, pools, progress)
        trials.rounds()
        return trials.verdicts()
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


@dataclass
class _Trials:
    """`pools`: of one process each, so that a mutant comes back to where it is compiled already."""

    spec: Spec
    plan: Plan
    pools: list[ProcessPoolExecutor]
    progress: Progress
    started: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        self.mutants = {m.number: m for m in mutants(self.spec)}
        self.trials = {n: Trial(n) for n in self.mutants}
        self.verdict: dict[int, Verdict] = {}
        self.deadline = self.started + self.plan.seconds

    @property
    def alive(self) -> list[Trial]:
        return [t for n, t in self.trials.items() if n not in self.verdict]

    def _pool(self, trial: Trial) -> ProcessPoolExecutor:
        return self.pools[trial.number % len(self.pools)]

    def rounds(self) -> None:
        """Until nobody is left, all had their traces, or time is over."""
        most = self.plan.traces
        for until in _ROUNDS:
            if not self.alive or time.time() > self.deadline:
                return
            self._round(until if most is None else min(until, most))
            if most is not None and until >= most:
                return

    def _round(self, until: int) -> None:
        waiting: list[Future[Trial]] = [self._pool(t).submit(_look, t, until, self.deadline) for t in self.alive]
        for done, future in enumerate(as_completed(waiting), 1):
            trial = future.result()
            self.trials[trial.number] = trial
            if trial.noticed is not None:
                self.verdict[trial.number] = Verdict.noticed
            self.progress(until, done, len(self.alive))
        self._settle()

    def _settle(self) -> None:
        """What need not be tried any further."""
        seen = {fingerprint(self.spec.program): Verdict.proved}
        for number, trial in self.trials.items():
            if trial.refused:
                self.verdict[number] = Verdict.refused
            elif trial.fingerprint in seen:
                self.verdict[number] = seen[trial.fingerprint]
            elif trial.fingerprint is not None:
                seen[trial.fingerprint] = Verdict.twin

    def verdicts(self) -> Mutants:
        """Of those that are left, too."""
        each = _SHARE * self.plan.seconds * len(self.pools) / max(1, len(self.alive))
        ends = {t.number: self._pool(t).submit(_end, t, min(_SHRINKING, each)) for t in self.alive}
        told: dict[int, bytes | None] = {}
        for number, future in ends.items():
            self.verdict[number], told[number] = future.result()
        found = tuple(self._found(trial, told.get(n)) for n, trial in self.trials.items())
        return Mutants(found, time.time() - self.started)

    def _found(self, trial: Trial, told: bytes | None) -> Found:
        number = trial.number
        return Found(self.mutants[number], self.verdict[number], trial.traces, trial.noticed, told)


# ---------------------------------------------------------------- in a worker

_bench: list[Bench] = []


def _start(spec: Spec, plan: Plan) -> None:
    end_with_parent()
    _bench[:] = [Bench(spec, plan)]


def _look(trial: Trial, until: int, deadline: float) -> Trial:
    return _bench[0].look(trial, until, lambda: time.time() > deadline)


def _end(trial: Trial, seconds: float) -> tuple[Verdict, bytes | None]:
    """A mutant that no property noticed; its trace is made small for so long."""
    bench = _bench[0]
    if trial.traces < min(_ENOUGH, bench.plan.traces or _ENOUGH):
        return Verdict.undecided, None
    if trial.told is None:
        return (Verdict.equal if bench.reached(bench.mutants[trial.number]) else Verdict.unreached), None
    return Verdict.unnoticed, _told(bench, trial, seconds)


def _told(bench: Bench, trial: Trial, seconds: float) -> bytes:
    """The smallest trace on which the ports show that the mutant is not the spec."""
    assert trial.told is not None
    mutant = bench.mutant(trial.number)
    small = trial.told.small
    mine, theirs = (bench.spec.small(), mutant.small()) if small else (bench.spec, mutant)
    promise = NoDifference(mine, f"mutant {trial.number}")
    trace = shrink(theirs, bench.engine, trial.told.trace, promise, seconds=seconds)
    return dumps(Counterexample(theirs, small, MEANING, "", trace))
