"""What a run of the system came to: the library's counters, the switch's, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from polysome.backends.system.abi import Running
from polysome.backends.tofino.program import EGRESS_EVENTS, INGRESS_EVENTS
from polysome.engines.system.control.controller import SimulatedController
from polysome.plan.architectures.ribosome.store import queue_pairs
from polysome.plan.design import Design

FRAMES = ("fields", "edits", "whole", "own")  # on the NF's link
LOSSES = ("queue full", "lost", "down", "fcs errors", "duplicated", "reordered", "flipped")


@dataclass(frozen=True)
class Frames:
    """Frames of one kind on a link in one direction."""

    link: str
    kind: str
    frames: int
    bytes: int

    @property
    def each(self) -> float:
        """Bytes of a frame."""
        return self.bytes / self.frames if self.frames else 0.0


@dataclass(frozen=True)
class Summary:
    """`counters`: of the library, by name, as report.hpp has them; `events`: that the switch's program counted.

    `overtakings`: packets that left a port after one that the NF had sent there later.
    """

    servers: int
    queue_pairs: int
    seed: int
    counters: Mapping[str, int]
    events: Mapping[str, int]
    overtakings: int

    @property
    def restores(self) -> int:
        return self.counters["queue pairs restored"]

    @property
    def held(self) -> int:
        """Packets that are neither sent nor dropped nor lost."""
        return self.counters["packets held"]

    @property
    def losses(self) -> dict[str, int]:
        """Packets that are lost, by cause."""
        return self._named("lost by ")

    def links(self) -> tuple[str, ...]:
        """Names of the links, a direction each: `nf out` goes from the switch, `nf in` to it."""
        return tuple(name.removesuffix(" on the way") for name in self.counters if name.endswith(" on the way"))

    def frames(self, link: str) -> Iterator[Frames]:
        """What was sent on a link, by kind."""
        for name, frames in self._named(f"{link} ").items():
            if name.endswith(" frames"):
                kind = name.removesuffix(" frames")
                yield Frames(link, kind, frames, self.counters[f"{link} {kind} bytes"])

    def troubles(self, link: str) -> dict[str, int]:
        """What went wrong on a link, how often."""
        return {what: n for what in LOSSES if (n := self.counters[f"{link} {what}"])}

    def server(self, number: int) -> dict[str, int]:
        """What a server's NIC counts, those that are not 0."""
        links = tuple(f"server{number} {way} " for way in ("out", "in"))
        found = {f"server{number} {name}": n for name, n in self._named(f"server{number} ").items() if n}
        return {name.partition(" ")[2]: n for name, n in found.items() if not name.startswith(links)}

    def _named(self, prefix: str) -> dict[str, int]:
        return {name.removeprefix(prefix): n for name, n in self.counters.items() if name.startswith(prefix)}

    def lines(self) -> Iterator[str]:
        """For people: a table each of the links' frames, the NICs and the switch."""
        return _lines(self)

    def to_json(self) -> dict[str, object]:
        return {
            "servers": self.servers,
            "queue_pairs": self.queue_pairs,
            "seed": self.seed,
            "overtakings": self.overtakings,
            "restores": self.restores,
            "nf_link": [
                {"link": f.link, "kind": f.kind, "frames": f.frames, "bytes": f.bytes, "each": round(f.each, 2)}
                for link in ("nf out", "nf in")
                for f in self.frames(link)
            ],
            "lost": self.losses,
            "events": dict(self.events),
            "counters": dict(self.counters),
        }


@dataclass
class Order:
    """Counts packets that are overtaken on their way from the NF."""

    overtakings: int = 0
    _sent: dict[int, int] = field(default_factory=dict)  # by decision: which one of all that the NF sent
    _last: dict[int, int] = field(default_factory=dict)  # by port

    def sent(self, decision: int) -> None:
        """The NF sends the packet, or a copy of it."""
        self._sent[decision] = len(self._sent)

    def left(self, decision: int, port: int) -> None:
        place, last = self._sent[decision], self._last.get(port, -1)
        if place < last:
            self.overtakings += 1
        else:
            self._last[port] = place


def summary(running: Running, controller: SimulatedController, design: Design, seed: int, order: Order) -> Summary:
    """At the end of a run."""
    return Summary(
        len(design.site.rdma_servers),
        len(queue_pairs(design.plan)),
        seed,
        counters(running, controller),
        events(running, design),
        order.overtakings,
    )


def counters(running: Running, controller: SimulatedController) -> dict[str, int]:
    """Those of the library, and the controller's."""
    found = {"queue pairs taken down": controller.downs, "queue pairs restored": controller.restores}
    return running.report() | found


def events(running: Running, design: Design) -> dict[str, int]:
    """The events that the switch's program counts, those that happened, over all queue pairs."""
    found: dict[str, int] = {}
    count = design.sizes.queue_pairs
    for control, names in (("Ingress", INGRESS_EVENTS), ("Egress", EGRESS_EVENTS)):
        for number, name in enumerate(names):
            total = sum(running.switch.counters(f"{control}.events", number * count, count)[0])
            if total:
                found[name] = total
    return found


# ---------------------------------------------------------------- as text

Row = tuple[str, ...]


def _lines(summary: Summary) -> Iterator[str]:
    """A table each of the links' frames, the NICs and the switch."""
    servers, pairs = summary.servers, summary.queue_pairs
    around = f"{servers} RDMA server{'s' * (servers != 1)}, {pairs} queue pair{'s' * (pairs != 1)}"
    around = around if servers else "switch and NF server"
    yield f"system: {around}, seed {summary.seed}"
    yield from _table(("link", "frames", "number", "bytes", "each", "trouble"), _links(summary))
    yield from _table(("RDMA server", "counted", "number"), _servers(summary))
    yield from _table(("switch", "number"), [(_words(name), f"{n:,}") for name, n in summary.events.items()])
    rows = [("packets overtaken", f"{summary.overtakings:,}")]
    if servers:
        downs = summary.counters["queue pairs taken down"]
        rows += [("queue pairs taken down", f"{downs:,}"), ("queue pairs restored", f"{summary.restores:,}")]
    yield from _table(("", "number"), rows)


def _links(summary: Summary) -> Iterator[Row]:
    for link in summary.links():
        name, _, way = link.partition(" ")
        shown = f"{name}, {'from the switch' if way == 'out' else 'to it'}"
        trouble = _trouble(summary.troubles(link))
        for frames in summary.frames(link):
            yield shown, frames.kind, f"{frames.frames:,}", f"{frames.bytes:,}", f"{frames.each:.1f} B", trouble
            shown = trouble = ""


def _trouble(found: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {what}" for what, n in found.items())


def _servers(summary: Summary) -> Iterator[Row]:
    for number in range(summary.servers):
        shown = f"server{number}"
        for name, n in summary.server(number).items():
            yield shown, name, f"{n:,}"
            shown = ""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _table(head: Row, body: Iterator[Row] | Sequence[Row]) -> Iterator[str]:
    """Columns as wide as they must be: numbers to the right, words to the left."""
    rows = [head, *body]
    if len(rows) == 1:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    right = [all(row[i][:1].isdigit() or not row[i] for row in rows[1:]) and i > 0 for i in range(len(head))]
    yield ""
    for row in rows:
        cells = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()
