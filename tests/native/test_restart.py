"""An NF that is restarted, and takes its state over, goes on as if nothing had happened: whenever that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
from polysome.backends.nf_cpp.library import load
from polysome.engines import ENGINES
from polysome.engines.collect import Collected, fed
from polysome.engines.events import Event
from polysome.engines.native.run import NativeRun
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.trace import Arrival, Trace
from polysome.testing import traffic
from polysome.testing.builtin.compare import same
from polysome.testing.spec import Spec

NATIVE = ENGINES["native"]
pytestmark = pytest.mark.skipif(NATIVE.missing() is not None, reason=str(NATIVE.missing()))
ONE = RunOptions(batch=1)


class Restarting(NativeRun):
    """A run that restarts after each `every`-th packet."""

    def __init__(self, spec: Spec, trace: Trace, every: int) -> None:
        super().__init__(spec.program, load(build(spec.program)), trace.config, replace(ONE, observed=True))
        self.program, self.trace, self.every = spec.program, trace, every
        self.number = self.now = 0

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        yield from self._restarted()
        (packet,) = packets
        self.number += 1
        self.now = max(self.now, packet.time)
        yield from super().arrive(packets)

    def finish(self) -> Iterator[Event]:
        yield from self._restarted()
        yield from super().finish()

    def _restarted(self) -> Iterator[Event]:
        if self.number and self.number % self.every == 0:
            config = encode(self.program, self._config(self.now))
            yield from self._told(lambda: self.running.restart(config))

    def _config(self, now: int) -> dict[str, object]:
        config = dict(self.trace.config)
        for change in self.trace.changes:
            if change.time <= now:
                config |= change.values
        return config


def restarted(spec: Spec, trace: Trace, every: int = 1) -> Record:
    collected = Collected(spec.program, trace, sees_frames=False)
    with Restarting(spec, trace, every) as run:
        for event in fed(run, trace, ONE):
            collected.take(event)
    return collected.record(None, None)


def unnoticed(spec: Spec, trace: Trace, every: int = 1) -> None:
    expected = NATIVE.run(spec.program, trace, ONE)
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
