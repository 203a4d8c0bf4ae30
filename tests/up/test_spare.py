"""A server's link is not ours: what may be used of it falls and rises, and payload follows, that of others does not.

How far and how fast is a matter of the machine's load too, and recorded; tests/controller/test_balance.py has the rule.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from tests.up.figures import record
from tests.up.load.examples import Between
from tests.up.load.iperf import measure, server
from tests.up.load.network import end, mac_of, run
from tests.up.needed import DEPLOYED, need

from polysome.deploy.client import open_client
from polysome.deploy.find import endpoint_in
from polysome.deploy.messages import control

need("iperf3")
pytestmark = DEPLOYED

POLL = 0.1  # s, [controller] poll of the site
RATE, FLOWS = 48_000_000, 24  # bit/s in all
LONGEST = 15.0
IPS = {"memory1": "198.19.255.16", "memory2": "198.19.255.17"}

# sites/firewall_slow.toml: 100 and 200 Mbit/s to the servers, of which 90 % may be filled
SLOW_POLL = 0.25  # s
SLOW_RATE, SLOW_FLOWS = 15_000_000, 48  # bit/s each way
OWN = 77_000_000  # bit/s


@contextmanager
def traffic(at: Between, address: str, rate: int, flows: int, *options: str) -> Iterator[None]:
    """UDP from the inside at `rate` bit/s in many flows, each with a bucket of its own."""
    folder = at.up.folder.parent
    each = ("--udp", "--bitrate", f"{rate // flows}", "--parallel", f"{flows}", "--length", "1200", "--time", "60")
    with server(at.made, at.outside, folder / "spare-server.log"):
        log = folder / "spare-client.log"
        client = at.made.start(at.inside, "iperf3", "--client", address, *each, *options, log=log)
        try:
            yield
        finally:
            end(client)


def loads(at: Between) -> dict[str, Any]:
    return {server.name: server for server in at.up.status().servers}


def wait_for(at: Between, what: str, done: Any) -> float:
    """How long until `done(loads)`, in s."""
    began = time.monotonic()
    while time.monotonic() < began + LONGEST:
        found = loads(at)
        if done(found):
            return time.monotonic() - began
        time.sleep(POLL / 4)
    raise AssertionError(f"not within {LONGEST} s: {what}\n{loads(at)}")


def set_spare(at: Between, server: str, rate: int) -> None:
    with open_client(endpoint_in(at.up.folder)) as client:
        client.configure(control().ConfigureRequest(spare=[control().Spare(server=server, rate=rate)]))


def test_payload_follows_what_may_be_used(nat: Between) -> None:
    with traffic(nat, "198.51.100.2", RATE, FLOWS):
        wait_for(nat, "both carry payload", lambda now: all(s.payload > RATE // 8 for s in now.values()))
        time.sleep(1)
        before = loads(nat)
        full = before["memory1"]
        assert full.buckets == full.own_buckets > 0
        left, fell, settled = squeezed(nat, full)
        assert loads(nat)["memory2"].buckets >= before["memory2"].own_buckets
        set_spare(nat, "memory1", full.allowed)
        back = wait_for(nat, "all buckets are back", lambda now: now["memory1"].buckets == full.buckets)
    record("spare bandwidth to a third: buckets that stay", left, "of all")
    record("spare bandwidth to a third: until buckets moved", fell, "s")
    record("spare bandwidth to a third: until payload had followed", fell + settled, "s")
    record("spare bandwidth back: until all buckets were back", back, "s")
    assert 0 < left < 0.8


def squeezed(at: Between, full: Any) -> tuple[float, float, float]:
    """What stays with memory1 of its buckets if it may have a third; until they moved, and until payload followed."""
    set_spare(at, "memory1", full.payload // 3)
    fell = wait_for(at, "memory1 has fewer buckets", lambda now: now["memory1"].buckets < full.buckets)
    settled = wait_for(
        at, "payload is what is allowed", lambda now: now["memory1"].payload <= 1.1 * now["memory1"].allowed
    )
    time.sleep(5 * POLL)
    return loads(at)["memory1"].buckets / full.buckets, fell, settled


def neighbours(at: Between) -> tuple[str, str]:
    """The namespaces of the two servers."""
    first, second = (f"ps-{at.up.status().nf}-{name}" for name in IPS)
    return first, second


def test_servers_find_each_other(nat: Between) -> None:
    """By ARP, which the switch passes on; neighbour discovery: tests/system/test_attacks.py."""
    first, second = neighbours(nat)
    run(first, "ip", "neighbour", "flush", "dev", "eth1")
    run(first, "ping", "-c", "1", "-W", "5", IPS["memory2"])
    assert mac_of(second, "eth1") in run(first, "ip", "neighbour", "show", IPS["memory2"], "dev", "eth1")


def test_own_work_of_servers_passes_and_is_seen(nat: Between) -> None:
    """From one server to the other over the switch."""
    first, second = neighbours(nat)
    wait_for(nat, "nothing goes on", lambda now: all(s.own < 1e6 for s in now.values()))
    with server(nat.made, second, nat.up.folder.parent / "own.log"), ThreadPoolExecutor(1) as pool:
        sums = pool.submit(measure, first, IPS["memory2"])
        seen = wait_for(nat, "both have work of their own", lambda now: all(s.own > 1e6 for s in now.values()))
        rate = sums.result()["sum_received"]["bits_per_second"]
    record("iperf3 TCP between two RDMA servers, their own work", rate / 1e6, "Mbit/s")
    record("until the controller saw own work", seen, "s")
    assert rate > 1e6


@contextmanager
def own_work(at: Between, rate: int) -> Iterator[None]:
    """UDP from the second server to the first one, whose link it nearly fills; the second one's is faster."""
    first, second = neighbours(at)
    folder = at.up.folder.parent
    with server(at.made, first, folder / "own-server.log"):
        options = ("--udp", "--bitrate", f"{rate}", "--length", "1200", "--time", "60")
        log = folder / "own-client.log"
        client = at.made.start(second, "iperf3", "--client", IPS["memory1"], *options, log=log)
        try:
            yield
        finally:
            end(client)


@contextmanager
def looks(at: Between) -> Iterator[list[dict[str, Any]]]:
    """What the controller says of the servers after each of its looks, until the end."""
    found, stop = [loads(at)], threading.Event()

    def watch() -> None:
        while not stop.wait(SLOW_POLL / 5):
            now = loads(at)
            if now and now != found[-1]:
                found.append(now)

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            yield found
        finally:
            stop.set()
            watching.result()


def longest_run(values: Iterable[bool]) -> int:
    """How often in a row it was so."""
    return max((len(list(run)) for value, run in groupby(values) if value), default=0)


def test_own_work_pushes_payload_away_and_lets_it_come_back(slow: Between) -> None:
    with traffic(slow, "10.1.0.3", SLOW_RATE, SLOW_FLOWS, "--bidir"):
        wait_for(slow, "both carry payload", lambda now: all(s.payload > SLOW_RATE / 2 for s in now.values()))
        time.sleep(2 * SLOW_POLL)
        before = loads(slow)["memory1"]
        assert before.buckets == before.own_buckets > 0
        with looks(slow) as seen, own_work(slow, OWN):
            wait_for(slow, "own work is seen", lambda now: now["memory1"].own > 0.9 * OWN)
            time.sleep(10 * SLOW_POLL)
            while_busy = list(seen)
        gone = time.monotonic()
        wait_for(slow, "all buckets are back", lambda now: now["memory1"].buckets == before.own_buckets)
        back = time.monotonic() - gone
    first = [looked["memory1"] for looked in while_busy]
    left = first[-1].buckets / before.buckets
    too_much = longest_run(one.payload > one.allowed for one in first)
    record("own work fills a link: looks of the controller with more payload than it leaves", too_much, "in a row")
    record("own work fills a link: buckets that stay", left, "of all")
    record("own work fills a link: payload that stays", first[-1].payload / before.payload, "of all")
    record("own work has gone: until all buckets were back", back, "s")
    assert 0 < left < 0.8, first
    # What memory2 has of its own never moves: it has at least as many buckets.
    assert all(looked["memory2"].buckets >= looked["memory2"].own_buckets > 0 for looked in seen)
