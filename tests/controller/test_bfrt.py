"""The driver of a Tofino switch, with a client that has the forms of the SDE's."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from google.protobuf import json_format

from polysome_controller import bfrt, program
from polysome_controller import control_pb2 as pb
from polysome_controller.controller import Controller
from polysome_controller.driver import (
    Clear,
    Counts,
    PortCount,
    Put,
    Remove,
    SetGenerator,
    SetGroup,
    SetMeter,
    SetMirror,
    SetPort,
    Update,
)
from polysome_controller.errors import ConfigurationError, EnvironmentProblem, Refused, Unreachable

from .conftest import SiteMaker
from .fake_bfrt import Client, Data, Key, rows
from .test_program import PUTS

GIGABIT = 10**9


def config(**changes: Any) -> pb.ControllerConfig:
    made = pb.ControllerConfig(model="tofino", switch="localhost:50052", program="balancer")
    made.polling.deadline = GIGABIT
    made.traffic.add(ports=[128])
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def run(scenario: Any, **changes: Any) -> None:
    async def whole() -> None:
        driver = bfrt.BfRtSwitch(config(**changes))
        try:
            await scenario(driver)
        finally:
            await driver.close()

    asyncio.run(whole())


def test_entries_are_put_whether_they_are_there_or_not(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        boot = (await driver.describe()).boot
        buckets = [program.bucket(1, b, 0, 1, 2, 3) for b in range(4)]
        await driver.write(boot, buckets[:2])
        await driver.write(boot, buckets)
        assert rows(client, "Ingress.buckets") == {
            (1, b): {"primary": 0, "primary_port": 1, "backup": 2, "backup_port": 3} for b in range(4)
        }
        await driver.write(
            boot, [Remove("Ingress.buckets", (("md.port.role", 1), ("bucket", bucket))) for bucket in (3, 9)]
        )
        assert set(rows(client, "Ingress.buckets")) == {(1, 0), (1, 1), (1, 2)}
        await driver.write(boot, [Clear("Ingress.buckets")])
        assert rows(client, "Ingress.buckets") == {}

    run(scenario)


def test_neighbours_go_in_one_request(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        boot = (await driver.describe()).boot
        await driver.write(boot, [program.bucket(1, b, 0, 0, 0, 0) for b in range(100)])
        assert [entry for entry in client.switch.log if entry[1] == "Ingress.buckets"] == [
            ("add", "Ingress.buckets", 100)
        ]

    run(scenario)


def test_registers_and_counters(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        boot = (await driver.describe()).boot
        await driver.write(boot, [*program.no_history(3), *program.up(3, True)])
        assert rows(client, "Ingress.reads")[(3,)] == {"Ingress.reads.count": 0, "Ingress.reads.rests": 0}
        assert await driver.read_register("Ingress.primaries", 2, 3) == (0, 1, 0)  # of pipe 1, where the ports are
        counter = client.switch.tables["Ingress.events"].rows
        counter[Key((("$COUNTER_INDEX", 7),))] = Data({"$COUNTER_SPEC_PKTS": 5})
        assert await driver.read_counters("Ingress.events", 6, 2) == Counts((0, 5), (0, 0))
        await driver.read_counters("Ingress.events", 6, 2)
        assert client.switch.log.count(("sync", "Ingress.events", 0)) == 1

    run(scenario)


def test_fixed_parts_of_the_chip(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        boot = (await driver.describe()).boot
        updates = [
            SetPort(128, 1, 0, 100 * GIGABIT),
            SetPort(196, 4, 0, 100 * GIGABIT, loopback=True),
            SetMirror(3, 160, 51),
            SetGroup(2, (128, 132)),
            SetMeter("Ingress.fallback", 0, 10**8, 125_000),
            SetGenerator(197, 1_000_000, 64),
        ]
        for _ in range(2):  # what is there already is as good
            await driver.write(boot, updates)
        assert rows(client, "IngressParser.$PORT_METADATA")[(128,)]["role"] == 1
        assert rows(client, "$PORT") == {
            (128,): {
                **{"$SPEED": "BF_SPEED_100G", "$FEC": "BF_FEC_TYP_REED_SOLOMON", "$PORT_ENABLE": True},
                **{"$RX_PAUSE_FRAME_EN": False, "$TX_PAUSE_FRAME_EN": False, "$RX_PFC_EN_MAP": 0, "$TX_PFC_EN_MAP": 0},
            }
        }
        assert rows(client, "$mirror.cfg")[(3,)]["$max_pkt_len"] == 51
        assert rows(client, "$pre.node")[(2,)]["$DEV_PORT"] == [128, 132]
        assert rows(client, "$pre.mgid")[(2,)]["$MULTICAST_NODE_ID"] == [2]
        assert rows(client, "Ingress.fallback")[(0,)]["$METER_SPEC_CIR_KBPS"] == 100_000
        assert rows(client, "Ingress.fallback")[(0,)]["$METER_SPEC_CBS_KBITS"] == 1000
        application = rows(client, "tf1.pktgen.app_cfg")[(0,)]
        assert application["packets_per_batch_cfg"] == 63 and application["pipe_local_source_port"] == 69
        assert application["app_enable"] is True and application["timer_nanosec"] == 1_000_000

    run(scenario)


def test_port_counters(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        key = Key((("$DEV_PORT", 128),))
        client.switch.tables["$PORT"].rows[key] = Data({"$PORT_UP": True})
        names = ("FramesReceivedAll", "OctetsReceived", "FramesTransmittedAll", "OctetsTransmittedTotal")
        counts = {f"${name}": i for i, name in enumerate((*names, "FramesDroppedBufferFull"))}
        client.switch.tables["$PORT_STAT"].rows[key] = Data(counts)
        assert (await driver.read_ports()).ports == (PortCount(128, True, 0, 1, 2, 3, 4),)

    run(scenario)


def test_a_port_of_no_known_speed(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        boot = (await driver.describe()).boot
        with pytest.raises(Refused, match="3000000000 bit/s is no speed"):
            await driver.write(boot, [SetPort(128, 1, 0, 3 * GIGABIT)])

    run(scenario)


def test_a_run_is_marked_when_it_is_filled(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        first = await driver.describe()
        assert (await driver.describe()) == first  # nothing is filled, so nothing is marked
        await driver.write(first.boot, [Clear("Ingress.stations"), program.station(5, 1)])
        other = bfrt.BfRtSwitch(config())
        assert await other.describe() == first
        client.switch.restart()
        second = await other.describe()
        assert second.boot != first.boot
        with pytest.raises(Refused, match="another run"):
            await driver.write(first.boot, [program.station(5, 1)])
        await other.write(second.boot, [program.station(5, 1)])
        assert await driver.describe() == second
        await other.close()

    run(scenario)


def test_a_lost_connection_is_made_anew(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        await driver.describe()
        client.switch.refuses = True
        for _ in range(2):
            with pytest.raises(Unreachable):
                await driver.describe()
        client.switch.refuses = False
        await driver.describe()
        assert client.connections == 1

    run(scenario)


def test_another_program(client: Client) -> None:
    async def scenario(driver: bfrt.BfRtSwitch) -> None:
        with pytest.raises(Refused, match="runs the program `balancer`, not `nat`"):
            await driver.describe()

    run(scenario, program="nat")


def test_without_the_sde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bfrt_grpc", None)
    with pytest.raises(EnvironmentProblem, match="SDE_INSTALL"):
        bfrt.BfRtSwitch(config())


def test_a_model_that_nobody_knows() -> None:
    with pytest.raises(ConfigurationError, match="model `tofino7`; there are software, linux, tofino, tofino2"):
        bfrt.BfRtSwitch(config(model="tofino7"))


def test_the_whole_controller_on_it(site: SiteMaker, client: Client) -> None:
    """Filled, restored, and filled again after the switch's daemon restarts."""

    async def scenario() -> None:
        async with site(model="tofino", program="balancer") as s:
            await s.start_parts()
            made = json_format.MessageToDict(s.config())
            for name in ("traffic", "nfServers", "rdmaServers"):
                s.changes[name] = [{**part, "rate": 10 * GIGABIT} for part in made[name]]
            await s.start_controller()
            assert isinstance(s._controller, Controller)
            states = lambda: [pair.state for pair in s.status().queue_pairs]  # noqa: E731
            await s.until(lambda: states() == ["up"] * 4 and client.switch.log.count(("sync", "Egress.events", 0)))
            assert len(rows(client, "Ingress.buckets")) == 16 and len(rows(client, "Ingress.answers")) == 4
            primaries = client.switch.tables["Ingress.primaries"]
            key = primaries.make_key([client.KeyTuple("$REGISTER_INDEX", 0)])
            restores = s.status().queue_pairs[0].restores
            del primaries.rows[key]
            await s.until(lambda: any(pair.restores > restores for pair in s.status().queue_pairs[:1]))
            client.switch.restart()
            await s.until(lambda: len(rows(client, "Ingress.answers")) == 4 and states() == ["up"] * 4)
            assert all(agent.log.count("clear") >= 2 for agent in s.agents)

    asyncio.run(scenario())


def test_all_kinds_of_updates_are_known() -> None:
    """A new one must be taught to both drivers."""
    assert {kind.__name__ for kind in Update.__args__} == {
        *(
            "Put",
            "Remove",
            "Clear",
            "SetRegister",
            "SetMeter",
            "SetMirror",
            "SetGroup",
            "SetPort",
            "SetHold",
            "SetBuffer",
            "SetGenerator",
        ),
    }
    assert isinstance(PUTS[0], Put)
