"""What the plan counts on of the traffic manager, with both drivers: set, read back, and refused if it is otherwise."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf import json_format

from polysome_controller import bfrt
from polysome_controller import control_pb2 as pb
from polysome_controller.driver import PortTraffic, QueueTraffic, SetBuffer, SetHold, SetPort, Traffic
from polysome_controller.errors import Refused
from polysome_controller.layout import layout_of
from polysome_controller.tables import Tables
from polysome_controller.traffic import check

from .conftest import SiteMaker
from .fake_bfrt import BfruntimeReadWriteRpcException, Client, rows

CELL = 80
GIGABIT = 10**9
ASKED = SetPort(40, 3, 0, GIGABIT, 8000, append_icrc=True, first_queue_bytes=160)
ROOM = SetBuffer(8160, 0)
GOOD = PortTraffic(40, GIGABIT, (), {0: QueueTraffic(8000, 0), 7: QueueTraffic(160, 7)})


def refusal(port: PortTraffic, room: SetBuffer | None = None, cell: int = CELL) -> str:
    try:
        check(ROOM, [ASKED], Traffic(cell, room, (port,)), CELL)
    except Refused as error:
        return str(error)
    return ""


def queues(**changed: QueueTraffic) -> PortTraffic:
    return replace(GOOD, queues={**GOOD.queues, **{int(name[1:]): queue for name, queue in changed.items()}})


@pytest.mark.parametrize(
    "port",
    [
        GOOD,
        queues(q0=QueueTraffic(7921, 0), q7=QueueTraffic(81, 7)),  # rounded down to cells
        queues(q0=QueueTraffic(8000, 2), q7=QueueTraffic(160, 3)),
        replace(GOOD, rate=None),
    ],
)
def test_what_the_plan_counts_on(port: PortTraffic) -> None:
    assert refusal(port) == refusal(port, ROOM) == refusal(port, SetBuffer(8081, 0)) == ""


@pytest.mark.parametrize(
    ("port", "told"),
    [
        (queues(q0=QueueTraffic(8001, 0)), "port 40: the limit of queue 0: 8000 B is wanted, and it has 8001 B"),
        (queues(q0=QueueTraffic(7920, 0)), "port 40: the limit of queue 0: 8000 B is wanted, and it has 7920 B"),
        (queues(q0=QueueTraffic(None, 0)), "port 40: the limit of queue 0: 8000 B is wanted, and it has none"),
        (queues(q7=QueueTraffic(80, 7)), "port 40: the limit of queue 7: 160 B is wanted, and it has 80 B"),
        (
            queues(q7=QueueTraffic(160, 0)),
            "the priority of queue 7: a higher one than queue 0 has, 0 is wanted, and it",
        ),
        (replace(GOOD, queues={0: QueueTraffic(8000, 0)}), "port 40: queue 7: a limit of 160 B is wanted"),
        (replace(GOOD, rate=0), "port 40: its rate: 1000000000 bit/s is wanted, and it has no limit"),
        (
            replace(GOOD, rate=10 * GIGABIT),
            "port 40: its rate: 1000000000 bit/s is wanted, and it has 10000000000 bit/s",
        ),
        (replace(GOOD, held_up=("PFC frames stop it", "it is shaped")), "and it has PFC frames stop it, it is shaped"),
        (replace(GOOD, port=41), "port 40: its queues: as they were set is wanted, and it has no such port"),
    ],
)
def test_what_it_cannot_count_on(port: PortTraffic, told: str) -> None:
    assert told in refusal(port)


def test_room_and_cells() -> None:
    assert "room for all queues: 8160 B is wanted, and it has 8080 B" in refusal(GOOD, SetBuffer(8080, 0))
    assert "the size of a cell: 80 B is wanted, and it has 176 B" in refusal(GOOD, cell=176)
    with pytest.raises(Refused, match="room for the mirror's copies: 4000 B is wanted, and it has 3920 B"):
        check(SetBuffer(8160, 4000), [ASKED], Traffic(CELL, SetBuffer(8160, 3920), (GOOD,)), CELL)


def test_a_port_without_a_limit_is_as_it_is() -> None:
    check(SetBuffer(0, 0), [SetPort(69, 5, 0)], Traffic(CELL, None, ()), 0)


# ---------------------------------------------------------------- the soft switch


def test_the_soft_switch_is_told_and_asked(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            roles = s.switch.roles
            assert {port for port, made in roles.items() if made.first_queue_bytes == 800} == {40, 41}
            assert {port for port, made in roles.items() if made.queue_bytes == 10**6} == {
                *range(3),
                32,
                33,
                40,
                41,
                68,
            }
            assert s.part("switch").state == "up"

    asyncio.run(scenario())


def longer(port: pb.PortStatistics) -> None:
    port.queues[0].limit += 1


def flat(port: pb.PortStatistics) -> None:
    for queue in port.queues:
        queue.priority = 0


@pytest.mark.parametrize(
    ("number", "change", "told"),
    [
        (32, longer, "port 32: the limit of queue 0: 1000000 B is wanted, and it has 1000001 B"),
        (41, flat, "port 41: the priority of queue 7: a higher one than queue 0 has, 0 is wanted, and it has 0"),
        (
            0,
            lambda port: port.ClearField("queues"),
            "port 0: queue 0: a limit of 1000000 B is wanted, and it has no such",
        ),
        (
            40,
            lambda port: port.ClearField("rate"),
            "port 40: its rate: 1000000000 bit/s is wanted, and it has no limit",
        ),
    ],
)
def test_no_queue_pair_is_up_on_a_soft_switch_that_is_set_otherwise(
    site: SiteMaker, number: int, change: Callable[[pb.PortStatistics], None], told: str
) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start_parts()
            s.switch.alter = lambda port: change(port) if port.port == number else None
            await s.start_controller()
            await s.until(lambda: s.part("switch").state == "refused")
            assert told in s.part("switch").detail
            await s.pause()
            assert not any(s.switch.up(pair) for pair in range(4)) and s.agents[0].log == []
            s.switch.alter = lambda port: None  # somebody mends it
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_a_switch_that_is_taken_over_is_asked_too(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.stop_controller()
            s.switch.cell = 176
            await s.start_controller()
            await s.until(lambda: s.part("switch").state == "refused")
            assert "the size of a cell: 80 B is wanted, and it has 176 B" in s.part("switch").detail
            s.switch.cell = 80
            await s.until(s.all_up)
            assert s.happened("taken over as it is")

    asyncio.run(scenario())


# ---------------------------------------------------------------- BfRt


def tofino() -> pb.ControllerConfig:
    made = pb.ControllerConfig(model="tofino", switch="localhost:50052", program="balancer", queue_cell=CELL)
    made.polling.deadline = GIGABIT
    made.traffic.add(ports=[128], rate=100 * GIGABIT, queue_bytes=800_000)
    made.nf_servers.add(port=132, rate=100 * GIGABIT, queue_bytes=800_000)
    made.rdma_servers.add(port=137, rate=100 * GIGABIT, queue_bytes=800_040, first_queue_bytes=640)
    made.fixed_ports.add(port=196, role=4, rate=100 * GIGABIT, queue_bytes=800_000, loopback=True)
    return made


def set_and_read(client: Client, change: Callable[[Client], object] = lambda client: None) -> str:
    """A fill, then what the controller says of what it reads."""

    async def scenario() -> str:
        config = tofino()
        tables, driver = Tables(config, layout_of(config)), bfrt.BfRtSwitch(config)
        wanted = tables.ports()
        change(client)
        try:
            await driver.write((await driver.describe()).boot, [tables.buffer(), *wanted])
            found = await driver.read_traffic([port.port for port in wanted])
            check(tables.buffer(), wanted, found, config.queue_cell)
        except Refused as error:
            return str(error)
        finally:
            await driver.close()
        return ""

    return asyncio.run(scenario())


def queue(client: Client, table: str, pg_id: int, pg_queue: int) -> dict[str, Any]:
    found = client.switch.traffic[table].rows
    return next(
        data.values for key, data in found.items() if dict(key.values) == {"pg_id": pg_id, "pg_queue": pg_queue}
    )


def test_a_tofino_has_what_the_plan_counts_on(client: Client) -> None:
    assert set_and_read(client) == ""
    pools = {
        key.values[0][1]: data.values["size_cells"] for key, data in client.switch.traffic["pool.cfg"].rows.items()
    }
    assert pools == {"EG_APP_POOL_1": (4 * 800_000 + 40 + 640) // CELL, "IG_APP_POOL_1": 10_000}
    (mirror,) = client.switch.traffic["mirror.dpg"].rows.values()
    assert mirror.values == {"pool_id": "IG_APP_POOL_1", "pool_max_cells": 10_000, "dynamic_baf": "DISABLE"}
    buffer = queue(client, "queue.buffer", 2, 8)  # port 137 is the second of group 2 of its pipe
    assert (buffer["pool_max_cells"], buffer["guaranteed_cells"], buffer["dynamic_baf"]) == (10_000, 0, "DISABLE")
    assert buffer["pool_id"] == "EG_APP_POOL_1" and buffer["tail_drop_enable"] is True
    assert queue(client, "queue.buffer", 2, 15)["pool_max_cells"] == 8
    assert queue(client, "queue.sched_cfg", 2, 8)["max_priority"] == "0"
    assert queue(client, "queue.sched_cfg", 2, 15)["max_priority"] == "7"
    assert queue(client, "queue.buffer", 17, 0)["pool_max_cells"] == 10_000  # recirculation
    assert {data.values["mode_tx"] for data in client.switch.traffic["port.flowcontrol"].rows.values()} == {"NONE"}
    assert len(rows(client, "$PORT")) == 3


def test_a_tofino_holds_a_port(client: Client) -> None:
    """Its queue 0 is not served; that which goes first is, and no setting is another one."""

    async def scenario() -> None:
        config = tofino()
        driver = bfrt.BfRtSwitch(config)
        boot = (await driver.describe()).boot
        await driver.write(boot, Tables(config, layout_of(config)).ports())
        before = dict(queue(client, "queue.sched_cfg", 2, 8))
        await driver.write(boot, [SetHold(137, True)])
        assert queue(client, "queue.sched_cfg", 2, 8) == {**before, "scheduling_enable": False}
        assert queue(client, "queue.sched_cfg", 2, 15)["scheduling_enable"] is True
        await driver.write(boot, [SetHold(137, False)])
        assert queue(client, "queue.sched_cfg", 2, 8) == before
        await driver.close()

    asyncio.run(scenario())


def stuck(table: str, **fields: Any) -> Callable[[Client], object]:
    return lambda client: client.switch.traffic[table].stuck.update(fields)


def pauses(client: Client) -> None:
    """The port manager keeps a setting as somebody else made it."""
    table = client.switch.tables["$PORT"]
    table.entry_get = lambda target, keys, flags: (  # type: ignore[method-assign]
        (replace(table.rows[key], values={**table.rows[key].values, "$RX_PFC_EN_MAP": 255}), key) for key in keys
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            stuck("queue.buffer", pool_max_cells=20_000),
            "port 128: the limit of queue 0: 800000 B is wanted, and it has 16",
        ),
        (
            stuck("queue.buffer", pool_max_cells=9_999),
            "port 128: the limit of queue 0: 800000 B is wanted, and it has 79",
        ),
        (
            stuck("queue.buffer", guaranteed_cells=20),
            "port 128: the limit of queue 0: 800000 B is wanted, and it has 801",
        ),
        (
            stuck("queue.buffer", dynamic_baf="80%"),
            "port 128: the limit of queue 0: 800000 B is wanted, and it has none",
        ),
        (stuck("queue.buffer", tail_drop_enable=False), "the limit of queue 0: 800000 B is wanted, and it has none"),
        (
            stuck("queue.sched_cfg", max_priority="LOW"),
            "port 137: the priority of queue 7: a higher one than queue 0 has",
        ),
        (stuck("queue.sched_cfg", max_rate_enable=True), "and it has queue 0 is shaped, queue 7 is shaped"),
        (stuck("queue.sched_cfg", min_rate_enable=True), "queue 0 has a guaranteed rate"),
        (stuck("queue.sched_cfg", scheduling_enable=False), "queue 0 is not served"),
        (stuck("port.sched_cfg", max_rate_enable=True), "port 128: what keeps frames waiting: nothing but its rate is"),
        (stuck("port.flowcontrol", mode_rx="PAUSE"), "and it has PAUSE stops it"),
        (stuck("port.flowcontrol", mode_tx="PFC"), "and it has PFC is sent"),
        (pauses, "port 128: what keeps frames waiting: nothing but its rate is wanted, and it has PFC frames stop it"),
        (stuck("pool.cfg", size_cells=30_000), "room for all queues: 3200680 B is wanted, and it has 2400000 B"),
        (
            stuck("mirror.dpg", pool_max_cells=160),
            "room for the mirror's copies: 800000 B is wanted, and it has 12800 B",
        ),
        (
            stuck("mirror.dpg", pool_id="IG_APP_POOL_0"),
            "room for the mirror's copies: 800000 B is wanted, and it has 0 B",
        ),
        (stuck("cfg", cell_size_bytes=176), "the size of a cell: 80 B is wanted, and it has 176 B"),
        (stuck("port.cfg", egress_qid_queues=[0] * 4), "port 137: queue 7 is wanted, and it has 4 queues"),
        (lambda c: c.switch.tables.pop("tf1.tm.queue.buffer"), "its SDE has no table `tf1.tm.queue.buffer`, by which"),
        (
            lambda c: c.switch.tables.pop("tf1.tm.cfg"),
            "its SDE has no table `tf1.tm.cfg`, by which queues are set: 9.5",
        ),
    ],
)
def test_a_tofino_that_is_set_otherwise(client: Client, change: Any, told: str) -> None:
    assert told in set_and_read(client, change)


def test_queues_of_a_tofino_2_that_are_not_scheduled_together(client: Client) -> None:
    table = client.switch.traffic["queue.sched_cfg"]
    made = table.entry_get
    table.entry_get = lambda target, keys, flags: (  # type: ignore[method-assign]
        (replace(data, values={**data.values, "pg_l1_node": dict(key.values)["pg_queue"] % 8}), key)
        for data, key in made(target, keys, flags)
    )
    assert "its queues are not scheduled together" in set_and_read(client)


def test_the_status_says_why_a_tofino_is_refused(site: SiteMaker, client: Client) -> None:
    async def scenario() -> None:
        async with site(model="tofino", program="balancer") as s:
            await s.start_parts()
            made = json_format.MessageToDict(s.config())
            for name in ("traffic", "nfServers", "rdmaServers"):
                s.changes[name] = [{**part, "rate": 10 * GIGABIT} for part in made[name]]
            client.switch.traffic["queue.buffer"].stuck["dynamic_baf"] = "80%"
            await s.start_controller()
            await s.until(lambda: s.part("switch").state == "refused")
            assert "port 0: the limit of queue 0: 1000000 B is wanted, and it has none" in s.part("switch").detail
            assert {pair.state for pair in s.status().queue_pairs} == {"waiting"}
            client.switch.traffic["queue.buffer"].stuck.clear()
            await s.until(lambda: {pair.state for pair in s.status().queue_pairs} == {"up"})

    asyncio.run(scenario())


def test_what_is_no_setting_is_an_error_of_the_stand_in(client: Client) -> None:
    table = client.switch.traffic["port.flowcontrol"]
    with pytest.raises(KeyError, match="mode_rx"):
        table.make_data([client.DataTuple("mode_rx", str_val="NONE")])
    with pytest.raises(BfruntimeReadWriteRpcException, match="by pipe"):
        client.switch.traffic["queue.buffer"].entry_mod(client.Target(0, 0xFFFF), [], [])
