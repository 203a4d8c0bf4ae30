"""What parking on RDMA servers takes: cells, slots, queue pairs and times, and what others ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polysome.plan import frames
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.memory import memory_links, share
from polysome.plan.model import Link, Mix, Plan, Store, Traffic
from polysome.plan.numbers import Group, Number, binary, ceil_div, power_of_two
from polysome.plan.site import Site
from polysome.plan.sizes import LEAST_QUEUE_PAIRS, Sizes
from polysome.plan.targets import Switch
from polysome_protocol import CLOCK, MOST_SUFFIX

# Bytes that a packet is longer on the wire as a WRITE.
TO_SERVER = requests.write(0) - requests.pad(0) + requests.MOST_PAD - frames.BRIDGE + frames.GAP
CHECK_SEQUENCE = 4  # may be stored with a frame


@dataclass(frozen=True)
class Region:
    """An RDMA server's part: queue pairs `first` to `first + count - 1`, and a region of `bytes` from address 0."""

    name: str
    port: int
    first: int
    count: int
    bytes: int


@dataclass(frozen=True)
class Parking(Store):
    """How packets are parked.

    `hold`: by the schedule; `queueing`: in the switch, for the NF's or a server's port; `read`: from the edits' arrival
    to the response's; `parked`: from the packet's arrival to the response's. `timeout` is T of rule 6, `tries` K,
    `silence` and `sweep` (between two packets of the generator) of rule 4. `queue_pairs` is per server; queue pair q is
    number q mod queue_pairs of server q div queue_pairs.
    """

    cell: Number
    path_mtu: Number
    hold: Number
    read: Number
    parked: Number
    cells: Number
    slots: Number
    slot_blocks: Number
    queue_pairs: Number
    buckets: Number
    timeout: Number
    tries: Number
    silence: Number
    sweep: Number
    regions: tuple[Region, ...]

    @property
    def machines(self) -> tuple[str, ...]:
        return tuple(region.name for region in self.regions)

    @property
    def called(self) -> str:
        return "RDMA servers"

    @property
    def in_short(self) -> str:
        pairs = sum(region.count for region in self.regions)
        return f"{self.slots.text} slots in {self.slot_blocks.text} blocks of SRAM, {pairs} queue pairs"

    def lent(self, machine: str) -> str:
        return binary(next(region.bytes for region in self.regions if region.name == machine))

    def groups(self) -> list[Group]:
        words = f"{self.cells.value} cells × {self.cell.value} B, on every server"
        region = Number(self.regions[0].bytes, "bytes", words)
        times = [("held", self.hold), ("queueing", self.queueing), ("being read", self.read), ("parked", self.parked)]
        return [
            ("which packets", [("split above", self.threshold), ("split up to", self.longest)]),
            ("how long", times),
            (
                "memory of each RDMA server",
                [("cell", self.cell), ("path MTU", self.path_mtu), ("cells", self.cells), ("region", region)],
            ),
            (
                "switch",
                [
                    ("slots", self.slots),
                    ("SRAM of slots", self.slot_blocks),
                    ("queue pairs of a server", self.queue_pairs),
                    ("buckets", self.buckets),
                    ("timeout", self.timeout),
                    ("recirculations", self.tries),
                    ("silence", self.silence),
                    ("sweep, every", self.sweep),
                ],
            ),
        ]

    def notes(self, site: Site, load: Traffic) -> Iterator[str]:
        if len(site.rdma_servers) == 1:
            yield "there is one RDMA server: while it is down, packets go whole, as far as the NF link carries them"
        longest = self.longest.value
        if longest + MOST_SUFFIX < site.largest_frame:
            yield f"packets over {longest} B go whole: {binary(self.cell.value)} is the largest cell"
        elif longest < site.largest_frame:
            yield (
                f"packets over {longest} B go whole, so that with the up to {MOST_SUFFIX} B that follow none leaves "
                f"longer than {site.largest_frame} B; where ports and neighbours take more, `mtu` of `[switch]` says so"
            )
        if load.mean.value <= self.threshold.value:
            yield f"packets of the mean length, {load.mean.value} B, are not split: too short"

    def links(self, site: Site, load: Traffic, mixed: Mix) -> list[Link]:
        servers, pairs, buckets = site.rdma_servers, self.queue_pairs.value, self.buckets.value
        shares = [share(mixed.split.value, n, len(servers), pairs, buckets) for n in range(len(servers))]
        return [
            link for server, own in zip(servers, shares, strict=True) for link in memory_links(site, server, load, own)
        ]

    def relief(self, site: Site, link: Link) -> str:
        if link.server not in self.machines:
            return ""
        more = ceil_div(len(site.rdma_servers) * link.load.value, link.capacity.value)
        return f"Use {more} RDMA servers like it, or declare a lower `traffic {{ rate … }}`."

    def on_wire(self, cell: int) -> Iterator[tuple[int, str]]:
        taken = ceil_div(frames.BRIDGE + self.threshold.value + 1, cell)
        words = f"a cell of a WRITE, which has {taken} at least, takes {cell} + {TO_SERVER} / {taken} B at most"
        yield cell + ceil_div(TO_SERVER, taken), words
        yield requests.READ + frames.GAP, f"a READ takes {requests.READ} + {frames.GAP} B"

    def first_queue(self, chip: Switch) -> Number:
        """A frame for each queue pair (rule 3)."""
        cell, frame = chip.cell_bytes, frames.BRIDGE + requests.ACK + CHECK_SEQUENCE
        each, pairs = ceil_div(frame, cell) * cell, self.queue_pairs.value
        return Number(
            pairs * each, "B", f"{pairs} queue pairs × {each} B of cells for a frame of {frame} B that sets a PSN"
        )

    def sizes(self, site: Site, edits: int) -> Sizes:
        total = sum(region.count for region in self.regions)
        return Sizes(
            slots=self.slots.value,
            queue_pairs=power_of_two(max(LEAST_QUEUE_PAIRS, total + 1)),  # the last one is never up: no server's
            buckets=self.buckets.value,
            cells=self.cells.value,
            cell=self.cell.value,
            least=self.threshold.value + 1,
            most=self.longest.value,
            edits_frame=edits,
            timeout=ceil_div(self.timeout.value, CLOCK.tick),
            most_reads=min(server.nic.outstanding_reads for server in site.rdma_servers),
            tries=self.tries.value,
            nf_ports=len(site.nf_servers),
            server_ports=len(site.rdma_servers),
        )


def parking_of(plan: Plan) -> Parking | None:
    """How a plan's packets are parked; None if none is, or if they wait elsewhere."""
    return plan.store if isinstance(plan.store, Parking) else None


def regions(plan: Plan) -> tuple[Region, ...]:
    """What each RDMA server lends; none if no packet is parked."""
    parking = parking_of(plan)
    return () if parking is None else parking.regions


def queue_pairs(plan: Plan) -> tuple[int, ...]:
    """The server of each queue pair, by its place in the site."""
    return tuple(i for i, region in enumerate(regions(plan)) for _ in range(region.count))
