"""The traffic that is planned for, and what it comes to on every link."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.plan import frames
from polysome.plan.mix import on_nf_link
from polysome.plan.model import Frames, Link, Mix, Store, Traffic
from polysome.plan.numbers import Number, ceil_div, rate
from polysome.plan.site import Site
from polysome.syntax.diagnostics import listed
from polysome_protocol import MOST_SUFFIX

USUAL_MEAN = 1000  # bytes, where the spec has no `traffic { mean … }`
SHORTEST = 60  # of a frame on Ethernet, without FCS
TRAFFIC_PORTS = "traffic ports"
STANDBY = "standby NF server"


def bits(packets: int, size: int) -> int:
    """Bit/s on the wire of that many frames per second."""
    return packets * (size + frames.GAP) * 8


def traffic(program: ir.Program, site: Site) -> Traffic:
    """What the spec's `traffic` says, else the site's ports at full rate with packets of the usual mean length."""
    declared = program.traffic
    ports = sum(map(len, site.traffic))
    most = ports * site.traffic_rate
    spec = f"`traffic` in {program.file.rsplit('/', 1)[-1]}"
    if declared is not None and declared.rate is not None:
        total = Number(declared.rate, "bit/s", "as declared, on the wire", (spec,))
    else:
        total = Number(most, "bit/s", f"{ports} ports × {rate(site.traffic_rate)}", (site.name,))
    if declared is not None and declared.mean is not None:
        size = min(max(SHORTEST, declared.mean), site.largest_frame)
        bound = (
            "" if size == declared.mean else f", which is between {SHORTEST} and {site.largest_frame} on these links"
        )
        mean = Number(size, "B", f"as declared: {declared.mean} B{bound}", (spec,))
    else:
        mean = Number(USUAL_MEAN, "B", "assumed: the spec declares no `traffic { mean … }`")
        if site.largest_frame < USUAL_MEAN:
            mean = Number(site.largest_frame, "B", "the largest frame", (site.name,))
    wire = mean.value + frames.GAP
    packets = Number(
        max(1, ceil_div(total.value, wire * 8)),
        "packets/s",
        f"{rate(total.value)} / 8 / ({mean.value} + {frames.GAP} B on the wire)",
    )
    return Traffic(total, mean, packets)


def links(
    program: ir.Program,
    site: Site,
    load: Traffic,
    found: Sequence[Frames],
    mixed: Mix,
    store: Store | None,
) -> list[Link]:
    """Every link with its predicted load, all packets that are not too short having the mean length.

    A standby's link is listed with what it gets when it takes over.
    """
    made = [*traffic_links(program, site, load, found, mixed)]
    both = on_nf_link(load, found, mixed, store)
    for n, server in enumerate(site.nf_servers):
        name = f"{STANDBY if n else 'NF server'} {server.name}"
        capacity = Number(site.rate_to(server), "bit/s", f"the slower of port and NIC, {server.nic.name}", (site.name,))
        made += [
            Link(name, way, number, capacity, server.name) for way, number in zip(("to", "from"), both, strict=True)
        ]
    if store is not None:
        made += store.links(site, load, mixed)
    return made


# ---------------------------------------------------------------- traffic ports


def traffic_links(
    program: ir.Program, site: Site, load: Traffic, found: Sequence[Frames], mixed: Mix
) -> Iterator[Link]:
    """All traffic ports together; and each logical port of several switch ports, which sends by the first alone."""
    packets, mean = load.packets.value, load.mean.value
    ports = sum(map(len, site.traffic))
    rates = rate(site.traffic_rate)
    yield Link(
        TRAFFIC_PORTS, "in", load.rate, Number(ports * site.traffic_rate, "bit/s", f"{ports} × {rates}", (site.name,))
    )
    longer, words = _longer(found, mixed)
    leaving = load.rate
    if longer:
        formula = f"{packets_per_second(packets)} × ({mean} + {longer} B {words} + {frames.GAP} B) × 8"
        leaving = Number(bits(packets, mean + longer), "bit/s", formula)
    exits = len(site.traffic)
    formula = f"{exits} × {rates}" + (", one switch port of each logical one" if ports > exits else "")
    yield Link(TRAFFIC_PORTS, "out", leaving, Number(exits * site.traffic_rate, "bit/s", formula, (site.name,)))
    capacity = Number(site.traffic_rate, "bit/s", "what its first switch port can: it sends by no other", (site.name,))
    for port, (name, bound) in enumerate(zip(program.ports, site.traffic, strict=True)):
        if len(bound) > 1:
            yield Link(f"port {name}", "out", _leaving_by(program, site, load, leaving, port), capacity)


def _longer(found: Sequence[Frames], mixed: Mix) -> tuple[int, str]:
    """Bytes by which packets may be longer on their way out, and why."""
    grows = max((f.grows for f in found if f.number is None and f.usual), default=0) if mixed.whole.value else 0
    suffix = MOST_SUFFIX if mixed.split.value else 0
    if grows > suffix:
        return grows, "of headers that are pushed"
    return suffix, "that may follow"


def _leaving_by(program: ir.Program, site: Site, load: Traffic, leaving: Number, port: int) -> Number:
    """At most all that comes in by the ports whose packets may be sent there, and no more than is planned for.

    Of traffic that is declared, what follows packets counts too; ports that are just full have a note for that.
    """
    sources = [n for n in range(len(program.ports)) if port in exits_of(program, n)]
    switch_ports = sum(len(site.traffic[n]) for n in sources)
    arriving = switch_ports * site.traffic_rate
    names = listed(program.ports[n] for n in sources) or "no port"
    declared = program.traffic is not None and program.traffic.rate is not None
    total = leaving if declared else load.rate
    most = ceil_div(arriving * total.value, load.rate.value)
    if most <= total.value:
        follows = ", and what follows packets" if declared else ""
        formula = f"all that comes in by {names}, {switch_ports} × {rate(site.traffic_rate)}{follows}"
        return Number(most, "bit/s", formula, (site.name,))
    return Number(total.value, "bit/s", f"all of it: what comes in by {names} may be sent there")


def exits_of(program: ir.Program, port: int) -> frozenset[int]:
    """The logical ports by which a packet that came in by `port` may leave."""
    found: set[int] = set()
    for handler in program.packet_handlers:
        if port not in handler.ports:
            continue
        for node in walk([handler.body]):
            match node:
                case ir.Send(target=ir.Const(value=int() as number)):
                    found.add(number)
                case ir.Send():
                    return frozenset(range(len(program.ports)))
                case ir.Bounce():
                    found.add(port)
    return frozenset(found)


def packets_per_second(count: int) -> str:
    return f"{count:,} packets/s".replace(",", " ")
