"""The split plan: from a spec, a site and what is known of the hardware, every number of the split protocol.

DESIGN sections 5 (Plan) and 6 (rules 1, 4, 5, 6, 7). All sums are of whole numbers, rounded to the safe side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polysome.analysis.layout import WIRE, Carry
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.walk import emits, walk
from polysome.plan import frames
from polysome.plan.architectures import named
from polysome.plan.limits import Limits
from polysome.plan.load import TRAFFIC_PORTS, links, traffic
from polysome.plan.mix import mix, on_nf_link
from polysome.plan.model import USUAL, Frames, Link, Mix, Options, Plan, Store, Traffic
from polysome.plan.numbers import Number, rate
from polysome.plan.queues import queues
from polysome.plan.site import Site, default_site
from polysome.syntax.diagnostics import Report, listed
from polysome_protocol import MOST_SUFFIX

MBPS = 10**6


def plan(program: ir.Program, site: Site, options: Options = USUAL) -> Plan:
    """The plan; SpecError with one error, of E1401 to E1408, if it does not fit."""
    limits = Limits(program, site, Report())
    load = traffic(program, site)
    chosen = named(site.architecture)
    found = chosen.frames(program, site, options.carry, load.mean.value)
    split = [f for f in found if f.number is not None]
    grows = max((f.grows for f in found), default=0)
    nf_link = _nf_link(site, grows)
    limits.nf_frame(nf_link)
    store = chosen.store(limits, options, load, split)
    found_queues = queues(site, store, limits)
    mixed = mix(site, load, found, store)
    loads = links(program, site, load, found, mixed, store)
    standby = tuple(s.name for s in site.nf_servers[1:])
    result = Plan(
        nf=program.name,
        architecture=chosen.name,
        carry=options.carry,
        site=site.name,
        switch=site.switch.name,
        traffic=load,
        mix=mixed,
        frames=tuple(found),
        store=store,
        queues=found_queues,
        nf_server=site.nf_servers[0].name,
        standby=standby,
        cores=_cores(load),
        nf_link=nf_link,
        out_frame=_out_frame(site, grows, store),
        whole_rate=_whole_rate(site, load, loads) if store is not None else None,
        links=tuple(loads),
        notes=tuple(_notes(program, site, load, found, mixed, store, loads)),
    )
    limits.overload(result)
    return result


def fitting_site(
    program: ir.Program,
    switch: str = "software",
    rdma_servers: int | None = None,
    carry: Carry = "fields",
    architecture: str = Site.architecture,
) -> Site:
    """The default site with as many RDMA servers as the architecture needs for its traffic, or the number given.

    One NF server has all the traffic, so where the spec declares no rate, traffic ports are as fast as its link takes.
    """
    chosen = named(architecture)
    site = default_site(program.ports, switch, chosen.least_servers, architecture=architecture)
    load = traffic(program, site)
    found = chosen.frames(program, site, carry, load.mean.value)
    between = chosen.window(site, [f for f in found if f.number is not None])
    mixed = mix(site, load, found, between)
    if program.traffic is None or program.traffic.rate is None:
        needed = max(number.value for number in on_nf_link(load, found, mixed, between))
        site = replace(site, traffic_rate=_carried(site, needed))
        load = traffic(program, site)
    if rdma_servers is None:
        rdma_servers = chosen.servers(site, load, mix(site, load, found, between), between)
    # With many servers, ports are slower.
    fitting = default_site(program.ports, switch, rdma_servers, architecture=architecture)
    return replace(fitting, traffic_rate=min(fitting.traffic_rate, site.traffic_rate))


def _carried(site: Site, needed: int) -> int:
    """The rate of each traffic port with which the NF link is not too full, in whole Mbps."""
    room = site.rate_to(site.nf_servers[0])
    return site.traffic_rate if needed <= room else site.traffic_rate * room // needed // MBPS * MBPS


# ---------------------------------------------------------------- the machines


def _cores(load: Traffic) -> Number:
    asked = f"{load.packets.value:,} packets/s".replace(",", " ")
    return Number(1, "cores", f"the program of the NF runs on one core, which is asked for all {asked}")


def _nf_link(site: Site, grows: int) -> Number:
    largest = site.largest_frame
    longer = f" + {grows} B of headers that are pushed" if grows > 0 else ""
    return Number(
        largest + max(0, grows) + WIRE.overhead,
        "B",
        f"{largest} B, the largest input,{longer} + {WIRE.overhead} B of Ethernet and tag",
        (site.name,),
    )


def _out_frame(site: Site, grows: int, store: Store | None) -> Number:
    """Of what a neighbour on a traffic port gets."""
    largest = site.largest_frame
    words = f"{largest} B, the largest that goes whole"
    words += f", + {grows} B of headers that are pushed" if grows > 0 else ""
    if store is not None:
        longest = store.longest.value
        words += f"; what is parked has {longest} B at most, and up to {MOST_SUFFIX} B follow it"
        return Number(max(largest + max(0, grows), longest + MOST_SUFFIX), "B", words, (site.name,))
    return Number(largest + max(0, grows), "B", words, (site.name,))


def _whole_rate(site: Site, load: Traffic, loads: Sequence[Link]) -> Number:
    """What is left of the NF link, for packets that go whole because no queue pair is up (rule 5)."""
    mean, extra = load.mean.value, WIRE.overhead + frames.GAP
    names = {server.name for server in site.nf_servers}
    left = min(link.capacity.value - link.load.value for link in loads if link.server in names)
    return Number(
        max(1, left * mean // (mean + extra)),  # a meter without a rate would let all pass
        "bit/s",
        f"{rate(max(0, left))} left of the fuller direction × {mean} / ({mean} + {extra} B of tag and wire)",
    )


# ---------------------------------------------------------------- notes


def _notes(
    program: ir.Program,
    site: Site,
    load: Traffic,
    found: Sequence[Frames],
    mixed: Mix,
    store: Store | None,
    loads: Sequence[Link],
) -> Iterator[str]:
    if len(site.nf_servers) > 1:
        rest = listed(s.name for s in site.nf_servers[1:])
        yield f"one NF server has all the traffic, the first that is up; standing by: {rest}"
    if site.idle:
        yield (
            f"RDMA servers {listed(site.idle)} take no part: the architecture `{site.architecture}` has no use for "
            "them, and the switch forwards nothing of theirs"
        )
    if site.source is None and site.traffic_rate < (site.switch.traffic_rate_bps or site.port_rate):
        yield "the traffic ports of this default site are as fast as the link of one NF server takes, and no faster"
    if store is None:
        yield from named(site.architecture).unused(site)
    elif mixed.whole.value and mixed.split.value and site.whole is None:
        yield f"NF link and {store.called} are planned for the worst case of each: nobody says which packets come"
    longest = max((f.grows for f in found), default=0)
    if longest > 0:
        yield (
            f"packets of over {site.largest_frame - longest} B that get {longest} B of headers leave longer than the "
            f"{site.largest_frame} B that `mtu` of `[switch]` says of the ports: what finds no room is dropped there"
        )
    if emits(program):
        yield "packets that the NF makes itself, by `emit`, are not counted: nobody says how many there are"
    if any(
        isinstance(node, ir.Send) and isinstance(node.target.type, t.SetOf) for node in walk(program.packet_handlers)
    ):
        yield "packets that are sent to several ports are counted once on the way out: nobody says how many there are"
    full = next(link for link in loads if (link.name, link.direction) == (TRAFFIC_PORTS, "out"))
    if full.load.value > full.capacity.value:
        yield (
            "ports that are full on the way in are too full on the way out: packets leave longer, and what finds no "
            "room is dropped there"
        )
    if store is not None:
        yield from store.notes(site, load)
