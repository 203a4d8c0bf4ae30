"""What a plan must fit into. The first limit that is broken is the error: the others may follow from it."""

from __future__ import annotations

from typing import NoReturn

from polysome.analysis.words import duration, size
from polysome.ir import program as ir
from polysome.plan.load import TRAFFIC_PORTS
from polysome.plan.model import Link, Plan
from polysome.plan.numbers import Number, binary, ceil_div, power_of_two, rate
from polysome.plan.site import DPDK_FRAME, Machine, RdmaServer, Site
from polysome.syntax.diagnostics import Report, SpecError
from polysome.syntax.spans import Span
from polysome_protocol import ETHERNET, TAG

MOST_SEQ = TAG["seq"].most + 1  # of the sequence numbers, which name cells and slots
SHORT = 80  # letters
SHARE = "`whole` under `[plan]` of the site file"
MOST_QUEUE_PAIRS = TAG["queue_pair"].most


class Limits:
    """Errors about one program on one site; each is raised at once, as SpecError with the program's warnings aside."""

    def __init__(self, program: ir.Program, site: Site, report: Report) -> None:
        self.program, self.site, self.report = program, site, report
        for name, source in program.sources.items():
            report.sources.setdefault(name, source)
        if site.source is not None:
            report.sources.setdefault(site.source.name, site.source)

    def stop(
        self, code: str, message: str, span: Span, why: str, mend: str, also: tuple[Span | None, str] | None
    ) -> NoReturn:
        places = [(also[0], also[1])] if also is not None and also[0] is not None else []
        self.report.add(code, message, span, also=places, why=why, mend=mend)
        raise SpecError(self.report.errors, self.report.sources)

    def no_bound(self, why: str) -> NoReturn:
        """E1406: how long packets are held is not bounded, so no number of cells is enough."""
        self.stop(
            "E1406",
            "the schedule has no bound on how long it holds a packet",
            self.program.schedule.span,
            f"A parked packet's cell is written anew once the cells ran through. {why[0].upper()}{why[1:]}.",
            'Make what the bound needs constant, or write `hold = "200ms"` under `[plan]` in the site file: '
            "what is held longer is dropped and counted.",
            None,
        )

    def memory(self, server: RdmaServer, cells: Number, cell: int, packets: int, parked: int, hold: int) -> None:
        """E1401: every server has a place for each cell, since one counter numbers the cells of all."""
        need = cells.value * cell
        if need <= server.memory and cells.value <= MOST_SEQ:
            return
        fit = power_of_two(min(server.memory // cell, MOST_SEQ) + 1) // 2  # rounded down
        longest = fit * 10**9 // packets - (parked - hold)
        shorter = f"hold packets {duration(longest)} at most, " if hold > longest > 0 else ""
        self.stop(
            "E1401",
            f"{binary(need)} of cells do not fit into the {binary(server.memory)} of server `{server.name}`",
            self.program.schedule.span if hold else self.program.span,
            f"{cells.value} cells × {cell} B, as {cells.formula}.",
            f"Lend {binary(need)}, {shorter}or declare a lower `traffic {{ rate … }}`.",
            (server.span, "this server"),
        )

    def slots(self, slots: int, cells: int, blocks: int, registers: int, widest: int, edits: int) -> None:
        """E1402: the registers of the slots and of the cells' bits must fit the switch's stateful memory."""
        chip = self.site.switch
        rams = chip.stages * chip.map_rams_per_stage
        if widest > chip.map_rams_per_stage:
            limit = f"a register of {widest} blocks, but a stage has {chip.map_rams_per_stage} that registers can use"
        elif blocks > rams:
            limit = f"{blocks} blocks of SRAM, but `{chip.name}` has {rams} that registers can use"
        elif registers > chip.stateful_alus:
            limit = f"{registers} registers, but `{chip.name}` has {chip.stateful_alus} stateful ALUs"
        else:
            return
        self.stop(
            "E1402",
            f"{slots} slots for the edits, and {cells} cells, need {limit}",
            self.program.span,
            f"A slot has 8 bytes of seq and time, 4 of verdict and length, and {edits} of edits, in words of 4; a cell "
            "has a bit.",
            "Write fewer fields, declare a lower `traffic { rate … }`, or use faster links, where less is queued.",
            None,
        )

    def queue_pairs(self, server: RdmaServer, count: int, formula: str) -> None:
        """E1403: more queue pairs than the NIC is fast with, or than the tag can name."""
        total = count * len(self.site.rdma_servers)
        if count <= server.nic.queue_pairs and total <= MOST_QUEUE_PAIRS:
            return
        limit = (
            f"{count} queue pairs on a server are more than the {server.nic.queue_pairs} that a `{server.nic.name}` "
            "is known to be fast with"
            if count > server.nic.queue_pairs
            else f"{total} queue pairs are more than the {MOST_QUEUE_PAIRS} that a tag can name"
        )
        self.stop(
            "E1403",
            limit,
            self.program.span,
            f"Each carries {rate(server.nic.queue_pair_bps)}: {formula}.",
            "Add RDMA servers, use fewer queue pairs, or declare a lower `traffic { rate … }`.",
            (server.span, "this server"),
        )

    def buffer(self, total: Number) -> None:
        """E1407: queues that the packet buffer has no room for would not hold what the plan says."""
        chip = self.site.switch
        if total.value > chip.packet_buffer_bytes:
            self.stop(
                "E1407",
                f"the queues of all ports take {size(total.value)}, but the packet buffer of `{chip.name}` has "
                f"{size(chip.packet_buffer_bytes)}",
                self.program.span,
                f"{total.formula}. What a full buffer drops is lost before its queue is as long as planned.",
                "Bind fewer ports and servers to one switch.",
                (self.site.span, "this switch"),
            )

    def nf_frame(self, need: Number) -> None:
        """E1405: a link to the NF that drops the longest frames."""
        for server in self.site.nf_servers:
            if need.value <= server.largest_frame:
                continue
            mend = f"Give the server an `mtu` of {need.value - ETHERNET.size}B or more, or `[switch]` a lower one."
            what = f"the link to NF server `{server.name}` carries frames of {server.largest_frame} B"
            if server.dpdk and server.largest_frame == DPDK_FRAME:
                what = f"the NF's program for DPDK, on server `{server.name}`, takes frames of {DPDK_FRAME} B"
                mend = (
                    "Give `[switch]` a lower `mtu`, or the server a network interface as `nic`: there is no such limit."
                )
            self.stop(
                "E1405",
                f"{what}, but {need.value} B are needed",
                self.program.span,
                f"{need.formula}.",
                mend,
                (server.span, "this server"),
            )

    def overload(self, plan: Plan) -> None:
        """E1404: a link that cannot carry what is predicted.

        With nothing declared, ports that are full lose what follows packets on the way out: a note says so.
        """
        declared = self.program.traffic is not None and self.program.traffic.rate is not None
        links = [link for link in plan.links if declared or (link.name, link.direction) != (TRAFFIC_PORTS, "out")]
        worst = max(links, key=lambda link: (link.load.value > link.capacity.value, link.share))
        if worst.load.value <= worst.capacity.value:
            return
        what = " of payload" if worst.direction == "goodput" else ""
        way = "" if worst.direction == "goodput" else f", {worst.direction}"
        self.stop(
            "E1404",
            f"{worst.name}{way}: {rate(worst.load.value)}{what}, but it can carry {rate(worst.capacity.value)}",
            self.program.span,
            self._sum(plan, worst),
            self._relief(plan, worst),
            (self._span(worst), "this server"),
        )

    def _sum(self, plan: Plan, link: Link) -> str:
        total = plan.traffic.rate
        planned = f"Planned for {rate(total.value)}: {total.formula}."
        if link.load is total:
            return planned
        return f"{link.load.formula}.{self._cause(plan, link)} {planned}"

    def _cause(self, plan: Plan, link: Link) -> str:
        """Why so much of it, or so little room; with a space in front."""
        if not link.server and link.name != TRAFFIC_PORTS:
            return f" It can carry {link.capacity.formula}."
        whole = next((f for f in plan.frames if f.usual and f.number is None), None)
        if link.direction not in ("to", "from") or link.name.startswith("RDMA") or whole is None or not plan.split:
            return ""
        what = f"`{whole.headers}`" if len(whole.headers) < SHORT else "A usual kind of packets"
        return f" {what} may be all, and goes whole: {whole.why}, {whole.place}.".replace(", .", ".")

    def _relief(self, plan: Plan, link: Link) -> str:
        if link.name.startswith("RDMA"):
            more = ceil_div(len(self.site.rdma_servers) * link.load.value, link.capacity.value)
            return f"Use {more} RDMA servers like it, or declare a lower `traffic {{ rate … }}`."
        if link.direction in ("to", "from"):
            fewer = "Read and write fewer fields" if plan.split else "Let the NF do with header fields"
            if plan.parking is not None and self.site.whole is None and plan.mix.whole.value:
                fewer = f"Say with {SHARE} how many packets go whole, if not all"
            return f"{fewer}, or declare a lower `traffic {{ rate … }}`: one NF server has all the traffic."
        if link.name == TRAFFIC_PORTS:
            return "Bind more ports, or declare a lower `traffic { rate … }`."
        port = link.name.removeprefix("port ")
        return (
            f"Bind `{port}` to one switch port that is as fast, give the spec a port for each switch port, or declare "
            "a lower `traffic { rate … }`."
        )

    def _span(self, link: Link) -> Span | None:
        servers: list[Machine] = [*self.site.nf_servers, *self.site.rdma_servers]
        return next((s.span for s in servers if s.name == link.server), None)
