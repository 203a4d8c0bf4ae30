"""One mutant beside the spec that it was made from: does a property notice, and do they differ at all?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import count

from polysome.engines import ENGINES
from polysome.engines.trace import Trace
from polysome.resources import MEANING
from polysome.testing import traffic
from polysome.testing.builtin.rerun import Comparison
from polysome.testing.campaign import due, judged, properties, sized, stream
from polysome.testing.coverage.coverage import hits
from polysome.testing.coverage.points import points
from polysome.testing.execution import Execution, Property, execute
from polysome.testing.mutants.difference import alike, differs
from polysome.testing.mutants.mutant import Mutant, fingerprint, mutants, mutated
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

_SHARED = 24  # traces, which are made from the spec; then
_OWN = 4  # one of so many is made from the mutant, whose own numbers it has,
_FEW = 6  # so many of them at a time


class SpecFails(Exception):
    """The spec itself breaks a property, whose name this has: its mutants say nothing."""


@dataclass(frozen=True)
class Told:
    """A trace that tells a mutant from its spec: its number, and whether state was small."""

    number: int
    small: bool
    trace: Trace


@dataclass
class Trial:
    """What is known of a mutant after `traces` traces.

    `refused`: it does not compile. `noticed`: the property that fails, on trace number `traces` - 1; `told`: a trace
    that shows at the ports that it is not the spec.
    """

    number: int
    refused: bool = False
    fingerprint: bytes | None = None
    traces: int = 0
    noticed: str | None = None
    told: Told | None = None


@dataclass
class _Run:
    """What the spec does with a trace, with little room for state if `small`."""

    small: bool
    execution: Execution


@dataclass(frozen=True, eq=False)
class _Loaded:
    """A mutant that compiles. `stream`: small or not, and traces that are made from it."""

    spec: Spec
    small: Spec
    properties: tuple[Property, ...]
    fingerprint: bytes
    stream: Iterator[tuple[bool, Trace]]


@dataclass
class Bench:
    """The spec, its mutants, the traces that all of them get, and what the spec does with these."""

    spec: Spec
    plan: Plan
    found_by: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.engine = ENGINES[MEANING].around(None)
        self.mutants = {m.number: m for m in mutants(self.spec)}
        self.fingerprint = fingerprint(self.spec.program)
        self._small = self.spec.small()
        self._properties = {p.name: p for p in _chosen(self.spec, self.plan)}
        self._runs: list[_Run] = []
        self._stream = _sized(self.spec, self.plan)
        self._loaded = cache(self._load)

    def look(self, trial: Trial, until: int, over: Callable[[], bool]) -> Trial:
        """Goes on with a mutant up to trace `until`, or until a property notices, or time is `over`.

        Raises SpecFails where the spec breaks the same property on the same trace.
        """
        if over():
            return trial
        loaded = self._loaded(trial.number)
        if loaded is None:
            trial.refused = True
            return trial
        trial.fingerprint = loaded.fingerprint
        if trial.fingerprint == self.fingerprint:
            return trial
        while trial.traces < until and trial.noticed is None and not over():
            number = trial.traces
            shared = number < _SHARED or number % _OWN
            run = self._run(number) if shared else self._anew(*next(loaded.stream))
            trial.traces += 1
            self._beside(loaded, run, trial, number)
        return trial

    def _beside(self, mutant: _Loaded, run: _Run, trial: Trial, number: int) -> None:
        execution = execute(mutant.small if run.small else mutant.spec, run.execution.trace, self.engine)
        if alike(run.execution.record, execution.record):
            return
        if trial.told is None and differs(run.execution.record, execution.record) is not None:
            trial.told = Told(number, run.small, run.execution.trace)
        for p in self._in_order(mutant.properties, number):
            if judged(p, execution).failure is not None:
                self._blame(p.name, run)
                trial.noticed = p.name
                self.found_by[p.name] += 1
                return

    def _blame(self, name: str, run: _Run) -> None:
        """Raises SpecFails if it is the spec that breaks the property."""
        if judged(self._properties[name], run.execution).failure is not None:
            raise SpecFails(name)

    def _in_order(self, chosen: Sequence[Property], number: int) -> list[Property]:
        """What is due on a trace: what found most first, and what runs the trace again last."""
        found = [p for place, p in enumerate(chosen) if due(p, place, number)]
        return sorted(found, key=lambda p: (p.reruns, -self.found_by[p.name]))

    def reached(self, mutant: Mutant) -> bool:
        """Did the spec, on the traces so far, run a line of the fault? True where a line has no statement."""
        numbers = points(self.spec.program).lines
        wanted = [numbers[line] for line in mutant.lines() if line in numbers]
        return not wanted or any(self._hits[n] for n in wanted)

    @cached_property
    def _hits(self) -> list[int]:
        total = [0] * points(self.spec.program).numbers
        for run in self._runs:
            total = [a + b for a, b in zip(total, hits(self.spec.program, run.execution.trace), strict=True)]
        return total

    def mutant(self, number: int) -> Spec:
        """One that compiles."""
        found = self._loaded(number)
        assert found is not None
        return found.spec

    def _load(self, number: int) -> _Loaded | None:
        found = mutated(self.spec, self.mutants[number])
        if found is None:
            return None
        properties, told = _chosen(found, self.plan), fingerprint(found.program)
        return _Loaded(found, found.small(), properties, told, _own(found, self.plan))

    def _run(self, number: int) -> _Run:
        while len(self._runs) <= number:
            self._runs.append(self._anew(*next(self._stream)))
        return self._runs[number]

    def _anew(self, small: bool, trace: Trace) -> _Run:
        return _Run(small, execute(self._small if small else self.spec, trace, self.engine))


def _sized(spec: Spec, plan: Plan) -> Iterator[tuple[bool, Trace]]:
    for size, trace in stream(spec, replace(plan, traces=None)):
        yield size is not spec, trace


def _own(spec: Spec, plan: Plan) -> Iterator[tuple[bool, Trace]]:
    """The same of a mutant; a few at a time, since most mutants need few."""
    for number in count():
        for size in dict.fromkeys(sized(spec, plan.sizes)):
            for trace in traffic.seeded(size, plan.seed + number, captures=plan.captures, count=_FEW):
                yield size is not spec, trace


def _chosen(spec: Spec, plan: Plan) -> tuple[Property, ...]:
    """All but those of every NF that compare runs: they are about engines, which have no fault here."""
    every = (p for p in properties(spec) if not isinstance(p, Comparison))
    return tuple(p for p in every if not plan.only or p.name in plan.only)
