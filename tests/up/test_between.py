"""NAT and firewall bundles, up, between two networks: web and iperf3 through them, IPv4 and IPv6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.up.figures import record
from tests.up.load.capture import Capture
from tests.up.load.examples import Between
from tests.up.load.iperf import measure, server
from tests.up.load.network import run
from tests.up.load.web import curl, digest, random_file, wrk
from tests.up.needed import DEPLOYED, need

need("nginx", "wrk", "curl", "iperf3", "ping", "tcpdump")
pytestmark = DEPLOYED

SIZE = 20_000_000


def iperf(at: Between, *options: str) -> dict[str, Any]:
    """The sums at the end of an iperf3 run from the inside to the outside."""
    with server(at.made, at.outside, at.up.folder.parent / "iperf3.log"):
        return measure(at.inside, "198.51.100.2", *options)


def test_a_file_through_the_nat_is_what_it_was(nat: Between) -> None:
    wanted = random_file(nat.server.files / "file", SIZE)
    copy = nat.up.folder.parent / "copy"
    capture = Capture(nat.made, "ps-nat-nf1", "eth1", copy.with_suffix(".pcap")).begun()
    curl(nat.inside, "http://198.51.100.2/file", "--output", str(copy))
    assert digest(copy) == wanted
    curl(nat.inside, "http://198.51.100.2/back", "--upload-file", str(copy))
    assert digest(nat.server.files / "back") == wanted
    lengths = capture.lengths()
    share = sum(lengths) / (4 * SIZE)  # each byte would have gone to the NF and back, twice
    record("bytes on the NF link of the NAT", share, "of all that were carried")
    assert share < 0.15
    asked = {line.split()[0] for line in (nat.server.folder / "access.log").read_text().splitlines()}
    assert asked <= {"203.0.113.1", "203.0.113.2"}, "the inside is known by the pool's addresses alone"


def test_web_through_the_nat(nat: Between) -> None:
    result = wrk(nat.inside, "http://198.51.100.2/who", seconds=4)
    record("wrk through the NAT", result.rate, "requests/s")
    assert result.errors == 0 and result.requests > 100, result.text


@pytest.mark.parametrize("direction", ["out", "in"])
def test_tcp_through_the_nat(nat: Between, direction: str) -> None:
    sums = iperf(nat, *(["--reverse"] if direction == "in" else []))
    rate = sums["sum_received"]["bits_per_second"]
    record(f"iperf3 TCP through the NAT, {direction}", rate / 1e6, "Mbit/s")
    assert rate > 1e6


def test_udp_through_the_nat(nat: Between) -> None:
    sums = iperf(nat, "--udp", "--bitrate", "20M", "--length", "1200")
    sent, lost = sums["sum"]["packets"], sums["sum"]["lost_percent"]
    record("iperf3 UDP through the NAT, 20 Mbit/s: lost", lost, "%")
    assert sent > 1000 and lost < 5


@pytest.mark.parametrize("host", ["10.1.0.3", "[2001:db8::3]"])
def test_the_firewall_lets_the_inside_out(firewall: Between, host: str, tmp_path: Path) -> None:
    wanted, family = random_file(firewall.server.files / "file", SIZE), "IPv6" if ":" in host else "IPv4"
    curl(firewall.inside, f"http://{host}/file", "--output", str(tmp_path / "copy"))
    assert digest(tmp_path / "copy") == wanted
    result = wrk(firewall.inside, f"http://{host}/who", seconds=3)
    record(f"wrk through the firewall, {family}", result.rate, "requests/s")
    assert result.errors == 0 and result.requests > 100, result.text


def test_the_firewall_keeps_the_outside_out(firewall: Between) -> None:
    before = drops(firewall)
    done = run(firewall.outside, "sh", "-c", "ping -c3 -i0.2 -W1 10.1.0.2 || echo no answer")
    assert "no answer" in done
    assert drops(firewall) - before >= 3


def drops(at: Between) -> int:
    """Packets that the NF has dropped for reasons of its own."""
    return sum(counter.value for counter in at.up.status().drops if "ICMP type not allowed" in counter.name)
