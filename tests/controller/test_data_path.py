"""Where many frames go in and none comes out a part fails, whatever it answers; where some do, or few went in, none."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from polysome_controller import control_pb2 as pb
from polysome_controller.data_path import LEAST, LOOKS, Step

from .conftest import SiteMaker
from .site import Site
from .test_load import POLLING

EVENTS = ("unknown", "edits", "returned", "merged")


def lost(looks: list[tuple[int, int]]) -> int:
    step = Step("frames")
    for sent, received in looks:
        step.look(sent, received)
    return step.lost


def test_all_of_many_is_a_fault_after_some_looks() -> None:
    looks = [(LEAST * n, 0) for n in range(LOOKS + 2)]
    assert lost(looks) == LEAST * LOOKS
    assert all(lost(looks[:n]) == 0 for n in range(LOOKS + 2))


@pytest.mark.parametrize("late", range(LOOKS + 2))
def test_one_that_comes_in_is_enough(late: int) -> None:
    assert lost([(LEAST * n, int(n >= late)) for n in range(LOOKS + 2)]) == (LEAST * LOOKS if late == 0 else 0)


def test_a_few_are_no_evidence() -> None:
    each = (LEAST - 1) // LOOKS
    assert lost([(each * n, 0) for n in range(20)]) == 0


def test_what_was_sent_after_the_last_look_may_be_under_way() -> None:
    assert lost([(0, 0)] * (LOOKS + 1) + [(10 * LEAST, 0)]) == 0


def test_it_is_a_fault_until_something_comes_in_or_an_end_begins_anew() -> None:
    looks = [(LEAST * n, 0) for n in range(LOOKS + 2)]
    quiet = [looks[-1]] * 20
    assert lost(looks + quiet) > 0
    assert lost([*looks, *quiet, (looks[-1][0] + 1, 1)]) == 0
    anew = [(0, 0), (1, 1)]
    assert lost(looks + anew + [(1 + n, 1 + n) for n in range(LOOKS + 2)]) == 0


@pytest.mark.parametrize("share", [1, 2, 10])
def test_load_that_loses_part_of_all_is_no_fault(share: int) -> None:
    looks = [(100 * n, 100 * n // share) for n in range(20)]
    assert all(b[1] > a[1] for a, b in pairwise(looks)) and lost(looks) == 0


class Frames:
    """What both ends of each step count: `broken` loses all."""

    def __init__(self, s: Site, broken: str) -> None:
        self.site, self.broken = s, broken
        self.port = s.switch.ports.setdefault(32, pb.PortStatistics(port=32, up=True))

    async def run(self) -> None:
        nf = self.site.nfs[0]
        nf.counters = {"frames in": 0, "frames out": 0}
        while True:
            await asyncio.sleep(0.005)
            self.port.frames_out += 10
            if self.broken == "to the NF":
                continue
            nf.counters["frames in"] += 10
            nf.counters["frames out"] += 8  # it drops some
            if self.broken == "from the NF":
                continue
            self.port.frames_in += 8
            self.site.switch.count("Ingress.events", EVENTS.index("edits") << 4, 8)
            if self.broken != "out":
                self.site.switch.count("Ingress.events", EVENTS.index("merged") << 4, 7)


@pytest.mark.parametrize(
    ("broken", "part", "why"),
    [
        ("to the NF", "nf1", "frames that the switch sent reached the NF"),
        ("from the NF", "switch", "frames that the NF sent reached the switch"),
        ("out", "switch", "packets that came back from the NF reached a port"),
        ("", "", ""),
    ],
)
def test_a_part_that_answers_and_does_not_work_is_failing(site: SiteMaker, broken: str, part: str, why: str) -> None:
    async def scenario() -> None:
        async with site(polling=POLLING, ingressEvents=EVENTS) as s:
            await s.start()
            await s.nfs[1].stop()  # nobody takes the traffic over
            frames = Frames(s, broken)
            running = asyncio.ensure_future(frames.run())
            try:
                if not part:
                    await s.pause(40)
                    assert all(s.part(name).state == "up" for name in ("switch", "nf1"))
                    return
                await s.until(lambda: s.part(part).state == "failing")
                assert why in s.part(part).detail and s.part(part).detail.startswith("none of ")
                frames.broken = ""
                await s.until(lambda: s.part(part).state == "up")
            finally:
                running.cancel()

    asyncio.run(scenario())


def test_the_traffic_goes_to_the_other_nf_if_nothing_reaches_one(site: SiteMaker) -> None:
    async def scenario() -> None:
        async with site(polling=POLLING, ingressEvents=EVENTS) as s:
            await s.start()
            running = asyncio.ensure_future(Frames(s, "to the NF").run())
            try:
                await s.until(lambda: s.status().active == "nf2")
                await s.until(lambda: s.part("nf1").state == "standby")
            finally:
                running.cancel()

    asyncio.run(scenario())
