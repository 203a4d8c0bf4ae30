"""What a run came to: counted, written to a capture, and shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from polysome.captures.write import PcapngWriter
from polysome.cli.common import COMMAND_LINE, fail
from polysome.engines.events import Dropped, Emitted, Event, Left
from polysome.engines.feed import Gaps
from polysome.engines.run import Report
from polysome.ir import program as ir

if TYPE_CHECKING:
    from polysome.engines.interp.explain import Explanation


@dataclass
class Counters:
    """Packets: in = sent (at least one copy left) + dropped + lost + held; copies and emitted packets apart.

    `arrived`, `left`: per port, by name.
    """

    packets_in: int = 0
    sent: int = 0
    copies: int = 0
    emitted: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    arrived: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)


class Output:
    """Counts what happens, and writes what leaves to a capture, if there is one. Emitted packets carry a comment."""

    def __init__(self, program: ir.Program, writer: PcapngWriter | None) -> None:
        self.program, self.writer = program, writer
        ports = dict.fromkeys(program.ports, 0)
        self.counters = Counters(arrived=ports, left=ports.copy())
        self._sent = bytearray()  # by packet: has a copy left?

    def arrives(self, port: int) -> None:
        self.counters.packets_in += 1
        self.counters.arrived[self.program.ports[port]] += 1
        self._sent.append(0)

    def take(self, event: Event) -> None:
        c = self.counters
        match event:
            case Left(packet, port, time, data):
                c.copies += 1
                c.sent += not self._sent[packet]
                self._sent[packet] = 1
                self._write(port, time, data, "")
            case Dropped(_, reason):
                c.dropped[reason] = c.dropped.get(reason, 0) + 1
            case Emitted(port, time, data):
                c.emitted += 1
                self._write(port, time, data, "emitted")

    def _write(self, port: int, time: int, data: bytes, comment: str) -> None:
        self.counters.left[self.program.ports[port]] += 1
        if self.writer is not None:
            self.writer.write(port, time, data, comment)

    def held(self, report: Report | None) -> int:
        """Packets of which no copy left, though nothing dropped them or lost them."""
        if report is not None:
            return report.held
        c = self.counters
        return c.packets_in - c.sent - sum(c.dropped.values())


def print_json(output: Output, engine: str, report: Report | None, gaps: Gaps, out: Path | None) -> None:
    c, ports = output.counters, output.program.ports
    print(
        json.dumps(
            {
                "nf": output.program.name,
                "packets_in": c.packets_in,
                "sent": c.sent,
                "copies": c.copies,
                "dropped": dict(sorted(c.dropped.items())),
                "held": output.held(report),
                "emitted": c.emitted,
                "ports": {name: {"in": c.arrived[name], "out": c.left[name]} for name in ports},
                "gaps_shortened": gaps.shortened,
                "out": str(out) if out is not None else None,
                **({} if report is None else {engine: report.to_json()}),
            },
            indent=2,
        )
    )


def print_table(output: Output, report: Report | None, gaps: Gaps, out: Path | None) -> None:
    c, held = output.counters, output.held(report)
    rows = [("packets in", c.packets_in, _list(c.arrived)), ("sent", c.sent, "")]
    if c.copies != c.sent:
        rows.append(("  copies", c.copies, ""))
    rows.append(("dropped", sum(c.dropped.values()), ""))
    rows += [(f"  {reason}", n, "") for reason, n in sorted(c.dropped.items(), key=lambda kv: -kv[1])]
    if report is not None and report.losses:
        rows.append(("lost", sum(report.losses.values()), "inside the system"))
        rows += [(f"  {cause}", n, "") for cause, n in sorted(report.losses.items(), key=lambda kv: -kv[1])]
    rows.append(("held", held, "still in the schedule when the trace ended" if held else ""))
    if c.emitted:
        rows.append(("emitted", c.emitted, "packets that the NF made"))
    rows.append(("packets out", sum(c.left.values()), _list(c.left)))
    width = max(len(label) for label, _, _ in rows)
    print(f"{output.program.name}")
    for label, number, remark in rows:
        print(f"  {label:<{width}}  {number:>9,}  {remark}".rstrip())
    if gaps.shortened:
        plural = "s" if gaps.shortened > 1 else ""
        print(f"  {gaps.shortened} gap{plural} above --max-gap shortened, {gaps.removed / 1e9:.0f} s in all")
    if out is not None:
        print(f"  written to {out}")
    if report is not None:
        print("\n" + "\n".join(report.lines()))


def _list(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items() if n)


def print_explanation(output: Output, explanation: Explanation | None, packet: int, start: int, as_json: bool) -> None:
    """Why packet `packet` (from 1) got its verdict; ends with code 2 if there were not so many.

    `start`: when the first packet came.
    """
    from polysome.engines.interp import explain_text

    if explanation is None:
        count = output.counters.packets_in
        mend = f"Packets count from 1: give a number up to {count}." if count else "Give a capture that holds some."
        fail(COMMAND_LINE, f"--explain-packet {packet}: the input has {count} packet{'s' * (count != 1)}", mend)
    if as_json:
        print(json.dumps(explain_text.as_json(output.program, explanation), indent=2))
    else:
        print("\n".join(explain_text.lines(output.program, explanation, start)))
