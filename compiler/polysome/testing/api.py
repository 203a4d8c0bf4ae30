"""What a test in any pytest needs: run a spec on a trace, and expect things of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from polysome.captures.write import PcapngWriter
from polysome.engines import ENGINES, Engine
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.resources import MEANING
from polysome.testing import traffic
from polysome.testing.builtin.base import Broken
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.crash import PROPERTY as NO_CRASH
from polysome.testing.builtin.engines_agree import PROPERTY as ENGINES_AGREE
from polysome.testing.campaign import judged, properties
from polysome.testing.counterexample import read_captures, shrink, timeline
from polysome.testing.execution import Execution, Property, execute
from polysome.testing.spec import Spec


def read_capture(spec: Spec, *captures: str | Path, **by_port: str | Path) -> Trace:
    """The packets of captures (pcap, pcapng; Ethernet), merged by time, with the spec's config or its defaults.

    `read_capture(spec, inside="a.pcap", outside="b.pcap")`: all packets of a file arrive at that port. Those of a file
    without a port arrive at the port that has their interface's name, else by the rule for captures without ports
    (LANGUAGE.md L5.5). Raises CaptureError for a file that is no such capture or is not there, LookupError for a port
    that the spec does not have, SpecError if a config item has neither value nor default.
    """
    given: list[tuple[str | None, Path]] = [(None, Path(path)) for path in captures]
    return read_captures([*given, *((port, Path(path)) for port, path in by_port.items())], spec)


def boundaries(spec: Spec, *, most: int = 24) -> Iterator[Trace]:
    """Traces of about `most` packets that are on both sides of every condition on the paths through the spec's parser:
    hundreds to thousands of packets in all, the same every time. Made as they are asked for.
    """
    pieces = traffic.boundary_pieces(traffic.boundary_packets(spec), most)
    return (traffic.boundary_trace(spec, piece) for piece in pieces)


def write_capture(spec: Spec, trace: Trace, path: str | Path) -> None:
    """The trace's packets as a pcapng with an interface for each port, so that `read_capture(spec, path)` reads them
    back; without its config. Raises CaptureError if it cannot be written.
    """
    with PcapngWriter(Path(path), spec.program.ports) as writer:
        for arrival in trace.arrivals:
            writer.write(arrival.port, arrival.time, arrival.data)


def run(spec: Spec, trace: Trace, engine: str | Engine = MEANING, **options: Any) -> Record:
    """What happens: the fate of each packet, what was emitted, the history of state and config.

    `engine`: a name in ENGINES, or an engine of one's own, such as a BlackBox. `options` are those of `RunOptions`
    (LANGUAGE.md L12.13): `run(spec, trace, scramble=True)`. Raises KeyError for an engine that there is not,
    Unsupported for one that cannot run here or has no such options.
    """
    return _engine(engine).run(spec.program, trace, RunOptions(**options))


def assert_holds(spec: Spec, trace: Trace, engine: str | Engine = MEANING, only: Sequence[str] = ()) -> Record:
    """Every property of the spec, of the libraries it uses and of all NFs holds; or those in `only`, by name.

    Raises AssertionError with the whole story of the trace for the first that does not. Returns the run.
    """
    execution = execute(spec, trace, _engine(engine))
    __tracebackhide__ = True
    chosen = [p for p in properties(spec) if not only or p.name in only]
    if unknown := set(only) - {p.name for p in chosen}:
        raise LookupError(f"{spec.path.name} has no property {sorted(unknown)[0]}")
    for p in chosen:
        _expect(p, execution)
    return execution.record


def assert_like(
    spec: Spec, trace: Trace, engine: str | Engine, *, shrinking: float = 0, out: str | Path | None = None
) -> Record:
    """The engine, such as a BlackBox, does what the spec means, and does not fail: after each packet, the same leaves
    by the same ports, with the same bytes, or nothing does.

    Raises AssertionError with the whole story of the trace for the first packet of which something else becomes. For
    `shrinking` seconds, a smaller trace is looked for that fails too, and told instead. With `out`, `write_capture`
    writes it there. Unsupported if the engine cannot run here or the spec does what cannot be seen from outside.
    Returns the run.
    """
    __tracebackhide__ = True
    execution = execute(spec, trace, _engine(engine))
    for p in (NO_CRASH, ENGINES_AGREE):
        judgement = judged(p, execution)
        if judgement.failure is not None:
            if shrinking > 0:
                execution = _smaller(execution, p, shrinking)
            if out is not None:
                write_capture(spec, execution.trace, out)
        if (skipped := _expect(p, execution)) is not None:
            raise Unsupported(skipped)
    return execution.record


# What was shrunk last, and to what: Hypothesis runs a test that failed once more, to tell of it.
_shrunk: tuple[tuple[Spec, Engine, Property, Trace], Trace] | None = None


def _smaller(execution: Execution, p: Property, seconds: float) -> Execution:
    """A run of a smaller trace that fails too; this one if there is none, or if a run failed just once."""
    global _shrunk
    asked = (execution.spec, execution.engine, p, execution.trace)
    if _shrunk is None or _shrunk[0] != asked:
        try:
            _shrunk = asked, shrink(execution.spec, execution.engine, execution.trace, p, seconds=seconds)
        except ValueError:
            return execution
    trace = _shrunk[1]
    again = execute(execution.spec, trace, execution.engine)
    return again if judged(p, again).failure is not None else execution


def _expect(p: Property, execution: Execution) -> str | None:
    """Why the property could not be judged; AssertionError if it does not hold."""
    __tracebackhide__ = True  # pytest then shows the line of the test
    judgement = judged(p, execution)
    if judgement.failure is not None:
        story = "\n".join(timeline(execution, judgement.failure))
        raise AssertionError(f"property {p.name} does not hold\n{story}")
    return judgement.skipped


def engines_agree(spec: Spec, trace: Trace, *engines: str) -> None:
    """The engines (all that can run here, if none are named) give equal results on the trace that `decide` saw.

    Each is compared with the first one on the trace as its own `decide` saw it. Raises AssertionError with the first
    difference.
    """
    names = engines or tuple(name for name, e in ENGINES.items() if e.missing() is None)
    for name in names[1:]:
        found = execute(spec, trace, _engine(name)).record
        expected = execute(spec, found.decided(), _engine(names[0])).record
        try:
            same(expected, found, f"on the engine `{name}`")
        except Broken as broken:
            raise AssertionError("\n".join(broken.failure.said)) from None


def _engine(given: str | Engine) -> Engine:
    engine = ENGINES[given] if isinstance(given, str) else given
    if (lacking := engine.missing()) is not None:
        raise Unsupported(lacking)
    return engine
