"""Each part is killed while wrk runs: requests go on, and none waits for longer than its retransmissions do."""

from __future__ import annotations

import os
import signal
import time

import pytest
from tests.up.figures import record
from tests.up.load.examples import VIP, Balanced
from tests.up.load.healthy import LONGEST, wait_until_healthy
from tests.up.load.network import ip
from tests.up.load.steady import Steady, steady
from tests.up.load.web import Wrk
from tests.up.needed import DEPLOYED, need

need("nginx", "wrk", "nft", "ss")
pytestmark = DEPLOYED

URL = f"http://{VIP}/who"
CARRIES_ON = 1.0  # s: longer than any pause on a loaded machine while nothing that carries packets is away
SEEN = 0.05  # s: a part that is back before the controller asks has not been away for it
SLACK = 1.5  # s: the first retransmission, and that of a connection that begins, on a loaded machine


def goes_on(lb: Balanced, load: Steady, what: str, since: float) -> float:
    """Until all is up again, and each connection works; how long nobody had an answer, or a part was away, in s."""
    healthy = wait_until_healthy(lb, since)
    load.wait_for_all(since + healthy, LONGEST)
    pause = load.pause(since)
    if healthy > SEEN:
        record(f"wrk, {what}: until all was up again", healthy, "s")
    record(f"wrk, {what}: longest time without any answer", pause, "s")
    return max(pause, healthy)


def check(result: Wrk, what: str, down: float, resets: bool = False) -> None:
    """`down`: for how long packets may have been lost, in s. TCP doubles its waits: one may last as long again."""
    record(f"wrk, {what}: requests", result.rate, "per s")
    record(f"wrk, {what}: longest request", result.longest, "s")
    record(f"wrk, {what}: connections that were reset", result.sockets, f"in {result.requests} requests")
    assert result.late == result.bad == 0, result.text
    assert result.longest < 2 * down + SLACK, result.text
    assert resets or result.sockets == 0, result.text


@pytest.mark.parametrize("part", ["memory1", "nf1", "controller", "switch"])
def test_a_part_is_killed(lb: Balanced, part: str) -> None:
    wait_until_healthy(lb, time.monotonic())
    what = f"kill -9 {part}"
    with steady(lb.made, lb.client, URL, lb.servers, lb.up.folder.parent / f"wrk-kill-{part}") as load:
        before, killed = lb.up.pid(part), time.monotonic()
        os.kill(before, signal.SIGKILL)
        down = goes_on(lb, load, what, killed)
        assert part != "controller" or load.pause(killed) < CARRIES_ON
    assert lb.up.pid(part) not in (0, before)
    # The NF's memory of who is served by whom goes with it: servers reset connections that they do not know.
    check(load.result(), what, down, resets=part == "nf1")


@pytest.mark.parametrize("end", ["memory2", "nf1"])
def test_a_link_goes_down_and_up(lb: Balanced, end: str) -> None:
    wait_until_healthy(lb, time.monotonic())
    what, namespace = f"link of {end} down for 2 s", f"ps-load_balancer-{end}"
    with steady(lb.made, lb.client, URL, lb.servers, lb.up.folder.parent / f"wrk-link-{end}") as load:
        down = time.monotonic()
        ip("-n", namespace, "link", "set", "eth1", "down")
        time.sleep(2)
        up = time.monotonic()
        ip("-n", namespace, "link", "set", "eth1", "up")
        down = up - down + goes_on(lb, load, what, up)
    check(load.result(), what, down)
