"""What is true of every plan, whatever site and traffic: a plan that is made fits, or one error says why not."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.helpers import example

from polysome.ir.program import Traffic
from polysome.plan import frames
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.parking import TICK
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.model import Options, Plan
from polysome.plan.site import Site, default_site
from polysome.plan.split import plan
from polysome.syntax.diagnostics import SpecError

NAMES = ("load_balancer", "shaper", "policer")


@st.composite
def sites(draw: st.DrawFn, ports: tuple[str, ...]) -> Site:
    model = draw(st.sampled_from(["software", "tofino", "tofino2"]))
    site = default_site(ports, model, draw(st.integers(1, 4)), draw(st.integers(1, 2)))
    latency = draw(st.sampled_from([0, 10**5, 10**6]))
    memory = draw(st.sampled_from([2**20, 2**28, 2**34, 2**40]))
    return replace(
        site,
        mtu=draw(st.integers(576, 9500)),
        traffic_rate=draw(st.integers(10**6, 4 * 10**11)),
        nf_servers=tuple(replace(s, latency=latency) for s in site.nf_servers),
        rdma_servers=tuple(replace(s, memory=memory) for s in site.rdma_servers),
    )


@st.composite
def traffics(draw: st.DrawFn) -> Traffic | None:
    if draw(st.booleans()):
        return None
    rate = draw(st.none() | st.integers(1, 10**12))
    return Traffic(rate, draw(st.none() | st.integers(0, 70_000)), None, None)


def power(n: int) -> bool:
    return n > 0 and n & (n - 1) == 0


def check(made: Plan, site: Site, declared: bool) -> None:
    over = {(link.name, link.direction) for link in made.links if link.load.value > link.capacity.value}
    assert over <= (set() if declared else {("traffic ports", "out")})
    assert bool(over) == any("on the way out" in note for note in made.notes)
    assert all(made.nf_link.value <= server.largest_frame for server in site.nf_servers)
    assert made.cores.value >= 1
    p = parking_of(made)
    assert (p is not None) == bool(made.split) == (made.whole_rate is not None)
    if p is None:
        return
    assert all(power(n.value) for n in (p.cell, p.path_mtu, p.cells, p.slots, p.queue_pairs, p.buckets, p.tries))
    assert p.slots.value <= p.cells.value <= 2**30 and p.timeout.value % TICK == 0
    assert p.cell.value <= p.path_mtu.value <= 4096
    assert p.longest.value + requests.CELL_HEADER + requests.MOST_PAD <= p.cell.value
    assert p.longest.value <= site.largest_frame
    packets = made.traffic.packets.value
    assert p.cells.value * 10**9 >= packets * p.parked.value
    assert p.slots.value * 10**9 >= packets * p.read.value
    assert p.timeout.value > p.read.value > p.queueing.value and p.silence.value >= 2 * p.timeout.value
    assert p.parked.value >= p.hold.value + p.read.value
    for region, server in zip(p.regions, site.rdma_servers, strict=True):
        assert region.bytes == p.cells.value * p.cell.value <= server.memory
        assert region.count <= server.nic.queue_pairs
    for f in made.split:
        assert f.least_length <= p.threshold.value + 1
        assert 2 * frames.whole(p.threshold.value + 1) > f.to_nf + f.from_nf
        assert frames.BRIDGE + f.depth <= site.switch.egress_depth_most_bytes


@given(data=st.data())
@settings(max_examples=60)
def test_every_plan_fits_or_says_why_not(data: st.DataObject) -> None:
    program = example(data.draw(st.sampled_from(NAMES)))
    site = data.draw(sites(program.ports))
    program = replace(program, traffic=data.draw(traffics()))
    carry = data.draw(st.sampled_from(["fields", "headers"]))
    try:
        made = plan(program, site, Options(carry="headers" if carry == "headers" else "fields"))
    except SpecError as error:
        (found,) = error.diagnostics
        assert found.code in ("E1401", "E1402", "E1403", "E1404", "E1405") and found.span and found.why and found.mend
        return
    check(made, site, program.traffic is not None and program.traffic.rate is not None)
