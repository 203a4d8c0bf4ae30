"""What a search for traces has reached so far."""

from __future__ import annotations

import time
from collections.abc import Iterator

from polysome.engines.trace import Trace
from polysome.testing import traffic
from polysome.testing.coverage.coverage import Coverage, hits
from polysome.testing.coverage.points import points
from polysome.testing.spec import Spec


class Search:
    """What was reached so far. `wanted`: numbers of `Points` that were not, and are not proved unreachable."""

    def __init__(self, spec: Spec, deadline: float) -> None:
        self.spec, self.small, self.deadline = spec, spec.small(), deadline
        self.points = points(spec.program)
        self.counts = [0] * self.points.numbers
        self.wanted = set(range(self.points.numbers))  # lines too: where state is written is a way to more
        self.unreachable: dict[int, str] = {}
        self.proved = False
        self.corpus: list[Trace] = []

    def coverage(self) -> Coverage:
        return Coverage(self.spec.program, tuple(self.counts), self.unreachable, self.proved, tuple(self.corpus))

    @property
    def over(self) -> bool:
        done = all(n >= len(self.points.outcomes) for n in self.wanted)
        return done or time.monotonic() > self.deadline

    def prove(self) -> None:
        """What cannot be reached need not be looked for."""
        from polysome.testing.coverage.symbolic.prove import unreachable

        self.unreachable = unreachable(self.spec.program, self.wanted)
        self.wanted -= self.unreachable.keys()
        self.proved = True

    def run(self, trace: Trace) -> bool:
        """Counts what the trace reaches, in state of both sizes; is something new among it?"""
        before = len(self.wanted)
        for program in (self.small.program, self.spec.program):
            for n, count in enumerate(hits(program, trace)):
                self.counts[n] += count
                if count:
                    self.wanted.discard(n)
        if len(self.wanted) == before:
            return False
        self.corpus.append(trace)
        return True

    def random(self, seed: int) -> Iterator[bool]:
        """Random traces without end, for state of both sizes in turns: does each reach something new?"""
        for traces in zip(traffic.seeded(self.small, seed), traffic.seeded(self.spec, seed), strict=True):
            yield from map(self.run, traces)
