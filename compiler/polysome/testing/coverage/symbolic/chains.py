"""Chains of packets: from what was reached, one packet more, again and again, each found by z3."""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from collections.abc import Iterator

from polysome.engines.trace import Arrival, Trace
from polysome.ir import program as ir
from polysome.testing.coverage.searched import Search
from polysome.testing.coverage.symbolic.solve import Moment, Way, patience, solutions, ways

REPEATS = (1, 3, 9, 199)  # times that a last packet comes again
EVENTS = (1, 2)  # things due that pass before the next packet
MILLISECOND = 10**6

Step = tuple[ir.Program, Moment]


class Chains:
    """What may come next waits in four rows: to reach what is wanted right behind a trace; to find other
    states; to reach what is wanted after waiting, by two packets, with full-size state; after the same packet again and
    again. The first row goes first, the others take turns.
    """

    def __init__(self, search: Search) -> None:
        self.search = search
        self.small, self.declared = search.small.program, search.spec.program
        self.rows: tuple[deque[Step], ...] = (deque(), deque(), deque(), deque())
        self.taken: set[Way] = set()
        if search.spec.config is None:
            for row in self.rows[:2]:
                row.append((self.small, Moment(None)))
            self.rows[2].append((self.small, Moment(None, packets=2)))
        else:
            self.behind(Trace(search.spec.config, ()))
        for trace in sorted(search.corpus, key=lambda trace: len(trace.arrivals)):
            self.behind(trace)

    def behind(self, trace: Trace) -> None:
        """What may come after a trace."""
        self.rows[0].append((self.small, Moment(trace)))
        self.rows[1].append((self.small, Moment(trace)))
        self.rows[2].extend((self.small, Moment(trace, events)) for events in EVENTS)
        self.rows[2].append((self.small, Moment(trace, packets=2)))
        self.rows[2].append((self.declared, Moment(trace)))
        self.rows[3].append((self.small, Moment(trace, again=True)))

    def turns(self) -> Iterator[None]:
        """One moment is tried at each turn, until there is nothing left to reach, to try, or no time."""
        turn = 0
        while any(self.rows) and not self.search.over:
            turn += 1
            row = 0 if self.rows[0] else 1 + turn % 3
            if self.rows[row]:
                program, moment = self.rows[row].popleft()
                self._other(program, moment) if row == 1 else self._wanted(program, moment)
                yield

    def _wanted(self, program: ir.Program, moment: Moment) -> None:
        for one in _again(program, moment.trace) if moment.again and moment.trace is not None else (moment,):
            if moment.again and one.trace is not None and self.search.run(one.trace):
                self.behind(one.trace)
            for _, trace in solutions(program, one, self.search.wanted):
                if self.search.run(trace):
                    self.behind(trace)
                if self.search.over:
                    return

    def _other(self, program: ir.Program, moment: Moment) -> None:
        for trace in ways(program, moment, self.taken):
            self.search.run(trace)
            self.behind(trace)
            if self.search.over:
                return


def _again(program: ir.Program, trace: Trace) -> Iterator[Moment]:
    """Behind the trace with its last packet some times more, a little later each, or as late as nothing is due."""
    gaps = {MILLISECOND, patience(program, trace) or MILLISECOND}
    for times, gap in itertools.product(REPEATS if trace.arrivals else (), sorted(gaps)):
        last = trace.arrivals[-1]
        more = (Arrival(last.port, last.time + (k + 1) * gap, last.data) for k in range(times))
        yield Moment(dataclasses.replace(trace, arrivals=(*trace.arrivals, *more)))
