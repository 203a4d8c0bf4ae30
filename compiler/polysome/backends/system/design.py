"""From a program and a site to all that is fixed of a system before it runs: plan, ways, sizes of the P4 program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from polysome.analysis.framed import edits_frame, framed_classes
from polysome.analysis.layout import WIRE, Carry
from polysome.backends.tofino.program import Addresses, Sizes
from polysome.ir import program as ir
from polysome.plan import frames
from polysome.plan.model import Options, Parking, Plan
from polysome.plan.numbers import ceil_div, power_of_two
from polysome.plan.site import Site
from polysome.plan.split import fitting_site, plan
from polysome.plan.way import Way
from polysome.plan.ways import ways
from polysome_protocol import CLOCK

# Addresses of a site that names none: locally administered (02, then "poly"; the switch refuses packets with its own
# address, so not one that traffic made by hand would have), and of a net for tests between networks (RFC 2544).
SWITCH_MAC = 0x02_70_6F_6C_79_01
SWITCH_IP = 0xC6_13_FF_FE
NF_MAC = 0x02_70_6F_6C_79_02
SERVER_MAC = 0x02_70_6F_6C_79_10
SERVER_IP = 0xC6_13_FF_10

LEAST_QUEUE_PAIRS = 64  # of the program's tables, so that a few more queue pairs make no other program
NOTHING = Sizes(
    slots=2,
    queue_pairs=LEAST_QUEUE_PAIRS,
    buckets=2,
    cells=2,
    cell=2048,
    least=65_535,
    most=65_535,
    edits_frame=WIRE.minimum,
    timeout=256,
    most_reads=16,
    tries=8,
    nf_ports=1,
    server_ports=1,
)  # where nothing is split


@dataclass(frozen=True)
class Design:
    """`ways`: those that the switch splits, numbered from 1; none if all packets go whole."""

    program: ir.Program
    site: Site
    plan: Plan
    carry: Carry
    ways: tuple[Way, ...]
    sizes: Sizes
    addresses: Addresses

    @property
    def queue_pairs(self) -> tuple[int, ...]:
        """The server of each queue pair."""
        parking = self.plan.parking
        if parking is None:
            return ()
        return tuple(i for i, region in enumerate(parking.regions) for _ in range(region.count))

    @property
    def fallback_rate(self) -> int:
        """Of packets that find no queue pair, bit/s; 0 where there are none."""
        return 0 if self.plan.whole_rate is None else self.plan.whole_rate.value

    def server_mac(self, number: int) -> int:
        return self.site.rdma_servers[number].mac or SERVER_MAC + number

    def server_ip(self, number: int) -> int:
        return self.site.rdma_servers[number].ip or SERVER_IP + number

    @property
    def nf_mac(self) -> int:
        return self.site.nf_servers[0].mac or NF_MAC


@lru_cache(maxsize=256)
def default_design(
    program: ir.Program, servers: int | None = None, queue_pairs: int | None = None, carry: Carry = "fields"
) -> Design:
    """On the default software site, with as many servers as its traffic takes, or the number given."""
    return design(program, fitting_site(program, rdma_servers=servers, carry=carry), queue_pairs, carry)


def design(program: ir.Program, site: Site, queue_pairs: int | None = None, carry: Carry = "fields") -> Design:
    """`queue_pairs`: of each server; None: what the load takes. SpecError if the plan does not fit the site."""
    made = plan(program, site, Options(carry, queue_pairs))
    found = _ways(program, site, carry) if made.parking is not None else ()
    sizes = NOTHING if made.parking is None else _sizes(site, made.parking, edits_frame(program, carry))
    addresses = Addresses(SWITCH_MAC, SWITCH_IP, site.recirculation_port)
    # Where nothing is split, there is no fields frame that could carry more or less.
    return Design(program, site, made, carry if found else "fields", found, sizes, addresses)


def _ways(program: ir.Program, site: Site, carry: Carry) -> tuple[Way, ...]:
    """Those whose fields the chip's egress sees, and that the NF knows as fields frames."""
    most = site.switch.egress_depth_most_bytes - frames.BRIDGE
    found = [way for way in ways(program, framed_classes(program, carry)) if way.depth(program.parser) <= most]
    return tuple(replace(way, number=n) for n, way in enumerate(found, 1))


def _sizes(site: Site, parking: Parking, edits: int) -> Sizes:
    total = sum(region.count for region in parking.regions)
    return Sizes(
        slots=parking.slots.value,
        queue_pairs=power_of_two(max(LEAST_QUEUE_PAIRS, total + 1)),  # the last one is never up: no server's
        buckets=parking.buckets.value,
        cells=parking.cells.value,
        cell=parking.cell.value,
        least=parking.threshold.value + 1,
        most=parking.longest.value,
        edits_frame=edits,
        timeout=ceil_div(parking.timeout.value, CLOCK.tick),
        most_reads=min(server.nic.outstanding_reads for server in site.rdma_servers),
        tries=parking.tries.value,
        nf_ports=len(site.nf_servers),
        server_ports=len(site.rdma_servers),
    )
