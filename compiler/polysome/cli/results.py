"""What a run came to: counted, written to a capture, and shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from polysome.captures.write import PcapngWriter
from polysome.cli.common import COMMAND_LINE, fail
from polysome.cli.runner import OnSystem, Runner
from polysome.interp.feed import Gaps
from polysome.interp.machine import Counters, Machine
from polysome.ir import program as ir


@dataclass
class Traffic:
    """Packets per port, by name."""

    arrived: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)


class Output:
    """Counts what leaves and writes it to a capture, if there is one. Emitted packets carry a comment."""

    def __init__(self, program: ir.Program, writer: PcapngWriter | None) -> None:
        self.program, self.writer = program, writer
        self.traffic = Traffic(dict.fromkeys(program.ports, 0), dict.fromkeys(program.ports, 0))

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.traffic.left[self.program.ports[port]] += 1
        if self.writer is not None:
            self.writer.write(port, time, data)

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self.traffic.left[self.program.ports[port]] += 1
        if self.writer is not None:
            self.writer.write(port, time, data, "emitted")


def print_json(runner: Runner, traffic: Traffic, gaps: Gaps, out: Path | None) -> None:
    c: Counters = runner.counters
    system = runner.summary if isinstance(runner, OnSystem) else None
    print(
        json.dumps(
            {
                "nf": runner.program.name,
                "packets_in": c.packets_in,
                "sent": c.sent,
                "copies": c.copies,
                "dropped": dict(sorted(c.dropped.items())),
                "held": runner.held,
                "emitted": c.emitted,
                "ports": {
                    name: {"in": traffic.arrived[name], "out": traffic.left[name]} for name in runner.program.ports
                },
                "gaps_shortened": gaps.shortened,
                "out": str(out) if out is not None else None,
                **({} if system is None else {"system": system.to_json()}),
            },
            indent=2,
        )
    )


def print_table(runner: Runner, traffic: Traffic, gaps: Gaps, out: Path | None) -> None:
    c = runner.counters
    rows = [("packets in", c.packets_in, _list(traffic.arrived)), ("sent", c.sent, "")]
    if c.copies != c.sent:
        rows.append(("  copies", c.copies, ""))
    rows.append(("dropped", sum(c.dropped.values()), ""))
    rows += [(f"  {reason}", n, "") for reason, n in sorted(c.dropped.items(), key=lambda kv: -kv[1])]
    system = runner.summary if isinstance(runner, OnSystem) else None
    if system is not None and system.losses:
        rows.append(("lost", sum(system.losses.values()), "inside the system"))
        rows += [(f"  {cause}", n, "") for cause, n in sorted(system.losses.items(), key=lambda kv: -kv[1])]
    rows.append(("held", runner.held, "still in the schedule when the trace ended" if runner.held else ""))
    if c.emitted:
        rows.append(("emitted", c.emitted, "packets that the NF made"))
    rows.append(("packets out", sum(traffic.left.values()), _list(traffic.left)))
    width = max(len(label) for label, _, _ in rows)
    print(f"{runner.program.name}")
    for label, number, remark in rows:
        print(f"  {label:<{width}}  {number:>9,}  {remark}".rstrip())
    if gaps.shortened:
        plural = "s" if gaps.shortened > 1 else ""
        print(f"  {gaps.shortened} gap{plural} above --max-gap shortened, {gaps.removed / 1e9:.0f} s in all")
    if out is not None:
        print(f"  written to {out}")
    if system is not None:
        from polysome.cli.system_text import lines

        print("\n" + "\n".join(lines(system)))


def _list(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in counts.items() if n)


def print_explanation(machine: Machine, packet: int, as_json: bool) -> None:
    """Why packet `packet` (from 1) got its verdict; ends with code 2 if there were not so many."""
    from polysome.testing.counterexample import explain_text
    from polysome.testing.counterexample.explain import ExplainingMachine

    assert isinstance(machine, ExplainingMachine)
    if machine.explanation is None:
        count = machine.counters.packets_in
        mend = f"Packets count from 1: give a number up to {count}." if count else "Give a capture that holds some."
        fail(COMMAND_LINE, f"--explain-packet {packet}: the input has {count} packet{'s' * (count != 1)}", mend)
    if as_json:
        print(json.dumps(explain_text.as_json(machine.program, machine.explanation), indent=2))
        return
    assert machine.started is not None
    print("\n".join(explain_text.lines(machine.program, machine.explanation, machine.started)))
