"""The smallest trace that still breaks a property (delta debugging: Zeller and Hildebrandt, TSE 2002, "ddmin")."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any, TypeVar

from polysome.engines import Engine
from polysome.engines.options import Unsupported
from polysome.engines.trace import Change, Trace
from polysome.ir import types as t
from polysome.testing.counterexample import simpler_config, simpler_packets, simpler_times
from polysome.testing.counterexample.parts import with_arrivals, with_change, with_config
from polysome.testing.execution import Failure, Property, execute
from polysome.testing.spec import Spec

T = TypeVar("T")
FEW = 12  # packets of which pairs are left out too: at most 66 runs


def shrink(spec: Spec, engine: Engine, trace: Trace, property: Property, *, seconds: float = 30) -> Trace:
    """The smallest trace found for which `property` still fails, in the same `expect` if the spec has several.

    Fewer packets, config changes and config rows; then times, ports, frames and config values that are simple, with
    addresses that are the same throughout. It only ever gets simpler: no packet or row is new. The result depends on
    the arguments alone, unless `seconds` run out: then it is the best so far. ValueError if the property holds.
    """
    search = Search(spec, engine, property, trace, seconds)
    with suppress(OutOfTime):
        search.run()
    return search.best


class OutOfTime(Exception):
    """The time for shrinking is over."""


class Search:
    """The best trace so far, and what was tried."""

    def __init__(self, spec: Spec, engine: Engine, property: Property, trace: Trace, seconds: float) -> None:
        self.spec, self.engine, self.property = spec, engine, property
        self.program = spec.program
        self.runs = 0
        self._deadline = time.monotonic() + seconds
        self._tried: set[int] = set()
        self._crashed: bool | None = None
        failure = self._judged(trace)
        if failure is None:
            raise ValueError(f"`{property.name}` holds for this trace")
        self._span = failure.span
        self.best, self.failure = trace, failure

    def fails(self, trace: Trace) -> bool:
        """Does the property still fail, for a trace that was not tried before? Then that is the best one."""
        known = hash((trace.arrivals, repr(trace.config), repr(trace.changes)))
        if known in self._tried:
            return False
        if time.monotonic() > self._deadline:
            raise OutOfTime
        self._tried.add(known)
        try:
            failure = self._judged(trace)
        except (Unsupported, ValueError):  # a table that cannot be: two equal prefixes, weights above the size
            return False
        if failure is None or failure.span != self._span:
            return False
        self.best, self.failure = trace, failure
        return True

    def _judged(self, trace: Trace) -> Failure | None:
        """What the property says of a run; nothing if that crashes and the first one did not, or the other way."""
        self.runs += 1
        execution = execute(self.spec, trace, self.engine)
        crashed = execution.record.crash is not None
        if self._crashed is None:
            self._crashed = crashed
        return self.property.judge(execution).failure if crashed == self._crashed else None

    def run(self) -> None:
        """Each kind of step, over and over until none helps; those that help most come first."""
        self._first_cuts()
        while True:
            before = self.best
            self._packets()
            self._changes()
            self._rows()
            simpler_times.simplify(self)
            simpler_packets.simplify(self)
            simpler_config.simplify(self)
            if self.best == before:
                return

    # ------------------------------------------------------------ fewer

    def _first_cuts(self) -> None:
        """Nothing after the failure; the failing packets alone."""
        arrivals = self.best.arrivals
        if self.failure.packets:
            self.fails(with_arrivals(self.best, arrivals[: max(self.failure.packets) + 1]))
            self.fails(with_arrivals(self.best, [self.best.arrivals[n] for n in sorted(set(self.failure.packets))]))
        self.fails(Trace(self.best.config, self.best.arrivals))

    def _packets(self) -> None:
        fewer(self.best.arrivals, lambda kept: self.fails(with_arrivals(self.best, kept)))
        self._pairs()

    def _pairs(self) -> None:
        """Two packets may be needed only for each other, like a mapping and its end."""
        again = 2 < len(self.best.arrivals) <= FEW
        while again:
            arrivals = self.best.arrivals
            again = any(
                self.fails(with_arrivals(self.best, [a for n, a in enumerate(arrivals) if n not in pair]))
                for pair in combinations(range(len(arrivals)), 2)
            )

    def _changes(self) -> None:
        def kept(changes: Sequence[Change]) -> bool:
            return self.fails(Trace(self.best.config, self.best.arrivals, tuple(changes)))

        fewer(self.best.changes, kept)
        for number in range(len(self.best.changes)):
            for name in self.best.changes[number].values:
                values = dict(self.best.changes[number].values)
                if len(values) > 1:
                    del values[name]
                    self.fails(with_change(self.best, number, values))

    def _rows(self) -> None:
        """Fewer rows of every list, set and table, at the start and in changes."""
        for name, decl in self.program.config.items():
            if not isinstance(decl.type, (t.ListOf, t.SetOf, t.Table)):
                continue
            self._rows_of(self.best.config[name], partial(self._fails_with, name))
            for number, change in enumerate(self.best.changes):
                if name in change.values:
                    self._rows_of(change.values[name], partial(self._fails_changed, number, name))

    def _fails_with(self, name: str, value: Any) -> bool:
        return self.fails(with_config(self.best, name, value))

    def _fails_changed(self, number: int, name: str, value: Any) -> bool:
        return self.fails(with_change(self.best, number, {**self.best.changes[number].values, name: value}))

    def _rows_of(self, value: Any, fails: Callable[[Any], bool]) -> None:
        match value:
            case dict():
                fewer(tuple(value.items()), lambda rows: fails(dict(rows)))
            case frozenset():
                fewer(sorted(value), lambda rows: fails(frozenset(rows)))
            case _:
                fewer(value, lambda rows: fails(tuple(rows)))


def fewer(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> Sequence[T]:
    """ddmin down to single items, and again until no single one can be left out. O(n²) runs at worst."""
    if items and fails(()):
        return ()
    size = len(items)
    while size > 0:
        start, smaller = 0, False
        while start < len(items):
            rest = [*items[:start], *items[start + size :]]
            if len(rest) < len(items) and rest and fails(rest):
                items, smaller = rest, True
            else:
                start += size
        size = size if smaller and size == 1 else size // 2
    return items
