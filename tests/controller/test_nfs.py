"""Which NF server has the traffic, and which config all of them have."""

from __future__ import annotations

import asyncio
import hashlib

import grpc
import pytest

from polysome_controller import control_pb2 as pb

from .conftest import SiteMaker
from .site import FIRST_CONFIG, Site

NEW = b"backends: three"


def request_of(config: bytes, **more: object) -> pb.ConfigureRequest:
    return pb.ConfigureRequest(version=hashlib.sha256(config).hexdigest(), config=config, **more)  # type: ignore[arg-type]


def links(s: Site) -> set[tuple[int, int]]:
    return {row[1] for row in s.switch.rows["Ingress.nf_links"].values()}  # type: ignore[misc]


async def refused(s: Site, method: str, request: object) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await s.ask(method, request)
    return caught.value


# ---------------------------------------------------------------- who has the traffic


def test_traffic_moves_when_the_active_one_is_down_and_stays_there(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            assert links(s) == {(32, 0), (32, 1), (32, 2)}
            await s.nfs[0].stop()
            await s.until(lambda: s.status().active == "nf2")
            assert links(s) == {(33, 0), (33, 3), (33, 4)} and s.happened("its state is new here")
            await s.nfs[0].start()
            await s.until(lambda: s.part("nf1").state == "standby")
            await s.pause()
            assert s.status().active == "nf2"  # moving back would cost the state again

    asyncio.run(scenario())


def test_with_nobody_else_nothing_moves(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            s.nfs.pop()
            await s.start()
            s.switch.requests.clear()
            await s.nfs[0].stop()
            await s.until(lambda: s.part("nf1").state == "down")
            s.nfs[0].restart()
            await s.nfs[0].start()
            await s.until(s.all_up)
            assert s.switch.requests == [] and s.happened("its state is empty")

    asyncio.run(scenario())


def test_the_active_one_is_remembered(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.ask("Drain", pb.NfName(name="nf1"))
            await s.stop_controller()
            await s.start_controller()
            await s.until(lambda: s.part("nf1").state == "drained" and s.part("nf2").state == "up")
            assert s.status().active == "nf2"

    asyncio.run(scenario())


def test_an_nf_with_another_address(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[0].mac = bytes([2, 0, 0, 0, 2, 77])
            s.nfs[0].restart()
            await s.until(lambda: s.switch.rows["Egress.nf_stations"][(32,)] == ("nf", (0x02000000024D,)))
            assert not {(0x02000000024D,), (0x020000000201,)} & set(s.switch.rows["Ingress.stations"])

    asyncio.run(scenario())


def test_drain_waits_until_nothing_is_held(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[0].held = 3
            asked = asyncio.ensure_future(s.ask("Drain", pb.NfName(name="nf1")))
            await s.until(lambda: s.part("nf1").state == "drained")
            await s.pause(2)
            assert not asked.done() and links(s) == {(33, 0), (33, 3), (33, 4)}
            s.nfs[0].held = 0
            await asked
            await s.ask("Undrain", pb.NfName(name="nf1"))
            assert s.part("nf1").state == "standby"
            await s.ask("Drain", pb.NfName(name="nf2"))
            assert s.status().active == "nf1"

    asyncio.run(scenario())


def test_the_last_one_cannot_be_drained(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.ask("Drain", pb.NfName(name="nf2"))
            error = await refused(s, "Drain", pb.NfName(name="nf1"))
            assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
            assert "no other NF server" in (error.details() or "") and s.part("nf1").state == "up"
            error = await refused(s, "Drain", pb.NfName(name="nf9"))
            assert error.code() == grpc.StatusCode.NOT_FOUND and "nf1, nf2" in (error.details() or "")

    asyncio.run(scenario())


def test_try_asks_the_one_with_the_traffic(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            assert (await s.ask("Try", pb.TryRequest(packet=b"p"))).version == "nf1"
            await s.ask("Drain", pb.NfName(name="nf1"))
            assert (await s.ask("Try", pb.TryRequest(packet=b"p"))).version == "nf2"

    asyncio.run(scenario())


def test_while_nf_servers_are_replaced_both_nfs_are_taken(site: SiteMaker) -> None:
    """A deployment with another NF, and the same program in the switch: the traffic goes on meanwhile."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.stop_controller()
            s.switch.requests.clear()
            s.changes["nfHash"] = "next nf hash"
            (s.folder / "second.config").write_bytes(b"of the next one")
            s.changes["config"] = str(s.folder / "second.config")
            await s.start_controller()
            await s.until(s.all_up)
            assert s.switch.requests == [] and s.nfs[0].config == FIRST_CONFIG  # it may not know the new one
            for nf in s.nfs:
                await s.ask("Drain", pb.NfName(name=nf.name))
                nf.program = "next nf hash"
                nf.restart()
                await s.until(lambda nf=nf: nf.config == b"of the next one")
                await s.ask("Undrain", pb.NfName(name=nf.name))
            s.nfs[0].program = "a third nf hash"
            s.nfs[0].restart()
            await s.until(lambda: s.part("nf1").state == "refused")

    asyncio.run(scenario())


def test_the_earlier_nf_is_refused_with_another_program(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.stop_controller()
            s.switch.program = s.changes["programHash"] = "next program hash"
            s.changes["nfHash"] = "next nf hash"
            s.switch.restart()
            await s.start_controller()
            await s.until(lambda: {s.part(nf.name).state for nf in s.nfs} == {"refused"})

    asyncio.run(scenario())


# ---------------------------------------------------------------- configure


def test_a_config_is_in_force_everywhere(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            spare = [pb.Spare(server="memory0", rate=10**6)]
            await s.ask("Configure", request_of(NEW, fallback=5 * 10**7, spare=spare))
            assert [nf.config for nf in s.nfs] == [NEW, NEW]
            assert s.switch.meters["Ingress.fallback"].rate == 5 * 10**7
            assert s.status().version == hashlib.sha256(NEW).hexdigest()
            await s.stop_controller()
            s.switch.restart()
            s.nfs[1].restart()  # comes with the first one
            await s.start_controller()
            await s.until(s.all_up)
            await s.until(lambda: s.nfs[1].config == NEW)
            assert s.switch.meters["Ingress.fallback"].rate == 5 * 10**7

    asyncio.run(scenario())


def test_one_refusal_and_nothing_changes(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[0].refuses = b"never"
            error = await refused(s, "Configure", request_of(b"bad", fallback=1))
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert "nf2" in (error.details() or "") and "row 3" in (error.details() or "")
            assert [nf.config for nf in s.nfs] == [FIRST_CONFIG] * 2
            assert s.switch.meters["Ingress.fallback"].rate == 10**8
            assert s.status().version == hashlib.sha256(FIRST_CONFIG).hexdigest()

    asyncio.run(scenario())


def test_a_failed_commit_is_taken_back(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[1].fails_commit = True
            error = await refused(s, "Configure", request_of(NEW, fallback=1))
            assert "nf2 did not take the change" in (error.details() or "")
            assert [nf.config for nf in s.nfs] == [FIRST_CONFIG] * 2
            assert s.switch.meters["Ingress.fallback"].rate == 10**8

    asyncio.run(scenario())


def test_a_switch_that_fails_takes_the_config_back(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.switch.stop()
            error = await refused(s, "Configure", request_of(NEW, fallback=77))
            assert "the switch did not take the change" in (error.details() or "")
            assert [nf.config for nf in s.nfs] == [FIRST_CONFIG] * 2
            await s.switch.start()
            await s.until(s.all_up)
            assert s.switch.meters["Ingress.fallback"].rate == 10**8

    asyncio.run(scenario())


def test_an_nf_that_was_away_gets_the_config(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.nfs[1].stop()
            await s.until(lambda: s.part("nf2").state == "down")
            await s.ask("Configure", request_of(NEW))
            assert s.nfs[1].config == FIRST_CONFIG
            await s.nfs[1].start()
            await s.until(lambda: s.nfs[1].config == NEW)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (pb.ConfigureRequest(version="0" * 64, config=b"x"), "SHA-256"),
        (pb.ConfigureRequest(config=b"x"), "needs its version"),
        (pb.ConfigureRequest(spare=[pb.Spare(server="who")]), "no RDMA server `who`"),
    ],
)
def test_wrong_requests(site: SiteMaker, request_: pb.ConfigureRequest, why: str) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            error = await refused(s, "Configure", request_)
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and why in (error.details() or "")

    asyncio.run(scenario())


def test_a_deployment_that_comes_with_another_config(site: SiteMaker) -> None:
    """The operator's counts until the deployment itself brings a new one."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            await s.ask("Configure", request_of(NEW))
            await s.stop_controller()
            await s.start_controller()
            await s.until(s.all_up)
            assert s.status().version == hashlib.sha256(NEW).hexdigest()
            await s.stop_controller()
            (s.folder / "second.config").write_bytes(b"third")
            s.changes["config"] = str(s.folder / "second.config")
            await s.start_controller()
            await s.until(lambda: [nf.config for nf in s.nfs] == [b"third"] * 2)

    asyncio.run(scenario())
