"""Traces with one part exchanged, and what the steps of shrinking see of the search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from polysome.engines.trace import Arrival, Change, Trace
from polysome.ir import program as ir


class Shrinking(Protocol):
    """The search for a smaller trace: `best` is the smallest that still breaks the property."""

    program: ir.Program
    best: Trace

    def fails(self, trace: Trace) -> bool:
        """Does the property still fail? Then `trace` is the best one. False for one that was tried before."""


def with_arrivals(trace: Trace, arrivals: Sequence[Arrival]) -> Trace:
    return replace(trace, arrivals=tuple(arrivals))


def with_frames(trace: Trace, frames: Mapping[int, bytes]) -> Trace:
    """Other bytes for some packets, by number."""
    arrivals = [replace(a, data=frames.get(n, a.data)) for n, a in enumerate(trace.arrivals)]
    return with_arrivals(trace, arrivals)


def with_config(trace: Trace, name: str, value: Any) -> Trace:
    """Another value for one item at the start."""
    return replace(trace, config={**trace.config, name: value})


def with_change(trace: Trace, number: int, values: Mapping[str, Any]) -> Trace:
    """Other values for the change of that number."""
    changes = list(trace.changes)
    changes[number] = Change(changes[number].time, values)
    return replace(trace, changes=tuple(changes))
