"""The links of RDMA servers: what parked packets come to on each."""

from __future__ import annotations

from polysome.plan import frames
from polysome.plan.architectures.ribosome import requests
from polysome.plan.load import packets_per_second
from polysome.plan.model import Link, Traffic
from polysome.plan.numbers import Number, ceil_div, power_of_two
from polysome.plan.site import RdmaServer, Site

BUCKETS_EACH = 16  # buckets of a queue pair: so finely its load can be moved
MOST_BUCKETS = 2**16
REQUESTS = 2  # for a packet that is parked: WRITE and READ


def bucket_count(pairs: int) -> int:
    """Buckets for so many queue pairs."""
    return min(MOST_BUCKETS, power_of_two(pairs * BUCKETS_EACH))


def own_buckets(server: int, servers: int, pairs: int, buckets: int) -> int:
    """How many of the buckets are a server's own, of `pairs` queue pairs each: buckets take queue pairs in turn."""
    rounds, rest = divmod(buckets, pairs * servers)
    return rounds * pairs + min(max(rest - server * pairs, 0), pairs)


def share(parked: int, server: int, servers: int, pairs: int, buckets: int) -> Number:
    """Packets per second that are parked on a server of `pairs` queue pairs: as many as fall into its buckets, all of
    which are alike."""
    own = own_buckets(server, servers, pairs, buckets)
    words = packets_per_second(parked)
    if own * servers != buckets:
        words += f" × {own} / {buckets} of the buckets"
    elif servers > 1:
        words += f" / {servers}"
    return Number(ceil_div(parked * own, buckets), "packets/s", words)


def memory_links(site: Site, server: RdmaServer, load: Traffic, parked: Number) -> list[Link]:
    """WRITE and READ one way, the response and some ACKs the other; and the payload: NICs limit it too.

    A response acknowledges its READ. As a queue pair's WRITEs and READs take turns, those that ask for an ACK may all
    be WRITEs.
    """
    mean, share, words = load.mean.value, parked.value, parked.formula
    full = site.rate_to(server)
    capacity = Number(full, "bit/s", f"the slower of port and NIC, {server.nic.name}", (site.name,))
    if server.link_rate == full:
        capacity = Number(full, "bit/s", "link_rate", (site.name,))
    if server.spare is not None and server.spare < full:
        capacity = Number(server.spare, "bit/s", "spare_bandwidth", (site.name,))
    gap, write, response = frames.GAP, requests.write(mean), requests.response(mean)
    to = Number(
        share * (write + requests.READ + 2 * gap) * 8,
        "bit/s",
        f"{words} × (WRITE {write} + READ {requests.READ} + 2 × {gap} B) × 8",
    )
    acks = ceil_div(share * REQUESTS * (requests.ACK + gap) * 8, requests.ACK_EVERY)
    some = f"{REQUESTS} × (ACK {requests.ACK} + {gap} B) / {requests.ACK_EVERY}"
    back = Number(
        share * (response + gap) * 8 + acks,
        "bit/s",
        f"{words} × (response {response} + {gap} B + {some}) × 8",
    )
    goodput = Number(server.nic.goodput_bps, "bit/s", "goodput_bps", (f"targets/{server.nic.name}",))
    name = f"RDMA server {server.name}"
    return [
        Link(name, "to", to, capacity, server.name),
        Link(name, "from", back, capacity, server.name),
        Link(name, "goodput", Number(share * mean * 8, "bit/s", f"{words} × {mean} B × 8"), goodput, server.name),
    ]


def servers_for(link: Link) -> int:
    """So many that the one with most buckets carries what falls into them."""
    count = max(1, ceil_div(link.load.value, link.capacity.value))
    while link.load.value * own_buckets(0, count, 1, bucket_count(count)) > link.capacity.value * bucket_count(count):
        count += 1
    return count
