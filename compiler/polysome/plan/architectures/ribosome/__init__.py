"""Packets wait in the memory of RDMA servers, and the NF sees the bytes that matter (Ribosome, NSDI'23)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polysome.analysis.layout import Carry
from polysome.ir import program as ir
from polysome.plan.architectures.base import Architecture
from polysome.plan.architectures.ribosome import parking
from polysome.plan.architectures.ribosome.memory import memory_links, servers_for
from polysome.plan.architectures.ribosome.store import Parking
from polysome.plan.kinds import kinds, seen
from polysome.plan.limits import Limits
from polysome.plan.model import Frames, Mix, Options, Traffic, Window
from polysome.plan.site import Site
from polysome.plan.way import Way


class Ribosome(Architecture):
    """Slots by sequence number keep the edits, cells behind queue pairs the packets (PROTOCOL.md)."""

    name = "ribosome"
    about = "packets wait on RDMA servers, and the NF gets the bytes that matter"
    least_servers = 1

    def frames(self, program: ir.Program, site: Site, carry: Carry, mean: int) -> list[Frames]:
        return kinds(program, site, carry, mean)

    def ways(self, program: ir.Program, site: Site, carry: Carry) -> tuple[Way, ...]:
        return seen(program, site, carry).ways

    def window(self, site: Site, split: Sequence[Frames]) -> Window | None:
        return parking.window(site, split) if split else None

    def store(self, limits: Limits, options: Options, load: Traffic, split: Sequence[Frames]) -> Parking | None:
        return parking.park(limits, options, load, split) if split else None

    def servers(self, site: Site, load: Traffic, mixed: Mix, window: Window | None) -> int:
        """Two at least, so that one can be down; one where nothing is parked."""
        if window is None:
            return self.least_servers
        return max(2, *map(servers_for, memory_links(site, site.rdma_servers[0], load, mixed.split)))

    def unused(self, site: Site) -> Iterator[str]:
        yield "no packet is split: the NF gets them all whole, and RDMA servers are of no use to it"


ARCHITECTURE = Ribosome()
