"""The load balancer's bundle of the architecture `whole`, up, with nginx behind it: switch, NF server, and no other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.up.figures import record
from tests.up.load.capture import Capture
from tests.up.load.examples import VIP, Balanced, balancer
from tests.up.load.web import curl, digest, random_file, wrk
from tests.up.needed import DEPLOYED, need

need("nginx", "wrk", "curl", "tcpdump", "nft")
pytestmark = DEPLOYED


@pytest.fixture(scope="module")
def whole(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Balanced]:
    """On the example's own site, whose RDMA servers take no part."""
    with balancer(tmp_path_factory.mktemp("whole"), {}, "--architecture", "whole") as found:
        yield found


def test_there_is_a_switch_an_nf_server_and_no_other_machine(whole: Balanced) -> None:
    status = whole.up.status()
    assert {part.name for part in status.parts} == {"switch", "nf1"}
    assert {part.state for part in status.parts} <= {"up", "active"} and not status.queue_pairs
    assert not (whole.up.folder / "logs" / "memory1.log").exists()


def test_every_server_is_asked_and_answers(whole: Balanced) -> None:
    names = [curl(whole.client, f"http://{VIP}/who", "--interface", source) for source in whole.sources * 3]
    assert set(names) == {f"{server.name}\n" for server in whole.servers}


def test_files_arrive_as_they_were_and_all_by_the_nf(whole: Balanced) -> None:
    """20 MB up: what the links to RDMA servers carry else crosses the NF's, there and back."""
    file = whole.up.folder.parent / "random"
    wanted = random_file(file, 20_000_000)
    link = Capture(whole.made, "ps-load_balancer-nf1", "eth1", file.with_name("nf1")).begun()
    curl(whole.client, f"http://{VIP}/kept", "--upload-file", str(file))
    kept = [server.files / "kept" for server in whole.servers if (server.files / "kept").exists()]
    assert [digest(path) for path in kept] == [wanted]
    assert sum(link.lengths()) > 2 * 20_000_000


def test_no_request_fails_under_load(whole: Balanced) -> None:
    result = wrk(whole.client, f"http://{VIP}/who", seconds=5)
    record("wrk through the load balancer, whole packets", result.rate, "requests/s")
    assert result.errors == 0 and result.requests > 100, result.text
