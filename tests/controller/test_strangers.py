"""Who floods the controller's port keeps no operator out, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Sequence

import pytest
from tests import strangers

from polysome_controller import control_pb2 as pb
from polysome_controller import front
from polysome_controller.errors import EnvironmentProblem
from polysome_controller.front import network_of

from .conftest import SiteMaker
from .site import Site
from .test_trust import free_address

STATUS = "/polysome.control.Controller/Status"
ONE = ("127.0.0.1",)  # the operator's own
DEADLINE = 3.0  # s: how long an operator waits for the status; strangers are cut off after five


async def listening(s: Site) -> strangers.Port:
    """With all parts up."""
    address = s.changes["listen"] = await free_address()
    await s.start()
    return strangers.Port(address, s.certificates)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def status(s: Site, port: strangers.Port) -> pb.ControllerStatus:
    """By a new connection."""
    async with s.channel("operator", port.address) as channel:
        ask = channel.unary_unary(STATUS, response_deserializer=pb.ControllerStatus.FromString)
        answer: pb.ControllerStatus = await ask(b"", timeout=DEADLINE, wait_for_ready=True)
        return answer


@pytest.mark.slow
@pytest.mark.parametrize("sources", [strangers.MANY, ONE], ids=["many", "one"])
@pytest.mark.parametrize(
    ("open_one", "count"), [(strangers.tcp, 1000), (strangers.greeted, 600), (strangers.idle, 600)]
)
def test_a_flood_keeps_no_operator_out(
    site: SiteMaker, open_one: strangers.Open, count: int, sources: Sequence[str]
) -> None:
    async def scenario() -> None:
        async with site() as s:
            port = await listening(s)
            before = descriptors()
            flood = strangers.many(port, open_one, count, sources)
            found = await asyncio.to_thread(flood.__enter__)
            try:
                assert len(found) > count / 3
                for _ in range(3):
                    assert (await status(s, port)).nf == "balancer"
                assert descriptors() < before + len(found) + 3 * front.MOST + 100
            finally:
                await asyncio.to_thread(flood.__exit__, None, None, None)
            await s.until(lambda: descriptors() <= before)
            assert s.happened("refused: a connection of 127.0.") or open_one is not strangers.tcp

    asyncio.run(scenario())


def test_who_may_ask_does_not_give_way_to_who_may_not(site: SiteMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all come from one address, and where there are too many in all."""
    monkeypatch.setattr(front, "MOST", 12)
    monkeypatch.setattr(front, "MOST_OF_ONE", 4)
    monkeypatch.setattr(front, "PATIENCE", 0.0)

    async def scenario() -> None:
        async with site() as s:
            port = await listening(s)
            async with s.channel("operator", port.address) as channel:
                ask = channel.unary_unary(STATUS)
                await ask(b"", timeout=DEADLINE)
                with strangers.many(port, strangers.tcp, 100, ("127.0.0.1", *strangers.MANY[:7])) as found:
                    await s.until(lambda: len(s.happened("any longer")) == 20)  # those that are told
                    watch = asyncio.ensure_future(channel.wait_for_state_change(channel.get_state()))
                    await ask(b"", timeout=DEADLINE)
                    assert not watch.done() and len(found) == 100  # it is the same connection
                    watch.cancel()
                    closed = await asyncio.gather(*(asyncio.to_thread(strangers.closed, c) for c in found[-3:]))
                    assert not any(closed)  # who came last is there

    asyncio.run(scenario())


def test_who_says_nothing_is_cut_off(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            port = await listening(s)
            before = descriptors()
            opened = [strangers.tcp(port, "127.0.0.1") for _ in range(3)]
            assert all(await asyncio.gather(*(asyncio.to_thread(ended, one, 20) for one in opened)))
            await s.until(lambda: descriptors() <= before)

    asyncio.run(scenario())


def ended(connection: socket.socket, longest: float) -> bool:
    with contextlib.closing(connection):
        connection.settimeout(longest)
        return connection.recv(1) == b""


def test_who_is_refused_is_named_by_address(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            port = await listening(s)
            with pytest.raises(Exception, match="only `operator` may ask"):
                await s.ask("Status", pb.Nothing(), "memory1", port.address)
            (told,) = s.happened("with the certificate of `memory1`")
            assert told.startswith("refused: 127.0.0.1:")

    asyncio.run(scenario())


def test_an_address_in_use_is_said(site: SiteMaker) -> None:
    async def scenario() -> None:
        taken = pytest.raises(EnvironmentProblem, match="cannot listen at 127")
        with socket.create_server(("127.0.0.1", 0)) as other, taken:
            async with site(listen=f"127.0.0.1:{other.getsockname()[1]}") as s:
                await s.start_parts()
                await s.start_controller()
                await s.stop_controller()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("fe80::1%lo", "fe80::2", True),
        ("::1", "0.0.0.0", False),
    ],
)
def test_what_counts_as_one_address(one: str, other: str, same: bool) -> None:
    assert (network_of(one) == network_of(other)) is same
