"""A server's link is not ours: what may be used of it falls and rises, and payload follows, that of others does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from tests.up.figures import record
from tests.up.load.examples import Between
from tests.up.load.iperf import measure, server
from tests.up.load.network import end, mac_of, neighbour
from tests.up.needed import TOGETHER, need

from polysome.deploy.client import open_client
from polysome.deploy.find import endpoint_in
from polysome.deploy.messages import control

need("iperf3")
pytestmark = TOGETHER

POLL = 0.1  # s, [controller] poll of the site
RATE, FLOWS = 48_000_000, 24  # bit/s in all
LONGEST = 15.0


@contextmanager
def traffic(at: Between) -> Iterator[None]:
    """UDP at a fixed rate in many flows, each with a bucket of its own."""
    folder = at.up.folder.parent
    options = ("--udp", "--bitrate", f"{RATE // FLOWS}", "--parallel", f"{FLOWS}", "--length", "1200", "--time", "60")
    with server(at.made, at.outside, folder / "spare-server.log"):
        client = at.made.start(
            at.inside, "iperf3", "--client", "198.51.100.2", *options, log=folder / "spare-client.log"
        )
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
    with traffic(nat):
        wait_for(nat, "both carry payload", lambda now: all(s.payload > RATE // 8 for s in now.values()))
        time.sleep(1)
        before = loads(nat)
        full = before["memory1"]
        assert full.buckets == full.own_buckets > 0
        set_spare(nat, "memory1", full.payload // 3)
        fell = wait_for(nat, "memory1 has fewer buckets", lambda now: now["memory1"].buckets < full.buckets)
        settled = wait_for(
            nat, "payload is what is allowed", lambda now: now["memory1"].payload <= 1.1 * now["memory1"].allowed
        )
        time.sleep(5 * POLL)
        now = loads(nat)
        left = now["memory1"].buckets / full.buckets
        assert 0.1 < left < 0.6, "about a third of the buckets stay"
        assert now["memory2"].buckets >= before["memory2"].own_buckets == now["memory2"].own_buckets
        set_spare(nat, "memory1", full.allowed)
        back = wait_for(nat, "all buckets are back", lambda now: now["memory1"].buckets == full.buckets)
    record("spare bandwidth to a third: until buckets moved", fell, "s")
    record("spare bandwidth to a third: until payload had followed", fell + settled, "s")
    record("spare bandwidth back: until all buckets were back", back, "s")
    assert fell + settled < 2, f"three polls are {3 * POLL:g} s"


def test_own_work_of_servers_passes_and_is_seen(nat: Between) -> None:
    """From one server to the other over the switch; each knows the other's address by hand, as ARP is no traffic."""
    first, second = (f"ps-nat-{name}" for name in ("memory1", "memory2"))
    ips = {first: "198.19.255.16", second: "198.19.255.17"}
    for place, other in ((first, second), (second, first)):
        neighbour(place, "eth1", ips[other], mac_of(other, "eth1"))
    wait_for(nat, "nothing goes on", lambda now: all(s.own < 1e6 for s in now.values()))
    with server(nat.made, second, nat.up.folder.parent / "own.log"), ThreadPoolExecutor(1) as pool:
        sums = pool.submit(measure, first, ips[second])
        seen = wait_for(nat, "both have work of their own", lambda now: all(s.own > 1e6 for s in now.values()))
        rate = sums.result()["sum_received"]["bits_per_second"]
    record("iperf3 TCP between two RDMA servers, their own work", rate / 1e6, "Mbit/s")
    record("until the controller saw own work", seen, "s")
    assert rate > 1e6
