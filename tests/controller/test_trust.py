"""Foreign, replayed and forged answers and requests: refused, said so, and nothing changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller.rpc import MOST_BYTES

from .conftest import SiteMaker
from .site import Site


def registration_changes(s: Site) -> dict[str, tuple[dict[str, Any], str]]:
    return {
        "replayed": ({"challenge": b"x" * 16}, "challenge"),
        "another server's": ({"server": "memory1"}, "is of `memory1`"),
        "small region": ({"region": 1 << 19}, "region has 524288 bytes"),
        "small MTU": ({"mtu": 1024}, "path MTU is 1024"),
        "the switch's MAC": ({"mac": bytes.fromhex("02706f6c7901")}, "no MAC address"),
        "a group's MAC": ({"mac": bytes.fromhex("010000000001")}, "no MAC address"),
        "no IPv4": ({"ip": b"\0" * 16}, "not IPv4"),
        "no boot": ({"boot": 0}, "of an earlier run, 0"),
    }


@pytest.mark.parametrize("kind", list(registration_changes(None)))  # type: ignore[arg-type]
def test_a_wrong_registration_is_refused(site: SiteMaker, kind: str) -> None:
    async def scenario() -> None:
        async with site() as s:
            changes, why = registration_changes(s)[kind]
            s.agents[0].describe = changes
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("memory0").state == "refused" and s.switch.up(2))
            assert why in s.part("memory0").detail and len(s.happened(why)) == 1
            assert s.agents[0].log == [] and not s.switch.up(0)
            assert (40,) not in s.switch.rows["Egress.servers"]
            s.agents[0].describe = {}
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_too_few_queue_pairs(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.agents[0].pairs.pop()
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("memory0").state == "refused")
            assert "has 1 queue pairs, not 2" in s.part("memory0").detail

    asyncio.run(scenario())


def test_an_earlier_run_cannot_come_back(site: SiteMaker) -> None:
    """Its registration was good once; so a copy of it is refused, also by the next controller."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            earlier = s.agents[0].boot
            s.agents[0].restart()
            await s.until(lambda: "reset 1" in s.agents[0].log)
            await s.until(s.all_up)
            rows = {key: dict(rows) for key, rows in s.switch.rows.items()}
            now, s.agents[0].boot = s.agents[0].boot, earlier
            await s.until(lambda: s.part("memory0").state == "refused")
            await s.stop_controller()
            await s.start_controller()
            await s.until(lambda: s.part("memory0").state == "refused")
            assert s.switch.rows == rows and s.switch.up(0)  # nothing changes
            s.agents[0].boot = now
            await s.until(s.all_up)

    asyncio.run(scenario())


@pytest.mark.parametrize("certificate", ["memory1", "foreign-memory0"])
def test_an_agent_without_its_certificate_is_refused(site: SiteMaker, certificate: str) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.agents[0].certificate = certificate
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("memory0").state == "refused" and s.switch.up(2))
            assert "no valid certificate for `memory0`" in s.part("memory0").detail
            assert s.agents[0].calls == [] and not s.switch.up(0)
            await s.agents[0].stop()
            s.agents[0].certificate = "memory0"
            await s.agents[0].start()
            await s.until(s.all_up)

    asyncio.run(scenario())


def test_the_wrong_certificate_comes_while_all_is_up(site: SiteMaker) -> None:
    """The queue pairs of the agent that was there go on: whoever answers now is not believed that they ended."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.switch.requests.clear()
            await s.agents[0].stop()
            s.agents[0].certificate = "foreign-memory0"
            await s.agents[0].start()
            await s.until(lambda: s.part("memory0").state == "refused")
            await s.pause()
            assert s.switch.up(0) and s.switch.requests == []

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"challenge": b"y" * 16}, "challenge"),
        ({"server": "nf2"}, "is of `nf2`"),
        ({"nf": "nat"}, "runs the NF `nat`"),
        ({"program": "other"}, "compiled from something else"),
        ({"mac": b"\0" * 6}, "no MAC address"),
    ],
)
def test_a_wrong_nf_is_refused(site: SiteMaker, changes: dict[str, Any], why: str) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.nfs[0].describe = changes
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("nf1").state == "refused")
            assert why in s.part("nf1").detail
            await s.until(lambda: s.status().active == "nf2")  # it cannot have the traffic

    asyncio.run(scenario())


def test_another_program_in_the_switch(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.switch.program = "another hash"
            await s.start_parts()
            await s.start_controller()
            await s.until(lambda: s.part("switch").state == "refused")
            assert "another program" in s.part("switch").detail and s.switch.requests == []

    asyncio.run(scenario())


def test_who_may_ask_the_controller(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site(listen="127.0.0.1:0") as s:
            address = await free_address()
            s.changes["listen"] = address
            await s.start()
            answer = await s.ask("Status", pb.Nothing(), "operator", address)
            assert answer.nf == "balancer" and answer.active == "nf1"
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await s.ask("Drain", pb.NfName(name="nf1"), "nf2", address)
            assert caught.value.code() == grpc.StatusCode.PERMISSION_DENIED
            assert s.happened("with the certificate of `nf2`") and s.status().active == "nf1"
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await s.ask("Status", pb.Nothing(), "foreign-controller", address)
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
            assert (s.folder / "admin.sock").stat().st_mode & 0o777 == 0o600

    asyncio.run(scenario())


async def free_address() -> str:
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return f"127.0.0.1:{port}"


@pytest.mark.parametrize(("name", "code"), [("nf2", "PERMISSION_DENIED"), ("operator", "DEADLINE_EXCEEDED")])
def test_a_strangers_request_is_not_waited_for(site: SiteMaker, name: str, code: str) -> None:
    """It never comes."""

    async def never() -> AsyncIterator[bytes]:
        await asyncio.sleep(60)
        yield b""

    async def scenario() -> None:
        async with site(listen="127.0.0.1:0") as s:
            s.changes["listen"] = await free_address()
            await s.start()
            async with s.channel(name, s.changes["listen"]) as channel:
                call = channel.stream_unary("/polysome.control.Controller/Configure")
                with pytest.raises(grpc.aio.AioRpcError) as caught:
                    await call(never(), timeout=1)
            assert caught.value.code().name == code

    asyncio.run(scenario())


def test_a_request_that_is_too_large(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site(listen="127.0.0.1:0") as s:
            s.changes["listen"] = await free_address()
            await s.start()
            request = pb.ConfigureRequest(config=bytes(MOST_BYTES + 1))
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await s.ask("Configure", request, "operator", s.changes["listen"], limit=-1)
            assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED

    asyncio.run(scenario())
