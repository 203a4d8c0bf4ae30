"""What a plan must fit into. The first limit that is broken is the error: the others may follow from it."""

from __future__ import annotations

from typing import NoReturn

from polysome.analysis.words import size
from polysome.ir import program as ir
from polysome.plan.load import TRAFFIC_PORTS
from polysome.plan.model import Link, Plan
from polysome.plan.numbers import Number, rate
from polysome.plan.site import DPDK_FRAME, Site
from polysome.syntax.diagnostics import Report, SpecError
from polysome.syntax.spans import Span
from polysome_protocol import ETHERNET

SHORT = 80  # letters
SHARE = "`whole` under `[plan]` of the site file"


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
        if link.server not in (plan.nf_server, *plan.standby) or whole is None or not plan.split:
            return ""
        what = f"`{whole.headers}`" if len(whole.headers) < SHORT else "A usual kind of packets"
        return f" {what} may be all, and goes whole: {whole.why}, {whole.place}.".replace(", .", ".")

    def _relief(self, plan: Plan, link: Link) -> str:
        if plan.store is not None and (said := plan.store.relief(self.site, link)):
            return said
        if link.direction in ("to", "from"):
            fewer = "Read and write fewer fields" if plan.split else "Let the NF do with header fields"
            if plan.store is not None and self.site.whole is None and plan.mix.whole.value:
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
        return next((s.span for s in self.site.machines if s.name == link.server), None)
