"""Each part is killed while the load balancer works: it comes back by itself, and nothing is corrupted meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import Any

import pytest
from tests.up.figures import record
from tests.up.load.examples import VIP, Balanced
from tests.up.load.healthy import LONGEST, wait_until_healthy
from tests.up.load.network import ip
from tests.up.load.uploads import check_kept, uploads
from tests.up.needed import DEPLOYED, need

from polysome.cli.deployment_text import WELL, healthy

need("nginx", "curl", "nft")
pytestmark = DEPLOYED

URL = f"http://{VIP}"


@pytest.mark.parametrize("part", ["memory1", "nf1", "controller", "switch"])
def test_a_killed_part_comes_back(lb: Balanced, part: str) -> None:
    wait_until_healthy(lb, time.monotonic())
    with uploads(lb.client, URL, lb.sources[:3], lb.up.folder.parent / f"kill-{part}") as load:
        time.sleep(1)
        before = lb.up.pid(part)
        killed = time.monotonic()
        os.kill(before, signal.SIGKILL)
        resumed = load.wait_for_one(killed, LONGEST)
        healthy = wait_until_healthy(lb, killed)
        load.wait_for_one(time.monotonic(), LONGEST)
    record(f"kill -9 {part}: until the next upload arrived", resumed, "s")
    record(f"kill -9 {part}: until all was up again", healthy, "s")
    record(f"kill -9 {part}: longest upload", max(u.ended - u.began for u in load.done), "s")
    record(f"kill -9 {part}: uploads that were reset", len(load.failed()), f"of {len(load.done)}")
    assert lb.up.pid(part) not in (0, before)
    check_kept(load.done, lb.servers)
    # The NF's memory of who is served by whom goes with it: servers reset connections that they do not know.
    lost = load.failed()
    assert all(part == "nf1" and upload.began < killed + 1 for upload in lost), lost


def test_an_nf_that_is_restarted_keeps_its_flows(lb: Balanced) -> None:
    """Three times while uploads are under way: none is reset, and the queue that waits meanwhile has room for all."""
    wait_until_healthy(lb, time.monotonic())
    before, pauses = lb.up.pid("nf1"), []
    with uploads(lb.client, URL, lb.sources[:3], lb.up.folder.parent / "restart-nf1") as load:
        time.sleep(1)
        for _ in range(3):
            asked, old = time.monotonic(), lb.up.pid("nf1")
            os.kill(old, signal.SIGTERM)
            while lb.up.pid("nf1") in (0, old):
                assert time.monotonic() < asked + LONGEST
                time.sleep(0.01)
            wait_until_healthy(lb, asked)
            pauses.append(load.wait_for_one(time.monotonic(), LONGEST))
    happened = [h.text for h in lb.up.status().happened if h.part == "nf1"]
    assert sum("with the state of the run before" in text for text in happened) == 3, happened
    record("NF restarted: longest upload", max(u.ended - u.began for u in load.done), "s")
    record("NF restarted: until the next upload arrived", max(pauses), "s")
    check_kept(load.done, lb.servers)
    assert not load.failed() and lb.up.pid("nf1") not in (0, before)


@pytest.mark.parametrize("end", ["memory2", "nf1"])
def test_a_link_goes_down_and_up(lb: Balanced, end: str) -> None:
    wait_until_healthy(lb, time.monotonic())
    namespace = f"ps-load_balancer-{end}"
    with uploads(lb.client, URL, lb.sources[:3], lb.up.folder.parent / f"link-{end}") as load:
        time.sleep(1)
        down = time.monotonic()
        ip("-n", namespace, "link", "set", "eth1", "down")
        time.sleep(2)
        up = time.monotonic()
        ip("-n", namespace, "link", "set", "eth1", "up")
        resumed = load.wait_for_one(up, LONGEST)
        healthy = wait_until_healthy(lb, up)
    without = [upload for upload in load.done if down <= upload.began and upload.ended <= up]
    record(f"link of {end} down for 2 s: uploads meanwhile", len(without), "whole ones")
    record(f"link of {end} down for 2 s: until the next upload arrived", resumed, "s")
    record(f"link of {end} down for 2 s: until all was up again", healthy, "s")
    check_kept(load.done, lb.servers)
    assert not load.failed()
    assert without or end == "nf1", "the other server's queue pairs stand in, the only NF server has nobody who could"


def test_an_agent_that_was_stopped_goes_down_and_comes_back_as_a_whole(lb: Balanced) -> None:
    """The switch sees its queue pairs one by one; under load, those with packets first."""
    wait_until_healthy(lb, time.monotonic())
    agent = lb.up.pid("memory1")
    with uploads(lb.client, URL, lb.sources[:3], lb.up.folder.parent / "stopped") as load:
        time.sleep(1)
        since = time.time_ns()
        os.kill(agent, signal.SIGSTOP)
        time.sleep(5)
        answers, answers_at = time.monotonic(), time.time_ns()
        os.kill(agent, signal.SIGCONT)
        wait_until_healthy(lb, answers)
    told = [h for h in lb.up.status().happened if h.part == "memory1" and h.time > since]
    down = [h.time / 1e9 for h in told if "taken down by the switch" in h.text]
    up = [h.time / 1e9 for h in told if h.text.startswith("queue pair") and h.text.endswith(" up")]
    record("an agent stops for 5 s: until the first of its queue pairs was down", down[0] - since / 1e9, "s")
    record("an agent stops for 5 s: from the first queue pair down to the last", down[-1] - down[0], "s")
    record("an agent goes on: until the first of its queue pairs was up", up[0] - answers_at / 1e9, "s")
    record("an agent goes on: from the first queue pair up to the last", up[-1] - up[0], "s")
    assert down[-1] < answers_at / 1e9 < up[0]
    assert up[-1] - up[0] < 2
    check_kept(load.done, lb.servers)
    assert not load.failed()


SILENT = 'table netdev lost {\n chain out {\n type filter hook egress device "eth1" priority 0; policy drop;\n }\n}\n'


def test_an_nf_whose_answers_are_lost_is_failing_though_it_answers_the_controller(lb: Balanced) -> None:
    wait_until_healthy(lb, time.monotonic())
    place = ("ip", "netns", "exec", "ps-load_balancer-nf1")
    subprocess.run([*place, "nft", "-f", "-"], input=SILENT, text=True, check=True)
    lost = time.monotonic()
    try:
        part = wait_for_state(lb, "nf1", "failing")
        record("answers of nf1 are lost: until it was said", time.monotonic() - lost, "s")
        assert "those that the controller answers do" in part.detail
        assert [p.name for p in lb.up.status().parts if p.state not in WELL] == ["nf1"]
        assert not healthy(lb.up.status())
    finally:
        subprocess.run([*place, "nft", "delete", "table", "netdev", "lost"], check=True)
    wait_until_healthy(lb, time.monotonic())


def wait_for_state(lb: Balanced, name: str, state: str) -> Any:
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        part = next(part for part in lb.up.status().parts if part.name == name)
        if part.state == state:
            return part
        time.sleep(0.1)
    raise AssertionError(f"{name} is never {state}: {lb.up.status()}")
