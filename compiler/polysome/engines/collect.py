"""A whole trace fed to a run, and its events as a Record."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from polysome.engines.events import Decided, Dropped, Emitted, Event, Left, Lost
from polysome.engines.options import RunOptions
from polysome.engines.record import Copy, Fate, Made, Record
from polysome.engines.run import Run
from polysome.engines.trace import Arrival, Trace
from polysome.ir import program as ir

if TYPE_CHECKING:
    from polysome.engines.history import History

CHUNK = 256  # packets that are handed over at once, unless batches have a given size


def fed(run: Run, trace: Trace, options: RunOptions) -> Iterator[Event]:
    """Packets that follow each other at once, unless time moves on between them in `options.steps`."""
    for change in trace.changes:
        run.change_at(change.time, change.values)
    steps, size = options.steps, 1 if options.steps > 1 else options.batch or CHUNK
    last = trace.arrivals[0].time if trace.arrivals else 0
    for first in range(0, len(trace.arrivals), size):
        group = trace.arrivals[first : first + size]
        now = group[0].time
        for step in range(1, steps) if first else ():
            yield from run.advance(max(0, last + (now - last) * step // steps))
        last = max(last, now)
        yield from run.arrive(group)
    yield from run.finish()


class Collected:
    """What a run tells, until `record` makes one of it."""

    def __init__(self, program: ir.Program, trace: Trace, sees_frames: bool, slack: int | None = None) -> None:
        self._program, self._trace, self._sees_frames, self._slack = program, trace, sees_frames, slack
        self._decided: dict[int, tuple[int, Any]] = {}  # time and class by packet; none without a handler
        self._arrivals: list[Arrival] = []  # of an engine that sees frames
        self._reasons: dict[int, str] = {}
        self._copies: dict[int, list[Copy]] = {}
        self._made: list[Made] = []
        self._lost: dict[int, str] = {}
        self._places = count()

    def take(self, event: Event) -> None:
        match event:
            case Left(packet, port, time, data):
                self._copies.setdefault(packet, []).append(Copy(port, time, data, next(self._places)))
            case Decided(packet, time, order_class, arrival):
                self._decided[packet] = time, order_class
                if arrival is not None:
                    self._arrivals.append(arrival)
            case Dropped(packet, reason):
                self._reasons[packet] = reason
            case Emitted(port, time, data, cause, headers):
                self._made.append(Made(port, time, data, next(self._places), cause, headers))
            case Lost(packet, cause):
                self._lost[packet] = cause

    def record(self, history: History | None, crash: str | None) -> Record:
        """What happened; after a crash, up to the last packet of which the engine said anything."""
        known = max([*self._decided, *self._reasons], default=-1) + 1
        trace = self._trace
        if self._sees_frames:
            trace = Trace(trace.config, tuple(self._arrivals), trace.changes)
        elif crash is None and known != len(trace.arrivals):
            crash = f"the engine says nothing of packet {known + 1} or those after it"
        fates = tuple(self._fates(trace.arrivals[:known]))
        return Record(self._program, trace, fates, tuple(self._made), history, crash, self._lost, self._slack)

    def _fates(self, arrivals: tuple[Arrival, ...]) -> Iterator[Fate]:
        now = 0
        for n, arrival in enumerate(arrivals):
            now = max(now, arrival.time)
            at, order_class = self._decided.get(n, (now, None))
            yield Fate(n, arrival, at, self._reasons.get(n), tuple(self._copies.get(n, ())), order_class)
