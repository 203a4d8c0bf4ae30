"""An NF that is restarted, and takes its state over, goes on as if nothing had happened: whenever that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest
from tests.testing.builtin.networks import (
    EXAMPLES,
    SCHEDULES,
    STORE,
    captured,
    example,
    schedule_trace,
    scheduled,
    store_trace,
)
from tests.testing.builtin.networks import spec as network

from polysome.backends.nf_cpp.build import build
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Running, load
from polysome.testing import traffic
from polysome.testing.builtin.compare import same
from polysome.testing.engines import ENGINES, native
from polysome.testing.options import RunOptions
from polysome.testing.record import Record
from polysome.testing.spec import Spec
from polysome.testing.trace import Trace

NATIVE = ENGINES["native"]
pytestmark = pytest.mark.skipif(NATIVE.missing() is not None, reason=str(NATIVE.missing()))
ONE = RunOptions(batch=1)


class Restarting(native._Run):
    """Runs a trace with a restart after each `every`-th packet."""

    def __init__(self, spec: Spec, trace: Trace, every: int) -> None:
        super().__init__(spec.program, trace, ONE)
        self.every = every

    def _steps(self, running: Running) -> Iterator[Callable[[], None]]:
        now = 0
        for number, step in enumerate(super()._steps(running)):
            if number and number % self.every == 0:
                yield partial(running.restart, encode(self.program, self._config(now)))
            if number < len(self.trace.arrivals):
                now = max(now, self.trace.arrivals[number].time)
            yield step

    def _config(self, now: int) -> dict[str, object]:
        config = dict(self.trace.config)
        for change in self.trace.changes:
            if change.time <= now:
                config |= change.values
        return config


def restarted(spec: Spec, trace: Trace, every: int = 1) -> Record:
    run = Restarting(spec, trace, every)
    run.through(load(build(spec.program)))
    return run.record(None)


def unnoticed(spec: Spec, trace: Trace, every: int = 1) -> None:
    expected = NATIVE.run(spec, trace, ONE)
    assert expected.crash is None
    same(expected, restarted(spec, trace, every), "with restarts")


@pytest.mark.parametrize("name", EXAMPLES)
def test_after_each_packet(name: str) -> None:
    """Config changes between; little room, so that what is full, evicted and runs out is met."""
    spec = example(name)
    for room in (spec.small(), spec.small(1)):
        for trace in traffic.seeded(room, 7, count=4):
            unnoticed(room, trace)


@pytest.mark.parametrize("name", EXAMPLES)
def test_on_the_captures_of_the_example(name: str) -> None:
    spec = example(name)
    unnoticed(spec, captured(spec), every=29)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_a_schedule_holds(schedule: str) -> None:
    for number in range(4):
        unnoticed(scheduled(schedule), schedule_trace(number))


def test_every_kind_of_state() -> None:
    for number in range(6):
        unnoticed(network(STORE), store_trace(number))
