"""Traces as the options of a run change them: ties, jumps of time."""

from __future__ import annotations

import dataclasses
import random

from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Change, Trace


def transformed(trace: Trace, options: RunOptions) -> Trace:
    """The trace with equal times (`ties`), then later from some packet on (`jump`)."""
    return _jumped(_tied(trace, options.ties), options)


def _tied(trace: Trace, ties: int) -> Trace:
    if ties <= 1:
        return trace
    first = [trace.arrivals[i - i % ties].time for i in range(len(trace.arrivals))]
    arrivals = tuple(Arrival(a.port, time, a.data) for a, time in zip(trace.arrivals, first, strict=True))
    return dataclasses.replace(trace, arrivals=arrivals)


def _jumped(trace: Trace, options: RunOptions) -> Trace:
    if not options.jump or not trace.arrivals:
        return trace
    start = trace.arrivals[random.Random(options.seed).randrange(len(trace.arrivals))].time

    def later(time: int) -> int:
        return time + options.jump if time >= start else time

    arrivals = tuple(Arrival(a.port, later(a.time), a.data) for a in trace.arrivals)
    return Trace(trace.config, arrivals, tuple(Change(later(c.time), c.values) for c in trace.changes))
