"""A share of a campaign: some of its traces, each run once, judged by every property; what fails is shrunk."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from polysome.engines import ENGINES
from polysome.engines.options import Unsupported
from polysome.engines.trace import Trace
from polysome.testing import coverage
from polysome.testing.builtin.base import SHORT
from polysome.testing.campaign.causes import By, cause
from polysome.testing.campaign.properties import chosen, due, judged
from polysome.testing.campaign.results import WAYS, Finding, Known, Result
from polysome.testing.campaign.traces import SHARE, share, sized, stream
from polysome.testing.counterexample import Counterexample, dumps, shrink
from polysome.testing.execution import Execution, Property, execute
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

_OTHERS = 200  # traces that are looked at for a smaller counterexample
_TRIES = 2 * WAYS  # failures of one property that are shrunk
_LATER = 0.25  # of the time for shrinking, where another cause of the same property was found before


@dataclass(frozen=True)
class Share:
    """`count` traces from number `number` × SHARE on, for `seconds` at most.

    `began`: seconds of the campaign before it; `known`: failures that need not be looked into again; `solves`: instead,
    the traces that reach what random ones rarely do.
    """

    plan: Plan
    number: int
    count: int
    seconds: float
    began: float = 0.0
    known: frozenset[Known] = frozenset()
    solves: bool = False


def perform(spec: Spec, share: Share) -> Result:
    """The share, or what of it was done when the time was over.

    Raises Unsupported if the engine cannot run here, LookupError for a name in `only` that is none.
    """
    return Judge(spec, share).run()


class Judge:
    """Runs traces and judges them."""

    def __init__(self, spec: Spec, share: Share) -> None:
        self.spec, self.share, self.plan = spec, share, share.plan
        self.engine = ENGINES[self.plan.engine].around(self.plan.architecture)
        if (lacking := self.engine.missing()) is not None:
            raise Unsupported(lacking)
        self.properties = chosen(spec, self.plan.only)
        self.result = Result.of(self.properties)
        self._started = time.monotonic()

    def run(self) -> Result:
        for number, (spec, trace) in self._traces():
            self._trace(number, spec, trace)
            if self._over():
                break
        return self.result

    def _traces(self) -> Iterable[tuple[int, tuple[Spec, Trace]]]:
        """Numbered as in the whole campaign."""
        of = self.share
        if of.solves:
            found = coverage.campaign(self.spec, of.seconds, self.plan.seed).corpus
            sizes = dict.fromkeys(sized(self.spec, self.plan.sizes))
            return enumerate((spec, trace) for trace in found for spec in sizes)
        return enumerate(share(self.spec, self.plan, of.number, of.count), of.number * SHARE)

    def _over(self) -> bool:
        limit = self.share.seconds * (2 if self.share.solves else 1)
        late = time.monotonic() - self._started > limit
        found = self.plan.first and bool(self.result.failed)
        return found or late or self.result.settled(self.share.known)

    def _trace(self, number: int, spec: Spec, trace: Trace) -> None:
        execution = execute(spec, trace, self.engine)
        self.result.traces += 1
        self.result.packets += len(trace.arrivals)
        for reason, count in execution.record.drops.items():
            self.result.dropped[reason] = self.result.dropped.get(reason, 0) + count
        for place, (name, p) in enumerate(self.properties.items()):
            if due(p, place, number) and self.result.outcomes[name].skipped is None and not self._enough(name):
                self._judge(p, execution)

    def _judge(self, p: Property, execution: Execution) -> None:
        judgement, outcome = judged(p, execution), self.result.outcomes[p.name]
        outcome.skipped = judgement.skipped
        outcome.cases += judgement.cases
        outcome.traces += judgement.cases > 0
        if judgement.failure is None:
            return
        failed_by = cause(execution, judgement.failure)
        if (p.name, failed_by) in self._known:
            return
        after = self.share.began + time.monotonic() - self._started
        again = any(name == p.name for name, _ in self._known)
        self.result.known.add((p.name, failed_by))
        if again:
            spec, small = execution.spec, self._shrunk(execution, By(p, failed_by))
        else:
            spec, small = self._smallest(execution.spec, execution.trace, p)
        if (found := self.finding(p, spec, small)) is not None:
            outcome.add(replace(found, after=after))

    def finding(self, p: Property, spec: Spec, trace: Trace) -> Finding | None:
        """A trace that breaks the property; None if it does not."""
        execution = execute(spec, trace, self.engine)
        failure = judged(p, execution).failure
        if failure is None:
            return None
        found = cause(execution, failure)
        self.result.known.add((p.name, found))
        kept = Counterexample(spec, spec is not self.spec, self.engine.name, p.name, trace, self.engine.architecture)
        return Finding(found, dumps(kept), len(trace.arrivals))

    # ------------------------------------------------------------ causes

    @property
    def _known(self) -> frozenset[Known] | set[Known]:
        return self.share.known | self.result.known

    def _enough(self, name: str) -> bool:
        """Was enough found of this property?"""
        return sum(known == name for known, _ in self._known) >= _TRIES or (
            len(self.result.outcomes[name].findings) == WAYS
        )

    def _shrunk(self, execution: Execution, p: By) -> Trace:
        """For another cause of a failure that is known already: made small without becoming a known one."""
        seconds = self.plan.shrinking * _LATER
        return shrink(execution.spec, self.engine, execution.trace, p, seconds=seconds)

    def _smallest(self, spec: Spec, trace: Trace, p: Property) -> tuple[Spec, Trace]:
        """A small trace that breaks a property. Shrinking makes no packet longer, and many short ones may do what few
        long ones would: if many are left, a few other traces are looked at, for as long as shrinking may take.
        """
        until = time.monotonic() + self.plan.shrinking
        best = spec, shrink(spec, self.engine, trace, p, seconds=self.plan.shrinking)
        for size, other in islice(stream(self.spec, replace(self.plan, seed=self.plan.seed + 1)), _OTHERS):
            if len(best[1].arrivals) <= SHORT or time.monotonic() > until:
                break
            if judged(p, execute(size, other, self.engine)).failure is not None:
                small = shrink(size, self.engine, other, p, seconds=max(0.0, until - time.monotonic()))
                best = min(best, (size, small), key=lambda found: len(found[1].arrivals))
        return best
