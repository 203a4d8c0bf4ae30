"""A trace from plain captures: packets only; config comes from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from polysome.captures.read import Captured, open_capture
from polysome.config.load import load_config
from polysome.engines.feed import Turns
from polysome.engines.trace import Arrival, Trace
from polysome.syntax.diagnostics import Report
from polysome.testing.spec import Spec


def read_capture(path: Path, spec: Spec) -> Trace:
    """The packets of a capture with the spec's config, or defaults where it has none.

    A packet arrives at the port that has the name of its interface, else by the rule for captures without ports
    (LANGUAGE.md L5.5). Raises CaptureError if the capture is unusable, SpecError if config is missing.
    """
    return read_captures([(None, path)], spec)


def read_captures(captures: Sequence[tuple[str | None, Path]], spec: Spec) -> Trace:
    """The same of several, merged by time; all packets of one arrive at the port that is given with it, if there is.

    Raises LookupError for a port that the NF does not have.
    """
    program = spec.program
    config = spec.config if spec.config is not None else load_config(program, [], Report(dict(program.sources)))
    turns = Turns.of(program, config)
    if unknown := [port for port, _ in captures if port is not None and port not in program.ports]:
        raise LookupError(f"{program.name} has no port `{unknown[0]}`; its ports are {', '.join(program.ports)}")
    found: list[tuple[int, str, Captured]] = []  # with the latest time of the capture so far, as in captures.merge
    for given, path in captures:
        latest = 0
        with open_capture(path) as capture:
            for packet in capture:
                latest = max(latest, packet.time)
                found.append((latest, given or capture.interfaces[packet.interface], packet))
    arrivals = []
    for _, name, packet in sorted(found, key=itemgetter(0)):
        port = program.ports.index(name) if name in program.ports else turns.port(packet.data)
        arrivals.append(Arrival(port, packet.time, packet.data))
    return Trace(config, tuple(arrivals))
