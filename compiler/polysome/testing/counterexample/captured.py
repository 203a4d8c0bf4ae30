"""A trace from a plain capture: packets only; config comes from elsewhere."""

from __future__ import annotations

from pathlib import Path

from polysome.captures.read import open_capture
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
    program = spec.program
    config = spec.config if spec.config is not None else load_config(program, [], Report(dict(program.sources)))
    turns = Turns.of(program, config)
    arrivals = []
    with open_capture(path) as capture:
        for packet in capture:
            name = capture.interfaces[packet.interface]
            port = program.ports.index(name) if name in program.ports else turns.port(packet.data)
            arrivals.append(Arrival(port, packet.time, packet.data))
    return Trace(config, tuple(arrivals))
