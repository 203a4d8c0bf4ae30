"""A campaign: what failed before, then shares of new traces for all who do them, until there is nothing left to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from hypothesis.database import ExampleDatabase

from polysome.engines.options import Unsupported
from polysome.testing.campaign.crews import Crew, Here
from polysome.testing.campaign.journal import Journal
from polysome.testing.campaign.results import Finding, Result
from polysome.testing.campaign.share import Judge, Share
from polysome.testing.campaign.traces import SHARE
from polysome.testing.counterexample import ReplayError, loads
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

SOLVING = 10.0  # campaigns of so many seconds also solve for packets that reach the rarest branches
_SOLVING = 0.25  # of the time: when that begins, and how long it takes
_SOLVED = -1  # number of the share that does


def run(spec: Spec, plan: Plan, database: ExampleDatabase | None = None) -> Result:
    """A campaign in this process. Raises Unsupported if the engine cannot run here, LookupError for a name in `only`
    that is none.
    """
    return Campaign(spec, plan, database).run(Here(spec))


class Campaign:
    """`database`: of what failed before; `journal`: what was done already, and what is done now."""

    def __init__(
        self, spec: Spec, plan: Plan, database: ExampleDatabase | None = None, journal: Journal | None = None
    ) -> None:
        self.spec, self.plan, self.database, self.journal = spec, plan, database, journal
        self.judge = Judge(spec, Share(plan, 0, 0, 0))
        self.result = Result.of(self.judge.properties)
        before = journal.seconds if journal is not None else 0.0
        self._started = time.monotonic() - before
        self._under_way = 0

    def run(self, crew: Crew, seen: Callable[[Result], None] = lambda result: None) -> Result:
        """`seen` is told of the result so far, after each share. If somebody interrupts it, that is the result."""
        done = self.journal.done if self.journal is not None else {}
        try:
            for result in done.values():
                self.result.add(result)
            self._remembered()
            self._shares(crew, self._wanted(set(done)), seen)
        except KeyboardInterrupt:
            self.result.interrupted = True
        finally:
            crew.close()
        self.result.seconds = self.seconds
        return self.result

    @property
    def seconds(self) -> float:
        """Since it began, without the time in which nobody went on with it."""
        return time.monotonic() - self._started

    def _shares(self, crew: Crew, wanted: Iterator[Share], seen: Callable[[Result], None]) -> None:
        """Shares end by themselves when time is over, and their results count; nobody waits for the others when what
        was found is enough.
        """
        while not self._enough():
            while not self._late() and self._under_way < crew.size and (share := next(wanted, None)) is not None:
                crew.submit(share)
                self._under_way += 1
            if not self._under_way:
                return
            share, result = crew.next()
            self._under_way -= 1
            self._add(share, result)
            seen(self.result)

    def _enough(self) -> bool:
        return (self.plan.first and bool(self.result.failed)) or self.result.settled()

    def _late(self) -> bool:
        """Is time over? It never is before the first trace."""
        return self.result.traces + self._under_way > 0 and self.seconds > self.plan.seconds

    def _wanted(self, done: set[int]) -> Iterator[Share]:
        """Each share with what is known, and the time that is left, when it is asked for."""
        plan = self.plan
        solved = plan.traces is not None or plan.seconds < SOLVING or _SOLVED in done
        for number in count():
            if not solved and self.seconds > plan.seconds * _SOLVING:
                solved = True
                yield self._share(_SOLVED, 0, plan.seconds * _SOLVING)
            left = SHARE if plan.traces is None else min(SHARE, plan.traces - number * SHARE)
            if left <= 0:
                return
            if number not in done:
                yield self._share(number, left, plan.seconds - self.seconds)

    def _share(self, number: int, traces: int, seconds: float) -> Share:
        return Share(self.plan, number, traces, seconds, self.seconds, frozenset(self.result.known), number == _SOLVED)

    def _add(self, share: Share, result: Result) -> None:
        self.result.add(result)
        for outcome in result.outcomes.values():
            for found in outcome.findings:
                self._save(outcome.name, found)
        if self.journal is not None:
            self.journal.note(share.number, result, self.seconds)

    # ------------------------------------------------------------ the database

    def _key(self, name: str) -> bytes:
        return f"{self.spec.program.name}/{name}".encode()

    def _save(self, name: str, found: Finding) -> None:
        if self.database is not None and found in self.result.outcomes[name].findings:
            self.database.save(self._key(name), found.counterexample)

    def _remembered(self) -> None:
        """What broke a property once comes first; what does so no more, does so by the cause of a smaller one, or
        belongs to another spec, is forgotten.
        """
        if self.database is None:
            return
        for name, outcome in self.result.outcomes.items():
            for text in sorted(self.database.fetch(self._key(name)), key=len):
                if (found := self._again(name, text)) is not None:
                    outcome.add(found)
                if text not in (f.counterexample for f in outcome.findings):
                    self.database.delete(self._key(name), text)
        self.result.known |= self.judge.result.known

    def _again(self, name: str, text: bytes) -> Finding | None:
        try:
            again = loads(text, self.spec)
            found = self.judge.finding(self.judge.properties[name], again.spec, again.trace)
        except (ReplayError, Unsupported):
            return None
        return replace(found, counterexample=text, remembered=True) if found is not None else None
