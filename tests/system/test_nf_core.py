"""The NF's core in time: bursts, a queue, and what is not decided when the run ends."""

from __future__ import annotations

import pytest
from tests.system.at_work import (
    SECOND,
    START,
    at,
    at_work,
    designed,
    ports_without_rates,
    run_of,
    through,
    whole,
    without_rates,
)

from polysome.backends.system import structs
from polysome.backends.system.abi import Kind
from polysome.backends.system.cables import CABLE
from polysome.engines import ENGINES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"


def test_frames_that_wait_are_decided_in_bursts() -> None:
    def changed(system: structs.System) -> None:
        without_rates(system)
        system.nf_burst, system.nf_frame_time = 4, 1000

    with at_work(*designed(NAME), changed=changed) as system:
        ports_without_rates(system)
        system.arrive([at(n * 10, whole()) for n in range(21)])
        system.finish()
        decided = system.of(Kind.decided)
        assert [it.number for it in decided] == list(range(21))
        bursts = [1, *[4] * 5]  # one frame, then as many as there are
        ends = [1000, *range(5000, 25_000, 4000)]
        begins = [0, *ends[:-1]]
        times = [begin for begin, count in zip(begins, bursts, strict=True) for _ in range(count)]
        assert [it.time - START - 2 * CABLE for it in decided] == times
        done = [end for end, count in zip(ends, bursts, strict=True) for _ in range(count)]
        assert [it.time - START - 4 * CABLE for it in system.of(Kind.left)] == done
        assert system.counters["nf bursts"] == 6


def test_the_end_tells_the_nfs_time() -> None:
    system = through(designed(NAME), at(0, whole()), at(300_000, whole()))
    assert system.records[-1].kind == Kind.end
    assert system.records[-1].time == system.of(Kind.decided)[1].time > START + 300_000


@pytest.mark.parametrize(("until", "lost"), [("", True), ("2s", True), ("500ms", False)])
def test_a_run_ends_even_if_the_nf_is_stuck_for_good(until: str, lost: bool) -> None:
    """It waits for a second after the last packet."""
    spec, design = designed(NAME)
    with at_work(spec, design, run_of(spec, design, f"nf:stuck@0us..{until}")) as system:
        system.arrive([at(0, whole())])
        system.finish()
        assert [system.running.cause(it.port) for it in system.of(Kind.lost)] == ["on the way at the end"] * lost
        assert [it.time - START for it in system.of(Kind.decided)] == [SECOND // 2] * (not lost)
        assert system.counters["time"] <= START + SECOND


def test_the_queue_of_a_stuck_nf_holds_what_it_holds() -> None:
    def changed(system: structs.System) -> None:
        system.nf_queue = 10

    spec, design = designed(NAME)
    with at_work(spec, design, run_of(spec, design, "nf:stuck@0us..1ms"), changed) as system:
        system.arrive([at(n * 2000, whole()) for n in range(30)])
        system.finish()
        assert [it.packet for it in system.of(Kind.decided)] == list(range(10))
        assert {it.time for it in system.of(Kind.decided)} == {START + 1_000_000}
        assert [system.running.cause(it.port) for it in system.of(Kind.lost)] == ["nf: receive queue full"] * 20
        assert system.counters["nf receive queue full"] == 20
