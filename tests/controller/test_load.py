"""Payload is kept off busy servers, as the switch's counters tell; and what else is read there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller import events
from polysome_controller.program import REQUEST_EXTRA

from .conftest import SiteMaker
from .site import INGRESS_EVENTS, POLLING, Site

FRAME = 1000
NOWHERE = 15


class Traffic:
    """What the switch would count: each bucket that has a queue pair carries so much, each server has own work."""

    def __init__(self, s: Site, each: float) -> None:
        self.each = each  # bit/s of a bucket, RoCE headers included
        self.own = [0.0] * len(s.agents)
        self._site = s
        self._written: dict[int, float] = {}

    def placed(self) -> dict[int, list[int]]:
        """Buckets by server; NOWHERE those without a queue pair."""
        found: dict[int, list[int]] = {}
        for (_, bucket), (_, (primary, *_)) in sorted(self._site.switch.rows["Ingress.buckets"].items()):
            found.setdefault(NOWHERE if primary == NOWHERE else primary // 2, []).append(bucket)
        return found

    async def run(self) -> None:
        last = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(0.005)
            now = asyncio.get_running_loop().time()
            self._count(now - last)
            last = now

    def _count(self, seconds: float) -> None:
        switch, size = self._site.switch, FRAME + REQUEST_EXTRA
        for server, own in enumerate(self.own):
            bits = self.each * len(self.placed().get(server, [])) * seconds
            self._written[server] = self._written.get(server, 0.0) + bits / 8
            frames = int(self._written[server] / size)
            self._written[server] -= frames * size
            switch.count("Egress.requests", 40 + server, frames, frames * FRAME)
            port = switch.ports.setdefault(40 + server, pb.PortStatistics(port=40 + server, up=True))
            port.frames_out += frames
            port.bytes_out += frames * size + int(own * seconds / 8)


async def with_traffic(site: SiteMaker, each: float, scenario: Any, **changes: Any) -> None:
    async with site(polling=POLLING, **changes) as s:
        await s.start()
        traffic = Traffic(s, each)
        running = asyncio.ensure_future(traffic.run())
        try:
            await s.until(lambda: all(server.payload for server in s.status().servers))
            await scenario(s, traffic)
        finally:
            running.cancel()


def test_own_work_takes_payload_away_in_proportion_and_gives_it_back(site: SiteMaker) -> None:
    async def scenario(s: Site, traffic: Traffic) -> None:
        assert traffic.placed() == {0: [0, 1, 4, 5, 8, 9, 12, 13], 1: [2, 3, 6, 7, 10, 11, 14, 15]}
        others = {b: s.switch.rows["Ingress.buckets"][(1, b)] for b in traffic.placed()[1]}
        traffic.own[0] = 7e8  # 900 of 1000 Mbit/s may be filled: 200 are left for payload of 400

        def fallen() -> bool:
            load, buckets = s.status().servers[0], len(traffic.placed()[0])
            there = 2 <= buckets <= 4 and (load.buckets, load.own_buckets) == (buckets, 8)
            return there and load.payload <= load.allowed and 1.5e8 < load.allowed < 2.5e8

        await s.until(fallen)
        assert traffic.placed()[0] == [0, 1, 4, 5][: len(traffic.placed()[0])]  # the highest-numbered left
        assert {b: s.switch.rows["Ingress.buckets"][(1, b)] for b in others} == others
        traffic.own[0] = 0.0
        await s.until(lambda: len(traffic.placed()[0]) == 8)
        assert {b: s.switch.rows["Ingress.buckets"][(1, b)] for b in others} == others

    asyncio.run(with_traffic(site, 5e7, scenario))


def test_spare_of_configure_counts_within_three_polls(site: SiteMaker) -> None:
    async def scenario(s: Site, traffic: Traffic) -> None:
        await s.ask("Configure", pb.ConfigureRequest(spare=[pb.Spare(server="memory0", rate=12 * 10**7)]))
        end = asyncio.get_running_loop().time() + 4 * 0.05 + 0.3
        await s.until(lambda: len(traffic.placed()[0]) <= 2)
        assert asyncio.get_running_loop().time() < end
        await s.until(lambda: s.status().servers[0].payload <= s.status().servers[0].allowed)
        await s.stop_controller()  # the next one knows it, too
        s.switch.requests.clear()
        await s.start_controller()
        await s.until(s.all_up)
        await s.until(lambda: s.status().servers[0].payload)
        assert s.status().servers[0].allowed == 12 * 10**7
        await s.until(lambda: s.status().servers[0].buckets == len(traffic.placed()[0]) <= 3)
        written = {u.WhichOneof("what") for request in s.switch.requests for u in request.updates}
        assert "clear" not in written  # nothing is filled anew
        await s.ask("Configure", pb.ConfigureRequest(spare=[pb.Spare(server="memory0", rate=8 * 10**8)]))
        await s.until(lambda: len(traffic.placed()[0]) == 8)

    asyncio.run(with_traffic(site, 5e7, scenario))


def test_an_agents_own_word_counts(site: SiteMaker) -> None:
    async def scenario(s: Site, traffic: Traffic) -> None:
        s.agents[1].spare = 10**8
        await s.until(lambda: len(traffic.placed()[1]) <= 2)
        s.agents[1].spare = 0
        await s.until(lambda: len(traffic.placed()[1]) == 8)

    asyncio.run(with_traffic(site, 5e7, scenario))


def test_without_room_packets_go_whole(site: SiteMaker) -> None:
    async def scenario(s: Site, traffic: Traffic) -> None:
        traffic.own[:] = [7e8, 5.5e8]  # the other one is nearly full, too
        await s.until(lambda: traffic.placed().get(NOWHERE))
        bucket = traffic.placed()[NOWHERE][0]
        assert s.switch.rows["Ingress.buckets"][(1, bucket)] == ("choose", (NOWHERE, 0, NOWHERE, 0))
        assert not s.switch.up(NOWHERE)

    asyncio.run(with_traffic(site, 4e7, scenario))


def test_links_and_drops_are_in_the_status(site: SiteMaker) -> None:
    async def scenario(s: Site, traffic: Traffic) -> None:
        # The first look may have begun before the traffic did.
        await s.until(lambda: any(2e8 < link.out_bps < 6e8 for link in s.status().links if link.port == 40))
        links = {(link.name, link.port): link for link in s.status().links}
        assert set(links) == {
            *{("clients", 0), ("servers", 1), ("servers", 2), ("nf1", 32), ("nf2", 33)},
            *{("memory0", 40), ("memory1", 41)},
        }
        memory = links["memory0", 40]
        assert memory.up and memory.frames_out
        assert {drop.name: drop.value for drop in s.status().drops} == {"not for the VIP": 6}

    asyncio.run(with_traffic(site, 5e7, scenario))


def test_drops_outlive_the_process_that_counted_them(site: SiteMaker) -> None:
    """An NF's, the switch's and those of its program; also when the controller began anew between."""

    def found(s: Site) -> dict[str, int]:
        return {drop.name: drop.value for drop in s.status().drops}

    async def scenario() -> None:
        async with site(polling=POLLING, ingressEvents=INGRESS_EVENTS) as s:
            s.switch.drops = {"queue full": 7}
            s.switch.count("Ingress.events", s.changes["ingressEvents"].index("foreign_answer") << 4, 3)
            await s.start()
            wanted = {"not for the VIP": 6, "switch: queue full": 7, "switch: ingress.foreign_answer": 3}
            await s.until(lambda: found(s) == wanted)
            s.nfs[0].restart()
            await s.until(lambda: found(s)["not for the VIP"] == 9)
            s.switch.restart()
            s.switch.drops = {"queue full": 1}
            await s.until(lambda: found(s)["switch: queue full"] == 8)
            assert found(s)["switch: ingress.foreign_answer"] == 3
            await s.stop_controller()
            s.nfs[0].restart()
            await s.start_controller()
            last = {"not for the VIP": 12, "switch: queue full": 8, "switch: ingress.foreign_answer": 3}
            await s.until(lambda: found(s) == last)

    asyncio.run(scenario())


def test_drops_are_lost_packets_only(site: SiteMaker) -> None:
    """The switch's process counts all that ends in the program, also acknowledgements and sweeps; those are no loss."""

    async def scenario() -> None:
        async with site(polling=POLLING, ingressEvents=(*INGRESS_EVENTS, "ack", "swept")) as s:
            s.switch.drops = {
                **{"ingress: dropped by the program": 1234, "egress: dropped by the program": 56},
                **{"queue full": 7, "egress: parser error": 1},
            }
            for pair, (name, count) in enumerate([("ack", 700), ("swept", 500), ("foreign_answer", 3), ("parked", 90)]):
                s.switch.count("Ingress.events", s.changes["ingressEvents"].index(name) << 4 | pair, count)
            await s.start()
            wanted = {
                **{"not for the VIP": 6, "switch: queue full": 7, "switch: egress: parser error": 1},
                **{"switch: ingress.foreign_answer": 3},
            }
            await s.until(lambda: {drop.name: drop.value for drop in s.status().drops} == wanted)
            assert {e.name: e.value for e in s.status().events}["ingress.swept"] == 500

    asyncio.run(scenario())


def test_forged_frames_are_told_once_in_a_while(site: SiteMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET", 0.4)

    async def scenario() -> None:
        async with site() as s:
            s.switch.count("Ingress.events", INGRESS_EVENTS.index("own_address") << 4, 100)  # before it came
            await s.start()
            await s.until(lambda: any(e.name == "ingress.own_address" and e.value for e in s.status().events))
            assert not s.happened("counted as")
            for pair in range(3):
                s.switch.count("Ingress.events", INGRESS_EVENTS.index("foreign_answer") << 4 | pair, 2)
            await s.until(lambda: s.happened("refused 6 frames, counted as foreign_answer"))
            s.switch.count("Ingress.events", INGRESS_EVENTS.index("foreign_answer") << 4, 5)
            await s.pause(2)
            assert len(s.happened("counted as")) == 1  # not yet
            await s.until(lambda: s.happened("refused 5 frames, counted as foreign_answer"))
            s.switch.count("Ingress.events", INGRESS_EVENTS.index("parked") << 4, 5)
            await s.pause(10)
            assert len(s.happened("counted as")) == 2
            assert {e.name: e.value for e in s.status().events}["ingress.foreign_answer"] == 11

    asyncio.run(scenario())
