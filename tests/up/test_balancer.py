"""The load balancer's bundle, up, with nginx behind it: nothing fails or changes, and payload stays off the NF link."""

from __future__ import annotations

import json

from tests.up.figures import record
from tests.up.load.capture import Capture
from tests.up.load.examples import VIP, Balanced
from tests.up.load.web import curl, digest, random_file, wrk
from tests.up.needed import DEPLOYED, need

need("nginx", "wrk", "curl", "tcpdump", "nft")
pytestmark = DEPLOYED


def test_every_server_is_asked_and_answers(lb: Balanced) -> None:
    names = [curl(lb.client, f"http://{VIP}/who", "--interface", source) for source in lb.sources * 3]
    assert set(names) == {f"{server.name}\n" for server in lb.servers}


def test_files_arrive_as_they_were_and_not_by_the_nf(lb: Balanced) -> None:
    """20 MB up through the NF: each link inside is captured."""
    file = lb.up.folder.parent / "random"
    wanted = random_file(file, 20_000_000)
    links = {
        name: Capture(lb.made, f"ps-load_balancer-{name}", "eth1", file.with_name(name)).begun()
        for name in ("nf1", "memory1", "memory2")
    }
    curl(lb.client, f"http://{VIP}/kept", "--upload-file", str(file))
    kept = [server.files / "kept" for server in lb.servers if (server.files / "kept").exists()]
    assert [digest(path) for path in kept] == [wanted]
    lengths = {name: capture.lengths() for name, capture in links.items()}
    plan = json.loads((lb.up.folder.parent / "bundle" / "plan.json").read_text())
    most = max(max(way["to_nf"], way["from_nf"]) for way in plan["frames"] if way["number"] is not None)
    small = [length for length in lengths["nf1"] if length <= most]
    record("frames on the NF link that are as small as planned", len(small) / len(lengths["nf1"]), "of all")
    assert sum(lengths["nf1"]) < 0.15 * 2 * 20_000_000
    assert max(small) <= 64 and len(small) > 0.99 * len(lengths["nf1"])
    assert sum(lengths["memory1"]) + sum(lengths["memory2"]) > 2 * 20_000_000


def test_no_request_fails_under_load(lb: Balanced) -> None:
    result = wrk(lb.client, f"http://{VIP}/who", seconds=5)
    record("wrk through the load balancer", result.rate, "requests/s")
    assert result.errors == 0 and result.requests > 100, result.text
    assert all(server.asked > 0 for server in lb.servers)
