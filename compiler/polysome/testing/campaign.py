"""A campaign: traces from the spec, each run once, judged by every property; what fails is shrunk.

One call of `run` is one worker's share. Everything in a Result can be sent to another process.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from hypothesis.database import ExampleDatabase

from polysome.engines import ENGINES
from polysome.engines.options import Unsupported
from polysome.engines.trace import Trace
from polysome.testing import builtin, coverage, judge, traffic
from polysome.testing.builtin.base import SHORT
from polysome.testing.builtin.crash import PROPERTY as NO_CRASH
from polysome.testing.counterexample import Counterexample, ReplayError, dumps, loads, shrink
from polysome.testing.execution import Execution, Judgement, Property, execute
from polysome.testing.plan import Plan, Sizes
from polysome.testing.spec import Spec

_LISTED = 4  # of so many traces one is of boundary packets,
_PIECE = 40  # so many of them
_RERUN = 5  # in one of so many traces a property that runs them again is judged: else most of the time would be theirs
_OTHERS = 200  # traces that are looked at for a smaller counterexample
_EVERYTHING = 3  # traces, the first ones, on which all are
SOLVING = 10.0  # campaigns of so many seconds also solve for packets that reach the rarest branches


@dataclass
class Outcome:
    """What became of one property: `cases` in `traces`, `skipped` why, or the smallest trace that breaks it."""

    name: str
    cases: int = 0
    traces: int = 0
    skipped: str | None = None
    counterexample: bytes | None = None
    packets: int = 0  # of the counterexample
    found_after: float = 0.0  # seconds, before shrinking
    remembered: bool = False  # from the database

    @property
    def holds(self) -> bool:
        return self.counterexample is None

    @property
    def untested(self) -> bool:
        """Nothing met its conditions, though it was looked for."""
        return self.holds and self.cases == 0 and self.skipped is None


@dataclass
class Result:
    """Outcomes by name, in the order of the properties; traces and packets that were run."""

    outcomes: dict[str, Outcome]
    traces: int = 0
    packets: int = 0
    seconds: float = 0.0
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> list[Outcome]:
        return [o for o in self.outcomes.values() if not o.holds]

    @property
    def untested(self) -> list[Outcome]:
        return [o for o in self.outcomes.values() if o.untested]

    @property
    def vacuous(self) -> bool:
        """Nothing was tested, so that nothing is known."""
        return all(o.untested or o.skipped is not None for o in self.outcomes.values())

    def add(self, other: Result) -> None:
        """Another worker's share."""
        self.traces += other.traces
        self.packets += other.packets
        for reason, count in other.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        for name, theirs in other.outcomes.items():
            mine = self.outcomes[name]
            mine.cases += theirs.cases
            mine.traces += theirs.traces
            if theirs.counterexample is not None and (mine.counterexample is None or theirs.packets < mine.packets):
                mine.counterexample, mine.packets = theirs.counterexample, theirs.packets
                mine.found_after, mine.remembered = theirs.found_after, theirs.remembered


def properties(spec: Spec) -> tuple[Property, ...]:
    """The spec's own, those of the libraries it uses, then the built-in ones that concern it."""
    return (*judge.properties(spec.program), *(p for p in builtin.every() if p.concerns(spec.program)))


def run(spec: Spec, plan: Plan, database: ExampleDatabase | None = None) -> Result:
    """The campaign. Raises Unsupported if the engine cannot run here, LookupError for a name in `only` that is none."""
    return _Campaign(spec, plan, database).run()


class _Campaign:
    def __init__(self, spec: Spec, plan: Plan, database: ExampleDatabase | None) -> None:
        self.spec, self.plan, self.database = spec, plan, database
        self.engine = ENGINES[plan.engine].around(plan.architecture)
        if (lacking := self.engine.missing()) is not None:
            raise Unsupported(lacking)
        every = {p.name: p for p in properties(spec)}
        if unknown := [name for name in plan.only if name not in every]:
            raise LookupError(unknown[0])
        self.properties = {name: p for name, p in every.items() if not plan.only or name in plan.only}
        self.result = Result({name: Outcome(name) for name in self.properties})
        self.started = time.monotonic()

    def run(self) -> Result:
        for name, counterexample in self._remembered():
            self._replay(name, counterexample)
        solved = self.plan.traces is not None or self.plan.seconds < SOLVING
        for spec, trace in stream(self.spec, self.plan):
            self._judge(spec, trace)
            if not solved and time.monotonic() - self.started > self.plan.seconds / 4:
                solved = True
                self._solve()
            if self._over():
                break
        self.result.seconds = time.monotonic() - self.started
        return self.result

    def _solve(self) -> None:
        """Traces that reach what random ones rarely do, for another quarter of the time."""
        for trace in coverage.campaign(self.spec, self.plan.seconds / 4, self.plan.seed).corpus:
            for spec in (self.spec.small(), self.spec):
                if not self._over():
                    self._judge(spec, trace)

    def _over(self) -> bool:
        enough = self.plan.traces is not None and self.result.traces >= self.plan.traces
        outcomes = self.result.outcomes.values()
        settled = all(not o.holds or o.skipped for o in outcomes) or (
            self.plan.first and any(not o.holds for o in outcomes)
        )
        return enough or settled or time.monotonic() - self.started > self.plan.seconds

    def _judge(self, spec: Spec, trace: Trace) -> None:
        execution = execute(spec, trace, self.engine)
        number = self.result.traces
        self.result.traces += 1
        self.result.packets += len(trace.arrivals)
        for reason, count in execution.record.drops.items():
            self.result.dropped[reason] = self.result.dropped.get(reason, 0) + count
        for place, (name, p) in enumerate(self.properties.items()):
            outcome = self.result.outcomes[name]
            if not outcome.holds or outcome.skipped is not None or not due(p, place, number):
                continue
            judgement = judged(p, execution)
            self._note(outcome, judgement)
            if judgement.failure is not None:
                outcome.found_after = time.monotonic() - self.started
                self._found(p, *self._smallest(spec, trace, p))

    def _note(self, outcome: Outcome, judgement: Judgement) -> None:
        outcome.skipped = judgement.skipped
        outcome.cases += judgement.cases
        outcome.traces += judgement.cases > 0

    def _smallest(self, spec: Spec, trace: Trace, p: Property) -> tuple[Spec, Trace]:
        """A small trace that breaks a property. Shrinking makes no packet longer, and many short ones may do what few
        long ones would: if many are left, a few other traces are looked at, for as long as shrinking may take.
        """
        until = time.monotonic() + self.plan.shrinking
        best = spec, shrink(spec, self.engine, trace, p, seconds=self.plan.shrinking)
        for size, other in stream(self.spec, replace(self.plan, seed=self.plan.seed + 1, traces=_OTHERS)):
            if len(best[1].arrivals) <= SHORT or time.monotonic() > until:
                break
            if judged(p, execute(size, other, self.engine)).failure is not None:
                small = shrink(size, self.engine, other, p, seconds=max(0.0, until - time.monotonic()))
                best = min(best, (size, small), key=lambda found: len(found[1].arrivals))
        return best

    def _found(self, p: Property, spec: Spec, trace: Trace) -> None:
        small = spec is not self.spec
        text = dumps(Counterexample(spec, small, self.engine.name, p.name, trace, self.engine.architecture))
        outcome = self.result.outcomes[p.name]
        outcome.counterexample, outcome.packets = text, len(trace.arrivals)
        if self.database is not None:
            self.database.save(self._key(p.name), text)

    # ------------------------------------------------------------ the database

    def _key(self, name: str) -> bytes:
        return f"{self.spec.program.name}/{name}".encode()

    def _remembered(self) -> Iterable[tuple[str, bytes]]:
        if self.database is None:
            return ()
        return chain.from_iterable(
            ((name, text) for text in sorted(self.database.fetch(self._key(name)), key=len)) for name in self.properties
        )

    def _replay(self, name: str, text: bytes) -> None:
        """What broke the property once comes first; what does so no more, or belongs to another spec, is forgotten."""
        outcome = self.result.outcomes[name]
        if not outcome.holds:
            return
        assert self.database is not None
        try:
            again = loads(text, self.spec)
            execution = execute(again.spec, again.trace, self.engine)
            judgement = judged(self.properties[name], execution)
        except (ReplayError, Unsupported):
            self.database.delete(self._key(name), text)
            return
        if judgement.failure is None:
            self.database.delete(self._key(name), text)
            return
        outcome.remembered = True
        outcome.counterexample, outcome.packets = text, len(again.trace.arrivals)


def sized(spec: Spec, sizes: Sizes) -> tuple[Spec, ...]:
    """The spec with room for a few entries and as declared, as often as each has its turn."""
    small = spec.small()
    return {Sizes.both: (small, small, spec), Sizes.small: (small,), Sizes.declared: (spec,)}[sizes]


def stream(spec: Spec, plan: Plan) -> Iterator[tuple[Spec, Trace]]:
    """Traces for each size in turn; state of the declared size is rarely full, so it has fewer.

    Some of them, as long as there are any, are the program's boundary packets, the same in every campaign.
    """
    turns = sized(spec, plan.sizes)
    boundaries = traffic.boundary_pieces(traffic.boundary_packets(spec), _PIECE)
    streams = {id(s): traffic.seeded(s, plan.seed, captures=plan.captures) for s in turns}
    for number in range(plan.traces if plan.traces is not None else 1 << 62):
        turn = turns[number % len(turns)]
        piece = next(boundaries, None) if number % _LISTED == 1 else None
        yield turn, traffic.boundary_trace(spec, piece) if piece else next(streams[id(turn)])


def due(p: Property, place: int, number: int) -> bool:
    """Is property number `place` judged on trace `number`? That is told by these alone: a seed repeats a campaign."""
    return not p.reruns or number < _EVERYTHING or (number + place) % _RERUN == 0


def judged(p: Property, execution: Execution) -> Judgement:
    """What the property says; after a crash only the property that forbids it says anything."""
    if execution.record.crash is not None and p is not NO_CRASH:
        return Judgement(None, 0)
    return p.judge(execution)


def names(spec: Spec) -> Sequence[str]:
    """All properties that a campaign judges, by name."""
    return [p.name for p in properties(spec)]
