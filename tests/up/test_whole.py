"""The load balancer's bundle of the architecture `whole`, up, with nginx behind it: switch, NF server, and no other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.up.load.capture import Capture
from tests.up.load.examples import UPLOADED, Balanced, balancer
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
    whole.everybody_answers()


def test_files_arrive_as_they_were_and_all_by_the_nf(whole: Balanced) -> None:
    """What the links to RDMA servers carry else crosses the NF's, there and back."""
    file = whole.up.folder.parent / "random"
    link = Capture(whole.made, "ps-load_balancer-nf1", "eth1", file.with_name("nf1")).begun()
    whole.upload(file)
    assert sum(link.lengths()) > 2 * UPLOADED


def test_no_request_fails_under_load(whole: Balanced) -> None:
    whole.no_request_fails("wrk through the load balancer, whole packets")
