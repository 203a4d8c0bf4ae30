"""Runs as streams: what is told while packets come, whatever the chunks, on every engine that is here."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.testing.builtin.networks import captured, example

from polysome.engines import ENGINES
from polysome.engines.events import Decided, Dropped, Event, Left
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Trace
from polysome.testing.spec import Spec

ENGINE_NAMES = [name for name, engine in ENGINES.items() if engine.missing() is None]


def told(name: str, spec: Spec, trace: Trace, chunk: int) -> list[Event]:
    events: list[Event] = []
    with ENGINES[name].start(spec.program, trace.config, RunOptions()) as run:
        for first in range(0, len(trace.arrivals), chunk):
            events += run.arrive(trace.arrivals[first : first + chunk])
        events += run.finish()
        assert run.history is None
    return events


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_chunks_change_nothing(name: str) -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    one, many = told(name, spec, trace, 1), told(name, spec, trace, 50)
    fates = Counter(event.packet for event in many if isinstance(event, (Left, Dropped)))
    assert sorted(fates) == list(range(len(trace.arrivals))) and set(fates.values()) == {1}
    assert not any(isinstance(event, Decided) for event in many)  # only if it is observed
    assert sorted(map(repr, one)) == sorted(map(repr, many))


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_what_happens_is_told_while_packets_come(name: str) -> None:
    """A second between packets: what became of one is known before the next but one comes, at once if none travels."""
    spec = example("load_balancer")
    trace = captured(spec)
    packets = [Arrival(a.port, 10**18 + n * 10**9, a.data) for n, a in enumerate(trace.arrivals[:4])]
    with ENGINES[name].start(spec.program, trace.config, RunOptions()) as run:
        told = [[e.packet for e in run.arrive([p]) if isinstance(e, (Left, Dropped))] for p in packets]
        last = [event.packet for event in run.finish() if isinstance(event, (Left, Dropped))]
    expected = [[], [0], [1], [2], [3]] if ENGINES[name].sees_frames else [[0], [1], [2], [3], []]
    assert [*told, last] == expected


@pytest.mark.parametrize("name", ENGINE_NAMES)
def test_config_changes_may_be_given_while_it_runs(name: str) -> None:
    """Without servers, all that is new is dropped."""
    spec = example("load_balancer")
    trace, start = captured(spec), 10**18
    packets = [Arrival(a.port, start + n, a.data) for n, a in enumerate(trace.arrivals[:20])]
    later = [Arrival(p.port, p.time + 2 * 10**9, p.data) for p in packets]
    with ENGINES[name].start(spec.program, trace.config, RunOptions()) as run:
        before = list(run.arrive(packets))
        run.change_at(start + 10**9, {"backends": ()})
        events = [*before, *run.arrive(later), *run.finish()]
    left = [event.packet for event in events if isinstance(event, Left)]
    dropped = [event.packet for event in events if isinstance(event, Dropped)]
    assert left and max(left) < 20
    assert set(range(20, 40)) <= set(dropped)
