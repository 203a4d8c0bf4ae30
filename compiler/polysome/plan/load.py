"""The traffic that is planned for, and what it comes to on every link."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.ir import program as ir
from polysome.plan import frames
from polysome.plan.model import Frames, Link, Parking, Traffic
from polysome.plan.numbers import Number, ceil_div, rate
from polysome.plan.site import NfServer, RdmaServer, Site

USUAL_MEAN = 1000  # bytes, where the spec has no `traffic { mean … }`
SHORTEST = 60  # of a frame on Ethernet, without FCS
TRAFFIC_PORTS = "traffic ports"


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


def heaviest(split: Sequence[Frames]) -> Frames:
    """The frames that stand for all, since nobody says which packets are how many."""
    return max(split, key=lambda f: (f.to_nf + f.from_nf, f.to_nf))


def links(
    site: Site, load: Traffic, split: Sequence[Frames], parking: Parking | None, nf: Sequence[NfServer]
) -> list[Link]:
    """Every link with its predicted load: all packets have the mean length, and the frames of the heaviest class."""
    packets, mean = load.packets.value, load.mean.value
    ports = sum(map(len, site.traffic))
    capacity = Number(ports * site.traffic_rate, "bit/s", f"{ports} × {rate(site.traffic_rate)}", (site.name,))
    parked = parking is not None and parking.threshold.value < mean <= parking.longest.value
    leaving = load.rate
    if parked:
        to_nf, from_nf = heaviest(split).to_nf, heaviest(split).from_nf
        formula = f"{_share(packets, 1)[1]} × ({mean} + {frames.MOST_SUFFIX} B that may follow + {frames.GAP} B) × 8"
        leaving = Number(bits(packets, mean + frames.MOST_SUFFIX), "bit/s", formula)
    else:
        to_nf = from_nf = frames.whole(mean)
    found = [Link(TRAFFIC_PORTS, "in", load.rate, capacity), Link(TRAFFIC_PORTS, "out", leaving, capacity)]
    for server in nf:
        found += _nf_links(site, server, packets, len(nf), to_nf, from_nf)
    for memory in site.rdma_servers if parked else ():
        found += memory_links(site, memory, load)
    return found


def _share(packets: int, among: int) -> tuple[int, str]:
    share = ceil_div(packets, among)
    return share, f"{packets:,} packets/s".replace(",", " ") + (f" / {among}" if among > 1 else "")


def _nf_links(site: Site, server: NfServer, packets: int, among: int, to_nf: int, from_nf: int) -> list[Link]:
    share, words = _share(packets, among)
    full = site.rate_to(server)
    capacity = Number(full, "bit/s", f"the slower of port and NIC, {server.nic.name}", (site.name,))
    return [
        Link(
            f"NF server {server.name}",
            direction,
            Number(bits(share, size), "bit/s", f"{words} × ({size} + {frames.GAP} B) × 8"),
            capacity,
        )
        for direction, size in (("to", to_nf), ("from", from_nf))
    ]


def memory_links(site: Site, server: RdmaServer, load: Traffic) -> list[Link]:
    """WRITE and READ one way, an ACK of the WRITE and the response the other; and the payload: NICs limit it too."""
    mean = load.mean.value
    share, words = _share(load.packets.value, len(site.rdma_servers))
    full = site.rate_to(server)
    capacity = Number(full, "bit/s", f"the slower of port and NIC, {server.nic.name}", (site.name,))
    if server.link_rate == full:
        capacity = Number(full, "bit/s", "link_rate", (site.name,))
    if server.spare is not None and server.spare < full:
        capacity = Number(server.spare, "bit/s", "spare_bandwidth", (site.name,))
    gap = frames.GAP
    to, back = (frames.write(mean), frames.READ), (frames.response(mean), frames.ACK)
    name = f"RDMA server {server.name}"

    def both(sizes: tuple[int, int], what: tuple[str, str]) -> Number:
        total = share * (sum(sizes) + 2 * gap) * 8
        formula = f"{words} × ({what[0]} {sizes[0]} + {what[1]} {sizes[1]} + 2 × {gap} B) × 8"
        return Number(total, "bit/s", formula)

    goodput = Number(server.nic.goodput_bps, "bit/s", "goodput_bps", (f"targets/{server.nic.name}",))
    return [
        Link(name, "to", both(to, ("WRITE", "READ")), capacity),
        Link(name, "from", both(back, ("response", "ACK")), capacity),
        Link(name, "goodput", Number(share * mean * 8, "bit/s", f"{words} × {mean} B × 8"), goodput),
    ]
