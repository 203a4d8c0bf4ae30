"""The timeline and the explanation of a small run, as people see them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from polysome.config.load import load_config
from polysome.engines.interp import explain_text
from polysome.engines.interp.explain import explain
from polysome.engines.trace import Arrival, Change, Trace
from polysome.syntax.diagnostics import Report
from polysome.testing.counterexample import timeline
from polysome.testing.counterexample.timeline import style
from polysome.testing.execution import Failure, execute
from polysome.testing.spec import load

from .kit import INTERP, S, limiter, run, trace, udp

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[2] / "examples"

FLOWS = trace(
    [
        Arrival(0, 10 * S, udp(1)),
        Arrival(0, 10 * S + 1_500_000, udp(1)),
        Arrival(0, 11 * S, udp(1)),
        Arrival(1, 12 * S, udp(9)[:12] + b"\x08\x06 no ARP"),
        Arrival(0, 12 * S, udp(3, ttl=1)),
        Arrival(0, 20 * S, udp(1)),
    ],
    {"plans": {0xC0A80001: (2, 1)}},
    (Change(12 * S, {"blocked": (0xC0A80003,)}), Change(15 * S, {"blocked": ()})),
)


def test_the_timeline(golden: Callable[[Path, str], None]) -> None:
    failure = Failure((0, 2), ("expected that packet 3 is sent,", "but it was dropped"), limiter().program.span)
    lines = timeline(run(FLOWS), failure, explained=True)
    assert max(map(len, lines)) <= 100
    golden(HERE / "limiter.timeline.txt", "".join(f"{line}\n" for line in lines))


def test_a_token_bucket_and_a_queue_in_the_timeline(golden: Callable[[Path, str], None]) -> None:
    spec = load(EXAMPLES / "policer" / "policer.nf", config=[str(EXAMPLES / "policer" / "config.toml")])
    assert spec.config is not None
    arrivals = [Arrival(0, S + n * 1000, udp(payload=bytes(1400))) for n in range(7)]
    lines = timeline(execute(spec, Trace(spec.config, tuple(arrivals)), INTERP), None)
    golden(HERE / "policer.timeline.txt", "".join(f"{line}\n" for line in lines))


def test_every_example_has_a_timeline() -> None:
    """State of every kind, timers, emitted packets, tunnels: whatever they do, it can be told in 100 columns."""
    for path in sorted(EXAMPLES.glob("*/*.nf")):
        config = path.parent / "config.toml"
        spec = load(path, config=[str(config)] if config.is_file() else None)
        ports = sorted({port for h in spec.program.packet_handlers for port in h.ports})
        frames = [udp(n, 100, payload=bytes(n)) for n in range(1, 7)]
        arrivals = tuple(Arrival(ports[n % len(ports)], S + n * S, frames[n % 6]) for n in range(8))
        values = spec.config if spec.config is not None else load_config(spec.program, [], Report())
        execution = execute(spec.small(), Trace(values, arrivals), INTERP)
        lines = timeline(execution, None)
        assert lines and max(map(len, lines)) <= 100, path.name
        found = explain(execution.record.program, execution.trace, 6)
        dropped = execution.record.fates[6].reason
        assert found.verdict == dropped if dropped is not None else isinstance(found.verdict, (int, frozenset))
        assert all(len(line) <= 100 for line in explain_text.step_lines(found.steps)), path.name


def test_an_engine_without_history_has_a_timeline_too() -> None:
    execution = run(FLOWS)
    blind = dataclasses.replace(execution, record=dataclasses.replace(execution.record, history=None))
    lines = timeline(blind, None)
    assert any(line.startswith("  out ") for line in lines) and not any(line.startswith("  state") for line in lines)


def test_an_explanation(golden: Callable[[Path, str], None]) -> None:
    program = limiter().program
    texts = ["\n".join(explain_text.lines(program, explain(program, FLOWS, n), 10 * S)) for n in range(6)]
    assert max(len(line) for text in texts for line in text.split("\n")) <= 100
    golden(HERE / "limiter.explained.txt", "\n\n".join(texts) + "\n")


def test_explaining_changes_nothing() -> None:
    """The verdict that is explained is the one that the engine found, for every packet."""
    record = run(FLOWS).record
    for fate in record.fates:
        found = explain(limiter().program, FLOWS, fate.number)
        assert found.verdict == (fate.reason or fate.copies[0].port)
        assert found.leaves == (fate.copies[0].data if fate.copies else None)


def test_a_crash_of_the_engine_is_told_at_its_packet() -> None:
    record = run(FLOWS).record
    crashed = dataclasses.replace(record, fates=record.fates[:2], crash="it broke")
    lines = timeline(dataclasses.replace(run(FLOWS), record=crashed), None)
    assert "> packet 3  left  192.168.0.1:4000 > 192.168.1.2:80 UDP len 42" in lines
    assert "  crash    it broke" in lines


def test_lines_have_colours_by_what_they_are() -> None:
    lines = timeline(run(FLOWS), Failure((2,), ("x",)))
    found = {line.split()[0]: style(line) for line in lines if line}
    assert found["packet"] == found[">"] == "bold" and found["dropped"] == "red" and found["out"] == "green"


def test_statements_without_a_value_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "n.nf"
    path.write_text(
        """use net.l4;
nf n {
  port a, b;
  state {
    known: set<Flow> { capacity 2; idle 1s; when full drop; }
    heavy: top_k<Flow> { k 2; }
  }
  on packet from a { known.add(flow); heavy.add(flow); heavy.clear(); send b; }
}""",
        encoding="utf-8",
    )
    spec = load(path)
    trace = Trace({}, (Arrival(0, 0, bytes(60)),))
    told = "\n".join(timeline(execute(spec, trace, INTERP), Failure((0,), ("x",)), explained=True))
    assert "known.add(flow)" in told and "heavy.clear()" in told
