"""The whole system does what the interpreter does on the trace that its NF saw, and says so where it cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.testing.builtin.networks import EXAMPLES, captured, example

from polysome.testing.builtin.compare import same
from polysome.testing.builtin.conservation import Conservation
from polysome.testing.builtin.faults import Faults
from polysome.testing.engines import ENGINES
from polysome.testing.engines.system import MOST_TRAILER
from polysome.testing.execution import execute
from polysome.testing.options import RunOptions, Unsupported
from polysome.testing.record import Record
from polysome.testing.spec import Spec
from polysome.testing.trace import Arrival, Trace

INTERP, SYSTEM = ENGINES["interp"], ENGINES["system"]
NO_OPTIONS = RunOptions()
HOUR = 3_600_000_000_000

pytestmark = [
    pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing())),
    pytest.mark.slow,
]


def compared(spec: Spec, trace: Trace, options: RunOptions = NO_OPTIONS) -> Record:
    """What the system made of the trace; the interpreter makes the same of what its NF saw."""
    found = SYSTEM.run(spec, trace, options)
    assert found.crash is None
    expected = INTERP.run(spec, found.decided(), NO_OPTIONS)
    assert expected.crash is None
    same(expected, found, "through the system")
    return found


def moved(trace: Trace, times: list[int]) -> Trace:
    arrivals = [Arrival(a.port, time, a.data) for a, time in zip(trace.arrivals, times, strict=False)]
    return replace(trace, arrivals=tuple(arrivals))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_do_what_the_interpreter_does(name: str) -> None:
    spec = example(name)
    trace = captured(spec)
    found = compared(spec, trace)
    assert len(found.fates) == len(trace.arrivals)
    assert Conservation().check(found) == len(trace.arrivals)
    assert found.lost == {}
    assert any(fate.sent for fate in found.fates) or name == "acl"


def test_packets_at_one_time_are_all_kept() -> None:
    """They wait for the wires: no queue overflows, and the NF sees them in the order of its link."""
    spec = example("load_balancer")
    trace = captured(spec)
    found = compared(spec, moved(trace, [trace.arrivals[0].time] * len(trace.arrivals)))
    assert len(found.fates) == len(trace.arrivals)
    assert found.fates[-1].at > found.fates[0].at


def test_hours_without_a_packet_take_no_time() -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    start = trace.arrivals[0].time
    found = compared(spec, moved(trace, [start + n * HOUR for n in range(12)]))
    assert len(found.fates) == 12


def test_time_that_runs_back_stands_still() -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    found = compared(spec, moved(trace, [a.time - 1000 * (n % 3) for n, a in enumerate(trace.arrivals)]))
    times = [fate.at for fate in found.fates]
    assert times == sorted(times)


def test_frames_whose_lengths_lie() -> None:
    """Shorter than claimed: the switch does not park it, which costs the packet. Of a trailer 7 bytes at most leave."""
    spec = example("load_balancer")
    long = next(a for a in captured(spec).arrivals if len(a.data) > 130)
    start = long.time
    frames = [long.data[:-1], long.data[:-20], long.data, long.data + b"\x55" * 4, long.data + b"\x55" * 400]
    trace = Trace(spec.config or {}, tuple(Arrival(long.port, start + 1000 * n, d) for n, d in enumerate(frames)))
    found = compared(spec, trace)
    assert [fate.sent for fate in found.fates] == [False, False, True, True, True]
    assert set(found.lost) == {0, 1} and all("never written" in cause for cause in found.lost.values())
    sent = [fate.copies[0].data for fate in found.fates if fate.sent]
    assert {len(data) for data in sent} == {len(long.data)}, f"{MOST_TRAILER} bytes of trailer at most are cut off"


def test_an_odd_trailer_costs_the_packet_and_is_no_fault() -> None:
    """Its cell would need another pad than the claimed length says (rule 1)."""
    spec = example("load_balancer")
    long = next(a for a in captured(spec).arrivals if len(a.data) > 130)
    odd = next(n for n in (1, 2, 3) if -(len(long.data) + n) % 4 > -len(long.data) % 4)
    trace = Trace(spec.config or {}, (replace(long, data=long.data + b"\x55" * odd), long))
    found = compared(spec, trace)
    assert list(found.lost) == [0] and not found.fates[0].sent and found.fates[1].sent


@pytest.mark.parametrize("kind", ["loss", "duplication", "reordering"])
def test_faults_lose_packets_and_corrupt_none(kind: str) -> None:
    spec = example("load_balancer")
    trace = captured(spec)
    again = replace(trace, arrivals=trace.arrivals * 4)
    found = SYSTEM.run(spec, again, RunOptions(faults=frozenset({kind}), seed=3))
    assert found.crash is None
    if kind == "loss":
        assert len(found.fates) < len(again.arrivals) or found.lost
    judgement = Faults().judge(execute(spec, again, SYSTEM))
    assert judgement.failure is None and judgement.skipped is None and judgement.cases > 0


def test_the_seed_repeats_a_run() -> None:
    spec = example("load_balancer")
    options = RunOptions(faults=frozenset({"loss"}), seed=5)
    first, second = (SYSTEM.run(spec, captured(spec), options) for _ in range(2))
    assert first.fates == second.fates and first.lost == second.lost


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (RunOptions(scramble=True), "nothing to scramble"),
        (RunOptions(split=False), "always splits"),
        (RunOptions(cores=2), "one core"),
        (RunOptions(batch=4), "itself says"),
        (RunOptions(steps=3), "itself says"),
    ],
)
def test_what_it_cannot_do_is_said(options: RunOptions, said: str) -> None:
    spec = example("load_balancer")
    with pytest.raises(Unsupported, match=said):
        SYSTEM.run(spec, captured(spec), options)


@pytest.mark.parametrize("options", [RunOptions(split=True), RunOptions(capacity=1), RunOptions(collisions=True)])
def test_options_that_it_has(options: RunOptions) -> None:
    spec = example("load_balancer")
    found = SYSTEM.run(spec, captured(spec), options)
    assert found.crash is None
    expected = INTERP.run(spec, found.decided(), replace(options, split=None))
    same(expected, found, "through the system")
