"""Each part is killed while the load balancer works: it comes back by itself, and nothing is corrupted meanwhile."""

from __future__ import annotations

import os
import signal
import time

import pytest
from tests.up.figures import record
from tests.up.load.examples import VIP, Balanced
from tests.up.load.healthy import LONGEST, wait_until_healthy
from tests.up.load.network import ip
from tests.up.load.uploads import check_kept, uploads
from tests.up.needed import DEPLOYED, need

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
