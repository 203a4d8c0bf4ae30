"""What the tables hold when everything is up, and that nothing is up before its server is ready."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import pytest

from polysome_controller.driver import Put, SetGroup
from polysome_controller.layout import layout_of, number_of
from polysome_controller.tables import Tables
from polysome_protocol import LAST_SEQ

from .conftest import SiteMaker
from .site import INGRESS_EVENTS, POLLING, Site


def test_everything_is_filled(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            rows = s.switch.rows
            assert set(rows["Ingress.buckets"]) == {(1, bucket) for bucket in range(16)}
            assert rows["Ingress.buckets"][(1, 0)] == ("choose", (0, 40, 2, 41))
            assert rows["Ingress.buckets"][(1, 3)] == ("choose", (3, 41, 0, 40))
            assert {key: row[1] for key, row in rows["Ingress.nf_links"].items()} == {
                (port, way): (32, way) for port in (0, 1) for way in (0, 1, 2)
            }
            assert s.switch.mirrors == {1: (32, 51), 2: (32, 67), 3: (33, 51), 4: (33, 67)}
            assert rows["Ingress.verdicts"] == {(0,): ("send", (0,)), (1,): ("send", (1,)), (0x8003,): ("flood", (1,))}
            assert s.switch.groups == {1: (0, 1), 2: (41,), 3: (40,)}
            assert rows["Ingress.floods"] == {(40,): ("flood_station", (2,)), (41,): ("flood_station", (3,))}
            stations = {key[0]: row[1][0] for key, row in rows["Ingress.stations"].items()}
            assert stations == {0x020000000100: 40, 0x020000000101: 41, 0x020000000301: 1}, "and no NF's"
            assert rows["Egress.nf_stations"] == {(32,): ("nf", (0x020000000201,)), (33,): ("nf", (0x020000000202,))}
            assert rows["Ingress.servers"] == {(pair,): ("to_server", (40 + pair // 2,)) for pair in range(4)}
            assert rows["Egress.servers"][(41,)] == ("server", (0x020000000101, 0xC613FF11, 0x1001))
            assert s.switch.meters["Ingress.fallback"].rate == 10**8
            assert (s.switch.generator.port, s.switch.generator.count) == (69, 4)
            roles = {port: (p.role, p.index) for port, p in s.switch.roles.items()}
            assert roles == {
                **{0: (1, 0), 1: (1, 1), 2: (1, 1), 32: (2, 0), 33: (2, 1)},
                **{40: (3, 0), 41: (3, 1), 68: (4, 0), 69: (5, 0)},
            }
            assert s.switch.roles[40].append_icrc and s.switch.roles[68].loopback

    asyncio.run(scenario())


def test_what_is_to_a_group_goes_to_all_other_ports_of_stations(certificates: Path, tmp_path: Path) -> None:
    """Servers' and plain ones; a station at a port of another role is not among them."""
    others = (0, 2, 6, 32, 33, 40, 64, 68, 69)  # but for 6 and 40 of traffic, NFs, the controller, the switch itself
    stations = [{"mac": f"02:00:00:00:03:{port:02x}", "port": port} for port in (5, *others)]
    many = Site(certificates, tmp_path, stations=stations, bringUp={"port": 64, "probes": [{"way": 1}]})
    assert floods(many) == {5: (6, 40, 41), 6: (5, 40, 41), 40: (5, 6, 41), 41: (5, 6, 40)}
    assert floods(Site(certificates, tmp_path, servers=1, stations=stations[:1])) == {5: (40,), 40: (5,)}
    assert floods(Site(certificates, tmp_path, servers=1, stations=[])) == {}, "nobody else is there"


def floods(site: Site) -> dict[int, tuple[int, ...]]:
    """Where frames to a group go, by the port where they come in; each has a group of its own."""
    config = site.config()
    updates = Tables(config, layout_of(config)).everything(0, (), 0, 0)
    groups = [update for update in updates if isinstance(update, SetGroup)]
    members = {update.group: update.ports for update in groups}
    assert len(members) == len(groups)
    entries = [update for update in updates if isinstance(update, Put) and update.table == "Ingress.floods"]
    return {update.key[0][1]: members[update.parameters[0][1]] for update in entries}


def test_queue_pairs_have_both_sides_numbers(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            for pair in range(4):
                agent, own = s.agents[pair // 2], pair % 2
                made, number = agent.pairs[own], number_of(1, pair, 4)
                assert made.peer == number
                assert s.switch.rows["Ingress.answers"][(40 + pair // 2, number)] == ("answered", (pair,))
                assert s.switch.rows["Egress.queue_pairs"][(pair,)] == ("remote", (made.number,))
                assert s.switch.cells["Egress.psns", "", pair] == made.psn
                assert s.switch.cells["Ingress.acknowledged", "", pair] == made.psn
            assert s.agents[0].log == ["clear", "reset 0", "reset 1"]

    asyncio.run(scenario())


@pytest.mark.parametrize("order", range(4))
def test_parts_come_in_any_order(site: SiteMaker, order: int) -> None:
    async def scenario() -> None:
        async with site() as s:
            for part in s.parts:
                await part.start()  # to have a port
                await part.stop()
            await s.start_controller()
            await s.pause(2)
            parts = s.parts[order:] + s.parts[:order]
            for part in parts if order % 2 else reversed(parts):
                await part.start()
                await s.pause(2)
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_one_server_alone_serves(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start_parts()
            await s.agents[1].stop()
            await s.start_controller()
            await s.until(lambda: s.switch.up(0) and s.switch.up(1) and s.part("memory1").state == "down")
            assert not s.switch.up(2) and not s.switch.up(3)
            await s.agents[1].start()
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_a_server_without_queue_pairs_has_its_own_traffic(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.agents[1].count = 0
            s.agents[1].restart()
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: (0x020000000101,) in s.switch.rows["Ingress.stations"])
            await s.until(s.all_up)
            assert (41,) not in s.switch.rows["Egress.servers"] and s.agents[1].log == []
            s.switch.restart()
            await s.until(lambda: (0x020000000101,) in s.switch.rows["Ingress.stations"])

    asyncio.run(scenario())


def test_a_restart_of_the_switch_fills_it_anew(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            for agent in s.agents:
                agent.log.clear()
            await s.switch.stop()
            s.switch.restart()
            await s.switch.start()
            await s.until(lambda: s.switch.rows["Ingress.buckets"])
            await s.until(s.all_up)
            assert all(agent.log == ["clear", "reset 0", "reset 1"] for agent in s.agents)
            assert len(s.switch.rows["Ingress.answers"]) == 4
            assert len(s.switch.rows["Ingress.stations"]) == 3

    asyncio.run(scenario())


def test_a_switch_that_begins_anew_numbers_packets_far_from_before(site: SiteMaker) -> None:
    """An NF's schedule may hold edits of packets that were parked before: they must not be taken for others'."""

    def known(s: Site) -> int:
        return next((event.value for event in s.status().events if event.name == "ingress.parked"), 0)

    async def scenario() -> None:
        async with site(polling=POLLING) as s:
            await s.start()
            event, last = INGRESS_EVENTS.index("parked") << 4, s.switch.cells["Ingress.counter", "", 0]
            for total, count in ((5, 5), (5, 0), (5 + LAST_SEQ // 4 * 3, LAST_SEQ // 4 * 3)):
                s.switch.count("Ingress.events", event, count)
                await s.until(lambda total=total: known(s) == total)
                await s.stop_controller()
                s.switch.restart()
                await s.start_controller()
                await s.until(lambda: s.switch.rows["Ingress.buckets"])
                await s.until(s.all_up)
                seq = s.switch.cells["Ingress.counter", "", 0]
                assert (seq - last - count) % LAST_SEQ == LAST_SEQ // 2
                last = seq

    asyncio.run(scenario())


def test_a_region_is_cleared_before_its_pairs_are_up(site: SiteMaker) -> None:
    """The switch is told `up` in the request after which the pair has been reset, never before."""

    async def scenario() -> None:
        async with site() as s:
            s.agents[0].slow = 0.1
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.agents[0].log)
            assert s.agents[0].log == ["clear"] and not s.switch.up(0)
            await s.until(lambda: s.switch.up(0))
            assert s.agents[0].log == ["clear", "reset 0", "reset 1"]

    asyncio.run(scenario())


def test_every_change_has_a_newer_lease(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            leases = [(r.lease.epoch, r.lease.number) for r in s.switch.requests]
            assert leases == sorted(set(leases))
            epoch = s.status().epoch
            await s.stop_controller()
            await s.start_controller()
            assert s.status().epoch > epoch

    asyncio.run(scenario())


def test_the_fake_switch_refuses_what_a_switch_would(site: SiteMaker) -> None:
    """Or else nothing above says anything."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            update = s.switch.requests[0].updates[-1]
            update.put.CopyFrom(type(update.put)(table="Ingress.buckets", key=[b"\1", b"\0"], action="choose"))
            with pytest.raises(ValueError, match="no action choose of 0"):
                s.switch._do(update)
            assert hashlib.sha256(s.nfs[0].config).hexdigest() == s.status().version

    asyncio.run(scenario())
