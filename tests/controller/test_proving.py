"""No queue pair has traffic before packets came back from it; what is missing is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from polysome_controller import control_pb2 as pb

from .conftest import SiteMaker
from .fake_wire import BRING_UP, FakeWire
from .site import Site

QUICK = {"queuePairs": 10**7, "load": 10**10, "health": 5 * 10**7, "deadline": 2 * 10**8, "misses": 3, "probes": 10**9}


def test_each_pair_is_proved_with_each_length_before_it_is_up(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(bringUp=BRING_UP) as s:
            ups: list[bool] = []
            wire.parked = lambda pair, packet: ups.append(s.switch.up(pair)) or packet  # type: ignore[func-returns-value]
            await s.start()
            assert sorted(wire.sent) == [(pair, length) for pair in range(4) for length in (100, 777, 1500)]
            assert ups == [False] * 12
            assert wire.interface == "cpu0"
            assert len(s.happened("are proved in")) == 2
            rows = s.switch.rows
            probes = {key[1]: row[1] for key, row in rows["Ingress.buckets"].items() if key[0] == 6}
            assert probes == {pair: (pair, 40 + pair // 2, pair, 40 + pair // 2) for pair in range(4)}
            links = {key[1]: row[1] for key, row in rows["Ingress.nf_links"].items() if key[0] == 255}
            assert links == {0: (64, 0), 1: (64, 5), 2: (64, 6)}
            assert (s.switch.mirrors[5], s.switch.mirrors[6]) == ((64, 51), (64, 67))
            assert rows["Ingress.verdicts"][(0x4000,)] == rows["Ingress.verdicts"][(255,)] == ("send", (64,))
            assert (s.switch.roles[64].role, s.switch.roles[64].index) == (6, 255)

    asyncio.run(scenario())


def test_a_pair_that_went_down_is_proved_again_alone(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(bringUp=BRING_UP) as s:
            await s.start()
            wire.sent.clear()
            s.switch.take_down(1)
            await s.until(lambda: s.status().queue_pairs[1].restores == 1)
            assert wire.sent == [(1, 100), (1, 1500), (1, 777)]

    asyncio.run(scenario())


def test_one_pair_that_is_not_proved_leaves_the_others_up(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(bringUp=BRING_UP, polling=QUICK) as s:
            wire.back = lambda pair, packet: None if pair == 1 else packet + bytes(4)
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.switch.up(0) and "queue pair 1 is not proved" in s.part("memory0").detail)
            assert not s.switch.up(1) and s.status().queue_pairs[1].state != "up"
            assert s.part("memory0").state == "up" and s.status().queue_pairs[1].reason
            wire.back = lambda pair, packet: packet + bytes(4)
            await s.until(lambda: s.all_up() and "queue pair" not in s.part("memory0").detail)

    asyncio.run(scenario())


def test_what_is_not_proved_is_not_taken_over_as_up(site: SiteMaker, wire: FakeWire) -> None:
    async def scenario() -> None:
        async with site(bringUp=BRING_UP, polling=QUICK) as s:
            wire.back = lambda pair, packet: None
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("memory0").state == "refused")
            await s.stop_controller()
            wire.sent.clear()
            wire.back = lambda pair, packet: packet + bytes(4)
            await s.start_controller()
            await s.until(s.all_up)
            assert {pair for pair, _ in wire.sent} == {0, 1, 2, 3}

    asyncio.run(scenario())


Fault = Callable[[Site, FakeWire], None]


def counts(name: str) -> Fault:
    """Nothing comes back, and the agents count it so."""

    def fault(s: Site, wire: FakeWire) -> None:
        def lost(pair: int, packet: bytes) -> bytes | None:
            agent = s.agents[pair // 2]
            agent.counters[name] = agent.counters.get(name, 0) + 2
            return None

        wire.back = lost

    return fault


def wrong(back: Callable[[bytes], bytes | None]) -> Fault:
    def fault(s: Site, wire: FakeWire) -> None:
        wire.back = lambda pair, packet: back(packet)

    return fault


def too_long(s: Site, wire: FakeWire) -> None:
    """The WRITE is lost, and the READ behind it is out of sequence."""

    def back(pair: int, packet: bytes) -> bytes | None:
        if len(packet) <= 1400:
            return packet + bytes(4)
        for name in ("refused", "nak_sequence_error"):
            s.agents[pair // 2].counters[name] = s.agents[pair // 2].counters.get(name, 0) + 1
        return None

    wire.back = back


def not_sent(s: Site, wire: FakeWire) -> None:
    wire.failure = "Network is down"


def not_split(s: Site, wire: FakeWire) -> None:
    wire.parked = lambda pair, packet: None


def fields_lost(s: Site, wire: FakeWire) -> None:
    def parked(pair: int, packet: bytes) -> bytes | None:
        s.switch.count("Ingress.events", 4 << 4 | pair, 1)  # the fifth event
        return None

    wire.parked = parked


def other_length(s: Site, wire: FakeWire) -> None:
    wire.parked = lambda pair, packet: packet[:-1]


def one_bit(packet: bytes) -> bytes:
    return packet[:57] + bytes([packet[57] ^ 1]) + packet[58:] + bytes(4)


FAULTS: dict[str, tuple[Fault, str]] = {
    "no ICRC": (counts("dropped_truncated"), "the requests lack their four bytes of ICRC"),
    "no ICRC, by its length": (counts("dropped_bad_length"), "setting `the ASIC's` of switch port 4"),
    "a NIC that checks": (counts("dropped_bad_icrc"), "the NIC must accept any: setting `the NIC's`"),
    "a ConnectX that checks": (counts("rx_icrc_encapsulated"), "the NIC must accept any"),
    "a smaller path MTU": (counts("nak_invalid_request"), "its path MTU must be the program's"),
    "nobody says why": (
        wrong(lambda packet: None),
        "setting `the ASIC's`), and the NIC accept any (setting `the NIC's`)",
    ),
    "a smaller MTU of a link": (too_long, "needs an MTU of 1568 B"),
    "a wrong byte": (wrong(one_bit), "1 wrong bytes, the first at 57"),
    "a packet that is cut": (wrong(lambda packet: packet[:-1]), "came back 99 B of it"),
    "a packet with more behind it": (wrong(lambda packet: packet + bytes(8)), "8 B behind it"),
    "an interface that is down": (not_sent, "cannot be sent to cpu0: Network is down"),
    "another port of the switch": (not_split, "did not reach the switch by cpu0, at switch port 64"),
    "fields that are lost": (fields_lost, "was parked, and its fields did not come back by cpu0"),
    "another program": (other_length, "came a frame about 99 B, not 100 B"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_missing_is_named(site: SiteMaker, wire: FakeWire, name: str) -> None:
    fault, text = FAULTS[name]

    async def scenario() -> None:
        async with site(bringUp=BRING_UP, polling=QUICK) as s:
            fault(s, wire)
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: all(s.part(f"memory{i}").state == "refused" for i in range(2)))
            status = s.status()
            assert all(text in s.part(f"memory{i}").detail for i in range(2)), s.part("memory0").detail
            assert [pair.state for pair in status.queue_pairs if pair.state == "up"] == []
            assert text in status.queue_pairs[0].reason
            assert not any(s.switch.up(pair) for pair in range(4))

    asyncio.run(scenario())


def test_it_is_said_once(site: SiteMaker, wire: FakeWire) -> None:
    """It is tried again all the time."""

    async def scenario() -> None:
        async with site(bringUp=BRING_UP, polling=QUICK) as s:
            counts("dropped_truncated")(s, wire)
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: len(wire.sent) >= 16)
            assert len(s.happened("lack their four bytes")) == 2

    asyncio.run(scenario())


@pytest.mark.parametrize("change", [{"appendIcrc": False}, {"role": 1}])
def test_a_switch_that_does_not_do_what_it_was_told_is_refused(site: SiteMaker, change: dict[str, Any]) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.switch.settings[40] = pb.Port(
                port=40, role=change.get("role", 3), index=0, append_icrc=change.get("appendIcrc", True)
            )
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("switch").state == "refused")
            assert "port 40 is not as it was set" in s.part("switch").detail

    asyncio.run(scenario())
