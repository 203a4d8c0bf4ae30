"""What the switch's queues are told, against what waits in them and how long that takes on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.plan.helpers import example, made

from polysome.plan import frames, targets
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.model import Plan
from polysome.plan.site import Site, default_site
from polysome.plan.split import fitting_site
from polysome.syntax.diagnostics import SpecError

LB = ("clients", "servers")
THREE = default_site(LB, "tofino", rdma_servers=3)


def test_the_load_balancers_queues_by_hand() -> None:
    """A WRITE of 98 B or more has 13 B of bridge header before it: 2 cells of 80 B. One of 147 B fills them, and is
    147 + 74 of RoCE + 4 of cell header + 7 of pad + 24 B on the wire, 256: 128 B for each cell."""
    q = made("load_balancer", THREE).queues
    assert requests.write(147) - requests.pad(147) + requests.MOST_PAD + frames.GAP == 256
    assert q.limit.value == 1_000_000 // 128 * 80 == 624_960
    assert q.first.value == 64 * 80  # for each queue pair a frame of 13 + 62 + 4 B
    assert q.total.value == (2 + 1 + 3 + 2) * 624_960 + 3 * 5_120


def test_where_nothing_is_parked_packets_go_to_the_nf_only() -> None:
    """One of 67 B fills a cell, and takes 67 + 26 + 24 B."""
    found = made("bridge", fitting_site(example("bridge"), "tofino"))
    assert parking_of(found) is None
    assert found.queues.limit.value == 1_000_000 // 117 * 80
    assert found.queues.first.value == 0 and "no queue pair" in found.queues.first.formula


def _waiting(found: Plan, site: Site) -> Iterator[tuple[int, int]]:
    """Of every frame that may wait for a link of NF or RDMA servers: its cells, and its bytes on the wire."""
    cell, p = site.switch.cell_bytes, parking_of(found)
    yield 1, requests.READ + frames.GAP
    for length in range(60, site.largest_frame + 1):
        cells = -(-(frames.BRIDGE + length) // cell)
        yield cells, frames.whole(length) + frames.GAP
        if p is not None and p.threshold.value < length <= p.longest.value:
            yield cells, requests.write(length) - requests.pad(length) + requests.MOST_PAD + frames.GAP
    for f in found.split:
        yield -(-(frames.BRIDGE + f.depth) // cell), f.to_nf + frames.GAP


@pytest.mark.parametrize("switch", ["tofino", "tofino2", "software", "linux"])
@pytest.mark.parametrize("name", ["load_balancer", "nat", "forwarder", "telemetry"])
def test_what_a_queue_holds_leaves_in_the_time_that_is_planned(name: str, switch: str) -> None:
    site = fitting_site(example(name), switch)
    found = made(name, site)
    parking = parking_of(found)
    assert parking is not None
    queued = found.queues.limit.value // site.switch.cell_bytes
    slowest = min(site.rate_to(s) for s in (*site.nf_servers, *site.rdma_servers))
    for cells, on_wire in _waiting(found, site):
        longest = queued // cells * on_wire * 8 * 10**9 // slowest
        assert longest <= parking.queueing.value
    # And it is not much shorter than that, or bursts are lost for nothing.
    assert (
        max(queued // cells * on_wire for cells, on_wire in _waiting(found, site))
        > 0.85 * site.switch.queue_limit_bytes
    )


def test_the_last_port_that_fits() -> None:
    """20 MB are 31 queues of 624 960 B, of which recirculation and the controller have one each."""
    small = replace(THREE, switch=replace(THREE.switch, packet_buffer_bytes=8 * 624_960 + 3 * 5_120))
    assert made("load_balancer", small).queues.total.value == small.switch.packet_buffer_bytes
    smaller = replace(small, switch=replace(small.switch, packet_buffer_bytes=small.switch.packet_buffer_bytes - 1))
    with pytest.raises(SpecError) as error:
        made("load_balancer", smaller)
    assert [d.code for d in error.value.diagnostics] == ["E1407"]


@pytest.mark.parametrize(("name", "cells"), [("tofino", 286_720), ("tofino2", 393_216)])
def test_the_sdes_own_queues_have_cells_left(name: str, cells: int) -> None:
    """What a chip has in all, by the SDE's sources."""
    chip = targets.switch(name)
    assert chip.packet_buffer_bytes < cells * chip.cell_bytes
