"""From a program and a site to all that is fixed of a system before it runs: plan, ways, sizes of the P4 program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from polysome.analysis.framed import edits_frame
from polysome.analysis.layout import Carry
from polysome.ir import program as ir
from polysome.plan.architectures import named
from polysome.plan.model import Options, Plan
from polysome.plan.site import Site
from polysome.plan.sizes import NOTHING, Addresses, Sizes
from polysome.plan.split import fitting_site, plan
from polysome.plan.way import Way

# Addresses of a site that names none: locally administered (02, then "poly"; the switch refuses packets with its own
# address, so not one that traffic made by hand would have), and of a net for tests between networks (RFC 2544).
SWITCH_MAC = 0x02_70_6F_6C_79_01
SWITCH_IP = 0xC6_13_FF_FE
NF_MAC = 0x02_70_6F_6C_79_02
SERVER_MAC = 0x02_70_6F_6C_79_10
SERVER_IP = 0xC6_13_FF_10


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
    program: ir.Program,
    servers: int | None = None,
    queue_pairs: int | None = None,
    carry: Carry = "fields",
    architecture: str = Site.architecture,
) -> Design:
    """On the default software site, with as many servers as its traffic takes, or the number given."""
    site = fitting_site(program, rdma_servers=servers, carry=carry, architecture=architecture)
    return design(program, site, queue_pairs, carry)


def design(program: ir.Program, site: Site, queue_pairs: int | None = None, carry: Carry = "fields") -> Design:
    """`queue_pairs`: of each server; None: what the load takes. SpecError if the plan does not fit the site."""
    made = plan(program, site, Options(carry, queue_pairs))
    found = () if made.store is None else named(site.architecture).ways(program, site, carry)
    sizes = NOTHING if made.store is None else made.store.sizes(site, edits_frame(program, carry))
    addresses = Addresses(SWITCH_MAC, SWITCH_IP, site.recirculation_port)
    # Where nothing is split, there is no fields frame that could carry more or less.
    return Design(program, site, made, carry if found else "fields", found, sizes, addresses)
