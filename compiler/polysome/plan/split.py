"""The split plan: from a spec, a site and what is known of the hardware, every number of the split protocol.

DESIGN sections 5 (Plan) and 6 (rules 1, 4, 5, 6, 7). All sums are of whole numbers, rounded to the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence

from polysome.analysis.layout import WIRE, Carry
from polysome.analysis.sharding import sharding
from polysome.ir import program as ir
from polysome.plan import frames
from polysome.plan.kinds import kinds
from polysome.plan.limits import Limits
from polysome.plan.load import TRAFFIC_PORTS, links, memory_links, traffic
from polysome.plan.model import USUAL, Link, Options, Parking, Plan, Traffic
from polysome.plan.numbers import Number, binary, ceil_div, rate
from polysome.plan.parking import park
from polysome.plan.queues import queues
from polysome.plan.site import NfServer, Site, default_site
from polysome.syntax.diagnostics import Report


def plan(program: ir.Program, site: Site, options: Options = USUAL) -> Plan:
    """The plan; SpecError with one error, of E1401 to E1407, if it does not fit."""
    limits = Limits(program, site, Report())
    load = traffic(program, site)
    found = kinds(program, site, options.carry, load.mean.value)
    split = [f for f in found if f.number is not None]
    nf, cores, notes = _machines(program, site)
    largest = max((max(f.fields, f.edits) for f in split), default=0)
    nf_link = Number(
        site.largest_frame + WIRE.overhead + largest,
        "B",
        f"{site.largest_frame} B, the largest input, + {WIRE.overhead} B of Ethernet and tag + {largest} B of fields",
        (site.name,),
    )
    limits.nf_frame(nf_link)
    parking = park(program, site, options, load, split, limits) if split else None
    found_queues = queues(site, parking, limits)
    loads = links(site, load, split, parking, nf)
    if parking is None:
        notes += ["no packet is split: the NF gets them all whole, and RDMA servers are of no use to it"]
    else:
        notes += _parking_notes(site, load, parking, loads)
    result = Plan(
        nf=program.name,
        carry=options.carry,
        site=site.name,
        switch=site.switch.name,
        traffic=load,
        frames=tuple(found),
        parking=parking,
        queues=found_queues,
        nf_servers=tuple(s.name for s in nf),
        cores=cores,
        nf_link=nf_link,
        whole_rate=_whole_rate(site, load, loads, nf),
        links=tuple(loads),
        notes=tuple(notes),
    )
    limits.overload(result)
    return result


def fitting_site(
    program: ir.Program, switch: str = "software", rdma_servers: int | None = None, carry: Carry = "fields"
) -> Site:
    """The default site with as many servers as its traffic takes; of RDMA servers two at least, or the number given."""
    site = default_site(program.ports, switch, 1)
    load = traffic(program, site)
    memory = memory_links(site, site.rdma_servers[0], load)
    split = [f for f in kinds(program, site, carry, load.mean.value) if f.number is not None]
    if rdma_servers is None:
        rdma_servers = max(2, *map(_servers_for, memory)) if split else 1
    to_nf = links(site, load, split, None, site.nf_servers)[2:] if not split else []
    nf_servers = max(map(_servers_for, to_nf), default=1) if sharding(program).spreads else 1
    return default_site(program.ports, switch, rdma_servers, nf_servers)


def _servers_for(link: Link) -> int:
    return ceil_div(link.load.value, link.capacity.value)


# ---------------------------------------------------------------- the machines


def _machines(program: ir.Program, site: Site) -> tuple[tuple[NfServer, ...], Number, list[str]]:
    """The NF servers that are of use, the cores of each, and what is to be said about that."""
    found = sharding(program)
    servers = site.nf_servers
    notes: list[str] = []
    if found.spreads:
        fewest = min(len(s.cores) for s in servers)
        formula = "all that each server has: packets may be spread over cores"
        if any(len(s.cores) > fewest for s in servers):
            formula = "as many as every server has: packets are spread evenly"
        return servers, Number(fewest, "cores", formula, (site.name,)), notes
    if len(servers) > 1:
        rest = ", ".join(s.name for s in servers[1:])
        notes.append(f"not used: NF server {rest}; the NF's state cannot be kept apart (`polysome check` says why)")
    return servers[:1], Number(1, "cores", "the NF's state cannot be kept apart: one core has it all"), notes


def _whole_rate(site: Site, load: Traffic, loads: Sequence[Link], nf: Sequence[NfServer]) -> Number:
    """What is left of the NF link, for packets that go whole because no queue pair is up (rule 5)."""
    mean, extra = load.mean.value, WIRE.overhead + frames.GAP
    left = min(
        max(0, link.capacity.value - link.load.value)
        for link in loads
        if link.name in {f"NF server {s.name}" for s in nf}
    )
    return Number(
        left * mean // (mean + extra),
        "bit/s",
        f"{rate(left)} left of the fuller direction × {mean} / ({mean} + {extra} B of tag and wire)",
    )


def _parking_notes(site: Site, load: Traffic, parking: Parking, loads: Sequence[Link]) -> list[str]:
    notes = []
    full = next(link for link in loads if (link.name, link.direction) == (TRAFFIC_PORTS, "out"))
    if full.load.value > full.capacity.value:
        notes.append(
            f"ports that are full on the way in are too full on the way out: up to {frames.MOST_SUFFIX} B follow each "
            "packet that was parked, and what finds no room is dropped there"
        )
    if len(site.rdma_servers) == 1:
        notes.append("there is one RDMA server: while it is down, packets go whole, as far as the NF link carries them")
    if parking.longest.value < site.largest_frame:
        notes.append(
            f"packets over {parking.longest.value} B go whole: {binary(parking.cell.value)} is the largest cell"
        )
    if load.mean.value <= parking.threshold.value:
        notes.append(f"packets of the mean length, {load.mean.value} B, are not split: too short")
    return notes
