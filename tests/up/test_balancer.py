"""The load balancer's bundle, up, with nginx behind it: nothing fails or changes, and payload stays off the NF link."""

from __future__ import annotations

import json

from tests.up.figures import record
from tests.up.load.capture import Capture
from tests.up.load.examples import UPLOADED, Balanced
from tests.up.needed import DEPLOYED, need

need("nginx", "wrk", "curl", "tcpdump", "nft")
pytestmark = DEPLOYED


def test_every_server_is_asked_and_answers(lb: Balanced) -> None:
    lb.everybody_answers()


def test_files_arrive_as_they_were_and_not_by_the_nf(lb: Balanced) -> None:
    """Each link inside is captured."""
    file = lb.up.folder.parent / "random"
    links = {
        name: Capture(lb.made, f"ps-load_balancer-{name}", "eth1", file.with_name(name)).begun()
        for name in ("nf1", "memory1", "memory2")
    }
    lb.upload(file)
    lengths = {name: capture.lengths() for name, capture in links.items()}
    plan = json.loads((lb.up.folder.parent / "bundle" / "plan.json").read_text())
    most = max(max(way["to_nf"], way["from_nf"]) for way in plan["frames"] if way["number"] is not None)
    small = [length for length in lengths["nf1"] if length <= most]
    record("frames on the NF link that are as small as planned", len(small) / len(lengths["nf1"]), "of all")
    assert sum(lengths["nf1"]) < 0.15 * 2 * UPLOADED
    assert max(small) <= 64 and len(small) > 0.99 * len(lengths["nf1"])
    assert sum(lengths["memory1"]) + sum(lengths["memory2"]) > 2 * UPLOADED


def test_no_request_fails_under_load(lb: Balanced) -> None:
    lb.no_request_fails("wrk through the load balancer")
    assert all(server.asked > 0 for server in lb.servers)
