"""An NF's process is replaced by the next one: the switch holds its frames meanwhile, and never for long."""

from __future__ import annotations

import asyncio

import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller import nfs

from .conftest import SiteMaker
from .site import FIRST_CONFIG, Site

PORT = 32  # of nf1


async def replaced(s: Site, config: bytes | None = None) -> None:
    """What HandOver leads to: this process ends, and the next one has its state."""
    assert s.switch.held == {PORT}
    s.nfs[0].restart(config)
    s.nfs[0].took_over = True


def test_its_frames_are_held_until_the_next_run_has_the_config(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            nf = s.nfs[0]
            had: list[bytes | None] = []
            nf.hands_over = lambda: replaced(s, b"an old config")
            boot, nf.leaving = nf.boot, True
            await s.until(lambda: nf.boot != boot)
            while s.switch.held:
                had.append(nf.config)
                await asyncio.sleep(0)
            assert had[0] == b"an old config" and nf.config == FIRST_CONFIG  # it never had frames with another one
            assert s.happened("hands its state over") and s.happened("with the state of the run before")
            assert not s.happened("its state is empty") and s.status().active == "nf1"
            await s.pause()
            assert s.part("nf1").state == "up" and not s.switch.held

    asyncio.run(scenario())


def test_the_one_that_has_no_traffic(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site() as s:
            await s.start()
            nf = s.nfs[1]

            async def next_run() -> None:
                nf.restart()

            nf.hands_over = next_run
            boot, nf.leaving = nf.boot, True
            await s.until(lambda: nf.boot != boot and not s.switch.held)
            await s.until(lambda: s.happened("its state is empty"))  # it took none over

    asyncio.run(scenario())


def test_a_next_run_that_never_comes(site: SiteMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames go on after a while, and the traffic to another NF server."""
    monkeypatch.setattr(nfs, "LONGEST_HOLD", 0.3)

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[0].leaving = True
            await s.until(lambda: s.switch.held == {PORT})
            await s.until(lambda: not s.switch.held)
            await s.until(lambda: s.status().active == "nf2")

    asyncio.run(scenario())


def test_a_run_that_does_not_end(site: SiteMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nfs, "LONGEST_HOLD", 0.3)

    async def scenario() -> None:
        async with site() as s:
            await s.start()

            async def stays() -> None:
                pass

            s.nfs[0].hands_over = stays
            s.nfs[0].leaving = True
            await s.until(lambda: s.switch.held == {PORT})
            await s.until(lambda: not s.switch.held)
            await s.pause()
            assert s.part("nf1").state == "up" and s.status().active == "nf1"

    asyncio.run(scenario())


def test_one_that_says_so_and_refuses(site: SiteMaker) -> None:
    """It is of no use, and does not have its port held again and again in silence."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            nf = s.nfs[0]

            async def refuses() -> None:
                raise RuntimeError("not at all")

            nf.hands_over = refuses
            nf.leaving = True
            await s.until(lambda: s.status().active == "nf2")
            await s.until(lambda: not s.switch.held)
            assert s.happened("not at all")

    asyncio.run(scenario())


def test_a_switch_that_is_away_when_the_hold_ends(site: SiteMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told as soon as it is there again."""
    monkeypatch.setattr(nfs, "LONGEST_HOLD", 0.3)

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[0].hands_over = s.switch.stop
            s.nfs[0].leaving = True
            await s.until(lambda: s.part("switch").state == "down")
            assert s.switch.held == {PORT}
            await s.switch.start()
            await s.until(lambda: not s.switch.held)

    asyncio.run(scenario())


def test_a_controller_that_is_told_to_end_meanwhile(site: SiteMaker) -> None:
    """It lets the frames go first."""

    async def scenario() -> None:
        async with site() as s:
            await s.start()
            s.nfs[0].leaving = True
            await s.until(lambda: s.switch.held == {PORT})
            await s.stop_controller()
            assert not s.switch.held

    asyncio.run(scenario())


def test_a_controller_that_ends_meanwhile(site: SiteMaker) -> None:
    """The next one lets the frames go before it looks how the switch is set: a chip says of a queue that it is not
    served, and would be refused."""

    async def scenario() -> None:
        async with site() as s:

            def is_not_served(port: pb.PortStatistics) -> None:
                if port.port in s.switch.held:
                    port.queues[0].limit = 0

            s.switch.alter = is_not_served
            await s.start()
            s.nfs[0].leaving = True
            await s.until(lambda: s.switch.held == {PORT})
            await s.switch.stop()
            await s.stop_controller()
            await s.switch.start()
            assert s.switch.held == {PORT}
            await s.nfs[0].stop()  # it ends by itself only if it was told in time that its frames are held
            s.nfs[0].restart()
            await s.nfs[0].start()
            await s.start_controller()
            await s.until(lambda: not s.switch.held)
            await s.until(s.all_up)
            s.switch.requests.clear()
            await s.pause()
            assert s.switch.requests == []  # once is enough

    asyncio.run(scenario())
