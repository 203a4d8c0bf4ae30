"""Who answers, and loses every packet, is failing: probes through every queue pair and NF server say so."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller import data_path, proving
from polysome_controller.metrics import families
from polysome_controller.probe_frames import packet_of, wrong_packet
from polysome_controller.switch import SwitchAway

from .conftest import SiteMaker
from .fake_wire import BRING_UP, PIECES, FakeWire
from .site import Site

QUICK = {
    "queuePairs": 10**7,
    "load": 10**10,
    "health": 5 * 10**7,
    "deadline": 3 * 10**8,
    "misses": 6,
    "probes": 2 * 10**7,
}
NF1, NF2 = 32, 33  # switch ports


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_path, "SECONDS", 0.3)


def states(s: Site) -> dict[str, str]:
    status = s.status()
    return {p.name: p.state for p in status.parts} | {str(q.index): q.state for q in status.queue_pairs}


def changed(s: Site) -> dict[str, str]:
    """What is not as it is when nothing is wrong."""
    return {name: state for name, state in states(s).items() if state not in ("up", "standby")}


def lost(pair: int, packet: bytes) -> None:
    return None


def started(**changes: Any) -> dict[str, Any]:
    return {"bringUp": BRING_UP, "polling": QUICK, **changes}


def test_probes_go_through_all_that_is_up_and_are_counted(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            await s.start()
            await s.until(lambda: len({p[:2] for p in wire.through}) == 8)
            await s.until(lambda: all(c.back for c in s.status().probes) and len(s.status().probes) == 8)
            assert {length for _, _, length in wire.through} == {100}  # the least one is enough, and disturbs nobody
            counts = s.status().probes
            assert {(c.nf, c.queue_pair) for c in counts} == {(nf, q) for nf in ("nf1", "nf2") for q in range(4)}
            assert all(0 <= c.sent - c.back <= 1 and c.took for c in counts)
            active = [sum(1 for port, pair, _ in wire.through if (port, pair) == (NF1, q)) for q in range(4)]
            standby = sum(1 for port, _, _ in wire.through if port == NF2)
            assert max(active) - min(active) <= 1 and abs(standby - active[0]) <= 1  # one for each look
            assert changed(s) == {} and not s.happened("failing")

    asyncio.run(scenario())


def test_probes_come_one_by_one_and_each_round_in_its_time(site: SiteMaker, wire: FakeWire) -> None:
    """Of all queue pairs at once, they would fill a queue of a slow link."""
    interval, pairs = 0.4, 8

    async def scenario() -> None:
        async with site(**started(pairs=pairs // 2, polling={**QUICK, "probes": int(interval * 1e9)})) as s:
            await s.start()
            sent: list[float] = []
            wire.answers[NF1] = lambda pair, packet: sent.append(time.monotonic()) or packet  # type: ignore[func-returns-value]
            await s.until(lambda: len(sent) >= 6 * pairs)
            gaps = [later - before for before, later in pairwise(sent)]
            gap = data_path.SPREAD * interval / pairs
            assert sum(between < gap / 2 for between in gaps) < len(gaps) / 8, gaps
            assert 0.5 < (sent[4 * pairs] - sent[0]) / (4 * interval) < 2

    asyncio.run(scenario())


def test_queue_pairs_of_a_server_that_stopped_go_down_together(
    site: SiteMaker, wire: FakeWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch finds each by a probe, and the next of a round would go in minutes; a proof of the first one comes
    between, and takes its time."""
    monkeypatch.setattr(data_path, "LONGEST", 1000.0)
    monkeypatch.setattr(proving, "APART", 0.05)

    async def scenario() -> None:
        async with site(**started(pairs=7, polling={**QUICK, "probes": 1000 * 10**9, "health": 10**10})) as s:
            await s.start_parts()
            await s.start_controller()
            await s.until(s.all_up)
            down: set[int] = set()
            lost: list[int] = []
            at_proof: list[set[int]] = []

            def stopped(pair: int, packet: bytes) -> bytes | None:
                if pair >= 7:
                    return packet
                down.add(pair)
                s.switch.take_down(pair)
                return None

            def parked(pair: int, packet: bytes) -> bytes | None:
                lost.append(pair)
                at_proof.append(set(down))
                return packet if len(lost) > 2 else None

            wire.answers[NF1], wire.parked = stopped, parked
            s.switch.take_down(3)
            await s.until(lambda: down >= {0, 1, 2, 4, 5, 6})
            assert lost[0] == 3 and at_proof[0] < {0, 1, 2, 4, 5, 6}
            wire.answers.clear()
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_those_that_are_doubted_are_asked_once(
    site: SiteMaker, wire: FakeWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One went down, and it was that one's own fault."""
    monkeypatch.setattr(data_path, "LONGEST", 1000.0)

    async def scenario() -> None:
        async with site(**started(pairs=4, polling={**QUICK, "probes": 1000 * 10**9, "health": 10**10})) as s:
            await s.start_parts()
            await s.start_controller()
            await s.until(s.all_up)
            wire.through.clear()
            s.switch.take_down(2)
            await s.until(lambda: len(wire.through) >= 3 and s.all_up())
            await s.pause()
            assert [pair for _, pair, _ in wire.through] == [0, 1, 3]

    asyncio.run(scenario())


def test_an_nf_that_loses_everything_is_failing_and_says_when_it_is_well(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            await s.start()
            wire.answers[NF1] = lost
            await s.until(lambda: changed(s) == {"nf1": "failing"})
            assert "none comes back; those that the controller answers do" in s.part("nf1").detail
            assert len(s.happened("failing")) == 1
            up = {m.labels["part"]: m.value for f in families(s.status(), {}) for m in f.samples if "part_up" in m.name}
            assert up["nf1"] == 0 and up["nf2"] == 1
            del wire.answers[NF1]
            await s.until(lambda: not changed(s))
            assert len(s.happened("probes come back again")) == 1 and not s.part("nf1").detail

    asyncio.run(scenario())


def test_a_standby_that_loses_everything_is_failing(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            await s.start()
            wire.answers[NF2] = lost
            await s.until(lambda: changed(s) == {"nf2": "failing"})

    asyncio.run(scenario())


@pytest.mark.parametrize("pairs", [(2,), (0, 1), (0, 1, 2, 3)])
def test_queue_pairs_that_lose_everything_are_failing_and_no_nf_is(
    site: SiteMaker, wire: FakeWire, pairs: tuple[int, ...]
) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            await s.start()
            wire.back = lambda pair, packet: None if pair in pairs else packet + bytes(4)
            await s.until(lambda: changed(s) == {str(pair): "failing" for pair in pairs})
            why = s.status().queue_pairs[pairs[0]].reason
            assert why.startswith(f"queue pair {pairs[0]} is failing: nothing came back of a WRITE of 100 B to memory")
            assert s.part(f"memory{pairs[0] // 2}").detail == why
            gauge = next(f for f in families(s.status(), {}) if f.name == "polysome_queue_pairs")
            assert sum(m.value for m in gauge.samples if m.labels["state"] == "failing") == len(pairs)
            wire.back = lambda pair, packet: packet + bytes(4)
            await s.until(lambda: not changed(s))
            assert len(s.happened("again")) == len(pairs)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("answer", "failing"),
    [
        (lambda packet: packet[:24] + bytes(4) + packet[28:], True),  # no field that it may write
        (lambda packet: packet[:23] + b"\xee" + packet[24:], False),
        (lambda packet: packet[:-1] + bytes([packet[-1] ^ 1]), True),
        (lambda packet: packet[:-1], True),
        (lambda packet: bytes(100), True),
    ],
)
def test_only_what_an_nf_may_write_may_differ(
    site: SiteMaker, wire: FakeWire, answer: Callable[[bytes], bytes], failing: bool
) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            wire.answers[NF1] = lambda pair, packet: answer(packet)
            await s.start()
            if failing:
                await s.until(lambda: changed(s) == {"nf1": "failing"})
            else:
                await s.until(lambda: any(c.nf == "nf1" and c.back > 20 for c in s.status().probes))
                assert not s.happened("failing")

    asyncio.run(scenario())


def test_an_earlier_probe_that_comes_late_is_not_taken_for_this_one(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            before: dict[int, bytes] = {}

            def late(pair: int, packet: bytes) -> bytes | None:
                packet, before[pair] = before.get(pair, b""), packet
                return packet or None

            wire.answers[NF1] = late
            await s.start()
            await s.until(lambda: states(s)["nf1"] == "failing")
            wire.answers[NF1] = lambda pair, packet: wire._answer(late(pair, packet)) or packet  # type: ignore[func-returns-value]
            await s.until(lambda: not changed(s))

    asyncio.run(scenario())


def test_a_few_that_are_lost_are_no_failure(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            asked = iter(range(10**9))
            wire.answers[NF1] = lambda pair, packet: None if next(asked) % 16 < 12 else packet
            await s.start()
            await s.until(lambda: sum(c.sent - c.back for c in s.status().probes) > 30)
            assert not s.happened("failing")

    asyncio.run(scenario())


def test_a_proof_goes_before_and_its_frames_come_to_the_controller(site: SiteMaker, wire: FakeWire) -> None:
    """Every round would wait for a probe that is lost."""

    async def scenario() -> None:
        async with site(**started(polling={**QUICK, "deadline": 10**9})) as s:
            await s.start()
            wire.answers[NF1] = lambda pair, packet: None if pair == 0 else packet
            await s.until(lambda: wire.through and wire.through[-1][:2] == (NF1, 3))  # it waits for queue pair 0
            wire.sent.clear()
            s.switch.take_down(1)
            await s.until(lambda: s.status().queue_pairs[1].restores == 1)
            assert {pair for pair, _ in wire.sent} >= {1}

    asyncio.run(scenario())


def test_a_server_that_is_proved_in_vain_for_ever_hides_nothing_of_the_others(site: SiteMaker, wire: FakeWire) -> None:
    """It is the least trusted machine: it may have itself proved again and again, and answer nothing."""

    async def scenario() -> None:
        async with site(**started(polling={**QUICK, "deadline": 5 * 10**7})) as s:
            await s.start()
            prover = s._controller._prover
            over = False

            async def in_vain() -> None:
                while not over:
                    with contextlib.suppress(SwitchAway):  # 50 ms are short where much else goes on
                        assert set(await prover.prove([3])) == {3}

            wire.parked = lambda pair, packet: None if pair == 3 else packet
            proofs = [asyncio.ensure_future(in_vain()) for _ in range(3)]
            wire.through.clear()
            await s.until(lambda: len({pair for _, pair, _ in wire.through}) == 4)
            wire.back = lambda pair, packet: None if pair == 0 else packet + bytes(4)
            await s.until(lambda: states(s)["0"] == "failing")
            assert states(s)["1"] == states(s)["2"] == "up"
            over = True
            await asyncio.gather(*proofs)

    asyncio.run(scenario())


def test_a_proof_that_cannot_begin_ends_its_round_and_nothing_else(site: SiteMaker, wire: FakeWire) -> None:
    """The switch has gone when it is to be told where fields go."""

    async def scenario() -> None:
        async with site(**started(polling={**QUICK, "probes": 10**9, "health": 10**10})) as s:
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.all_up() and wire.through)
            prover, switch = s._controller._prover, s._controller._switch
            await s.until(lambda: prover._round is not None)
            run, switch.boot = switch.boot, 0
            with pytest.raises(SwitchAway):
                await prover.prove([0])
            switch.boot = run
            wire.through.clear()
            await s.until(lambda: len({pair for _, pair, _ in wire.through}) == 4)

    asyncio.run(scenario())


def test_a_switch_that_began_anew_is_told_again_where_probes_go(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(**started()) as s:
            await s.start()
            await s.until(lambda: any(c.back for c in s.status().probes))
            s.switch.restart()
            await s.until(lambda: s.happened("is filled: ")[1:] and s.all_up())
            wire.through.clear()
            await s.until(lambda: {port for port, _, _ in wire.through} == {NF1, NF2} and not changed(s))

    asyncio.run(scenario())


def test_what_is_free_may_be_anything() -> None:
    packet = packet_of(pb.Probe(headers=bytes(34), length=60), 3)
    other = bytearray(packet)
    other[23] ^= 0xFF
    other[25] ^= 0x0F
    assert wrong_packet(bytes(other), packet, PIECES) == ""
    assert "2 wrong bytes, the first at 23" in wrong_packet(bytes(other), packet)
    other[25] ^= 0x10
    assert "1 wrong bytes, the first at 25" in wrong_packet(bytes(other), packet, PIECES)
    assert wrong_packet(bytes(other[:59]), packet, PIECES) == "59 B of it"


def test_the_least_of_each_way() -> None:
    probes = [pb.Probe(way=way, length=length) for way, length in ((1, 70), (1, 60), (2, 90), (1, 1500), (2, 91))]
    assert [(p.way, p.length) for p in data_path.least_of_each_way(probes)] == [(1, 60), (2, 90)]


@pytest.mark.parametrize(("count", "most"), [(0, 4), (3, 4), (4, 4), (5, 4), (9, 4), (7, 1)])
def test_all_have_their_turn(count: int, most: int) -> None:
    pairs = list(range(10, 10 + count))
    turns = [data_path._in_turn(pairs, most, turn) for turn in range(max(1, count))]
    assert all(len(set(turn)) == len(turn) == min(count, most) for turn in turns)
    asked = [sum(pair in turn for turn in turns) for pair in pairs]
    assert not asked or min(asked) >= 1
    assert count <= most or max(asked) - min(asked) <= 1
