"""The whole system does what the interpreter does, byte for byte to the end of each network packet (DESIGN section 6).

Every example over its own captures, and over a few of the real captures in ../shared/captures: others for each example,
all of them small. Without that folder these are skipped. With POLYSOME_ALL_CAPTURES=1 in the environment every example
runs over every capture; it takes ten minutes:

    POLYSOME_ALL_CAPTURES=1 python -m pytest -q -s tests/system/test_transparency.py

The trace that both engines run is the one that `decide` saw. What is lost is what the protocol loses without faults:
frames whose lengths lie, and frames longer than the switch's ports accept.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from tests.semantics.corpus import CAPTURES, EXAMPLES, inputs
from tests.semantics.rules.packets import ethernet, ipv4, ipv6, udp
from tests.system.outcome import SYSTEM
from tests.testing.builtin.networks import captured, example
from tests.testing.builtin.networks import spec as written

from polysome.engines import ENGINES, Engine
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.system import seen
from polysome.engines.trace import Arrival, Trace
from polysome.testing.builtin.compare import same
from polysome.testing.spec import Spec

INTERP = ENGINES["interp"]
ALL = bool(os.environ.get("POLYSOME_ALL_CAPTURES"))
SMALL = 40_000  # bytes of a small capture
EACH = 6  # captures for each example, which has others than the next
UNSPLIT = {"bridge", "router6"}  # no header says how long a packet is; the NF reads more than bytes of the frame
STEP = 20_000  # ns between two packets
TOO_LONG = "longer than the ports accept"
WHOLE = SYSTEM.around("whole")
WRITTEN_NEVER = "switch: the packet was never written"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing())),
]


def compared(spec: Spec, trace: Trace, where: str, system: Engine = SYSTEM) -> Record:
    """The system's run, which is as the interpreter's for what the NF saw."""
    record = system.run(spec.program, trace, RunOptions())
    assert record.crash is None, f"{where}: {record.crash}"
    too_long = sum(len(a.data) > seen.LONGEST for a in trace.arrivals)
    assert len(record.fates) == len(trace.arrivals) - too_long, where
    expected = INTERP.run(spec.program, record.decided(), RunOptions())
    same(expected, record, f"{where}, as a system")
    return record


@pytest.mark.parametrize("name", EXAMPLES)
def test_on_the_captures_of_the_example(name: str, counted: Counter[str]) -> None:
    spec = example(name)
    record = compared(spec, captured(spec), name)
    assert not record.lost
    assert counted["parked"] + counted["whole"] == len(record.fates)


@pytest.mark.parametrize("name", EXAMPLES)
def test_of_whole_packets_on_the_captures_of_the_example(name: str, counted: Counter[str]) -> None:
    spec = example(name)
    record = compared(spec, captured(spec), name, WHOLE)
    assert not record.lost and counted["whole"] == len(record.fates) > 0
    assert set(counted) <= {"whole", "whole_frame", "returned", "out"}


def _chosen(name: str) -> list[Path]:
    """Captures for the example: all, or some of the small ones."""
    if ALL:
        return CAPTURES
    small = [path for path in CAPTURES if path.stat().st_size <= SMALL]
    return small[EXAMPLES.index(name) :: len(EXAMPLES)][:EACH]


@pytest.mark.skipif(not CAPTURES, reason="the folder of real captures is not here")
@pytest.mark.timeout(3600 if ALL else 600)
@pytest.mark.parametrize("name", EXAMPLES)
def test_on_real_captures(name: str, counted: Counter[str]) -> None:
    record = _on_captures(name, SYSTEM, counted)
    if ALL:
        assert bool(counted["parked"]) == (name not in UNSPLIT)
        assert not counted["down"] and not counted["edits_given_up"]
    assert record <= {WRITTEN_NEVER, TOO_LONG}


@pytest.mark.skipif(not CAPTURES, reason="the folder of real captures is not here")
@pytest.mark.timeout(3600 if ALL else 600)
@pytest.mark.parametrize("name", EXAMPLES)
def test_of_whole_packets_on_real_captures(name: str, counted: Counter[str]) -> None:
    """Frames whose lengths lie are lost by nobody: what came is what the NF gets."""
    assert _on_captures(name, WHOLE, counted) <= {TOO_LONG}
    assert not counted["parked"] and counted["whole_frame"]


def _on_captures(name: str, system: Engine, counted: Counter[str]) -> set[str]:
    """Why packets were lost, if any were."""
    packets, lost = 0, Counter[str]()
    for run in inputs(name, _chosen(name)):
        if not run.arrivals:
            continue
        spec = Spec(Path(f"{name}.nf"), run.setting.program)
        record = compared(spec, Trace(run.values, tuple(Arrival(*a) for a in run.arrivals)), run.where, system)
        packets += len(run.arrivals)
        lost.update(record.lost.values())
        lost[TOO_LONG] += len(run.arrivals) - len(record.fates)
    print(f"{name}: {packets} packets, {counted['parked']} of them split, lost: {dict(+lost)}; {dict(counted)}")
    assert packets
    return set(+lost)


MANY_EDITS = """
use net.l4;
nf renumber {
  port a, b;
  relevant ethernet.dst, ipv4.ttl when ipv4 else drop "another";
  on packet {
    ethernet.dst = 02:00:00:00:00:01;
    ethernet.src = 02:00:00:00:00:02;
    if ipv6 { ipv6.src = 2001:db8::1; ipv6.dst = 2001:db8::2; }
    if ipv4 { ipv4.ttl -= 1; }
    send b;
  }
}
"""


def test_edits_that_a_smallest_frame_has_no_room_for(counted: Counter[str]) -> None:
    """44 bytes of one class, 13 of the other: all edits frames of the NF are as long as the longest."""
    renumber = written(MANY_EDITS)
    packets = [ethernet(ipv6(udp(bytes(n)))) if n % 2 else ethernet(ipv4(udp(bytes(n)))) for n in range(200, 240)]
    compared(renumber, Trace({}, tuple(Arrival(0, STEP * n, data) for n, data in enumerate(packets, 1))), "renumber")
    assert counted["parked"] == counted["merged"] == len(packets) and not counted["long"]


# ---------------------------------------------------------------- frames whose lengths lie


def _lying(trace: Trace) -> Trace:
    """Between its packets, some of them too short for what they claim, with trailers, and with far too long ones."""
    long = [a for a in trace.arrivals if len(a.data) > 150][:12]
    assert long
    found: list[Arrival] = []

    def add(arrival: Arrival, data: bytes) -> None:
        found.append(Arrival(arrival.port, trace.arrivals[0].time + STEP * len(found), data))

    for n, honest in enumerate(trace.arrivals[:60]):
        add(honest, honest.data)
        liar = long[n % len(long)]
        add(liar, liar.data[: 20 + 37 * n % (len(liar.data) - 20)])
        add(liar, liar.data + bytes(n % 9))
        add(liar, liar.data + bytes(1900 + n))
    return Trace(trace.config, tuple(found))


def test_of_whole_packets_frames_whose_lengths_lie(counted: Counter[str]) -> None:
    spec = example("firewall")
    record = compared(spec, _lying(captured(spec)), "firewall", WHOLE)
    assert not record.lost and counted["whole"] == len(record.fates)


@pytest.mark.parametrize("name", ["firewall", "nat", "policer", "shaper"])
def test_frames_whose_lengths_lie_are_lost_and_nothing_else_is(name: str, counted: Counter[str]) -> None:
    """The shaper and the policer let them take their part of the rate: that they lie is seen behind the schedule."""
    spec = example(name)
    trace = _lying(captured(spec))
    record = compared(spec, trace, name)
    assert set(record.lost.values()) <= {WRITTEN_NEVER}
    assert counted["short"] and counted["long"]
    assert counted["foreign_cell"] >= len(record.lost) > 0
    short = {fate.number for fate in record.fates if fate.arrival.data not in {a.data for a in trace.arrivals}}
    assert short and not any(record.fates[n].copies for n in short)


def test_frames_that_are_never_written_make_no_queue_pair_look_silent(counted: Counter[str]) -> None:
    """What the NF drops of them is never read either, so nothing about them is ever answered."""
    spec = example("firewall")
    trace = captured(spec)
    outside = spec.program.ports.index("outside")
    victim = next(a for a in trace.arrivals if len(a.data) > 150)
    lies = [Arrival(outside, victim.time + n * 10**9, victim.data[:100]) for n in range(4)]
    record = compared(spec, Trace(trace.config, tuple(lies)), "firewall")
    assert counted["short"] == len(lies) and record.drops
    assert not counted["silent"] and not counted["resync"] and not counted["down"]
