"""How much of the switch's program, the P4 that is made from a spec, runs of the whole system reach."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from polysome.backends.nf_cpp.build import BuildError, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Failed, arrivals
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system.abi import AT_NF, AT_SERVER, AT_SWITCH, Running, load
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.library import build, nothing_reached
from polysome.config.load import load_config
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.system import System
from polysome.engines.system.control.controller import SimulatedController
from polysome.engines.trace import Trace
from polysome.p4.coverage import Coverage
from polysome.p4.frames import Frame, frames
from polysome.plan.design import Design, default_design
from polysome.plan.site import Site
from polysome.syntax.diagnostics import Report, SpecError
from polysome.testing import traffic
from polysome.testing.spec import Spec
from polysome.testing.traffic.captured import read
from polysome_protocol import PORT_METADATA, Role

START = 10**18  # ns, of frames that are sent; any time will do
GAP = 2_000  # ns between two of them
NO_OPTIONS = RunOptions()
FAULTS = ("loss", "duplication", "reordering")


class Sent(NamedTuple):
    """A frame, and the role of the port that it comes in by: of a traffic port or a server's, number `number`."""

    role: Role
    data: bytes
    number: int = 0


class Emitted:
    """Runs of one spec's system, and what all of them together reached of its program."""

    def __init__(self, spec: Spec, architecture: str | None = None) -> None:
        """Raises Unsupported if there is no system of the spec here."""
        if (lacking := missing()) is not None:
            raise Unsupported(lacking)
        try:
            self.design = default_design(spec.program, architecture=architecture or Site.architecture)
        except SpecError as error:
            raise Unsupported(f"the engine `system` has no plan: {error.diagnostics[0].message}") from error
        self.spec = spec
        self.coverage = nothing_reached(self.design)
        self.engine = System(self.add).around(architecture)

    def add(self, _: Design, counts: Sequence[int]) -> None:
        """What a run of this design reached."""
        self.coverage += counts

    def run(self, trace: Trace, options: RunOptions = NO_OPTIONS) -> Record:
        """A trace through the engine `system`."""
        return self.engine.run(self.spec.program, trace, options)

    def transitions(self, seed: int = 0, recorded: Iterable[bytes] = ()) -> list[Sent]:
        """Frames of any role that take the transitions of the ingress parser that such frames are found for.

        They are made from what users sent, `recorded`, and for the rest from zeros. Those of the NF are looked for by
        themselves: the first state sees so much of them that none ends in the states which others come to as well.
        """
        points, parser = self.coverage.points, self.coverage.points.program.ingress.parser
        seeds = [Frame(_metadata(Role.traffic), data) for data in recorded]
        seeds += [Frame(_metadata(role), b"") for role in Role if role is not Role.nf]
        of_the_nf = frames(points, parser, [Frame(_metadata(Role.nf), b"")], seed)
        found = of_the_nf | frames(points, parser, seeds, seed)
        return [
            Sent(Role(PORT_METADATA["role"].read(frame.metadata)), frame.data)
            for frame in dict.fromkeys(found.values())
        ]

    def send(self, sent: Iterable[Sent]) -> Coverage:
        """Frames through a system of their own: what they alone reach. Raises Unsupported if it cannot be built."""
        config = _config(self.spec)
        run = Run(sizes(self.spec.program), start=START, deep=True)
        packets = [(self._port(s), START + GAP * n, s.data) for n, s in enumerate(sent)]
        try:
            library = load(build(self.design, counted=True))
            with Running(library, configure(self.design, run), encode(self.spec.program, config)) as running:
                with SimulatedController(self.design, running, run) as controller:
                    controller.arrive(arrivals(packets))
                    controller.finish()
                counts = running.coverage()
        except (BuildError, Failed, OSError) as error:
            raise Unsupported(str(error)) from error
        self.coverage += counts
        return nothing_reached(self.design) + counts

    def _port(self, sent: Sent) -> int:
        """As the library's arrivals have it."""
        site = self.design.site
        match sent.role:
            case Role.traffic:
                return sent.number
            case Role.nf:
                return AT_NF
            case Role.server:
                return AT_SERVER | sent.number
            case Role.recirculation:
                return AT_SWITCH | self.design.addresses.recirculation_port
            case Role.generator:
                return AT_SWITCH | site.generator_port
            case Role.controller:
                return AT_SWITCH | site.cpu_port
            case Role.plain:
                return AT_SWITCH | self._unused()

    def _unused(self) -> int:
        """A port of the switch that is nobody's."""
        site = self.design.site
        used = {port for ports in site.traffic for port in ports}
        used |= {server.port for server in site.machines}
        used |= {self.design.addresses.recirculation_port, site.generator_port, site.cpu_port}
        return next(port for port in range(512) if port not in used)


def campaign(
    spec: Spec, seconds: float, seed: int, captures: Sequence[Path] = (), architecture: str | None = None
) -> Coverage:
    """What `seconds` of traffic reach: frames for every transition of the parser, then random traces, with faults too.

    `captures`: some of both is made from their packets. Stops early when everything was reached. Raises Unsupported;
    CaptureError or OSError if a capture cannot be read.
    """
    emitted, deadline = Emitted(spec, architecture), time.monotonic() + seconds
    recorded = [data for capture in read(tuple(captures)) for data in capture]
    emitted.send(emitted.transitions(seed, recorded))
    for trace, options in zip(_traces(spec, seed, captures), cycle(_options(seed)), strict=False):
        if time.monotonic() > deadline or not emitted.coverage.missing:
            break
        emitted.run(trace, options)
    return emitted.coverage


def _traces(spec: Spec, seed: int, captures: Sequence[Path]) -> Iterator[Trace]:
    """Made for room for a few entries and as declared, in turn."""
    of_both = (traffic.seeded(s, seed, captures=captures) for s in (spec.small(), spec))
    for pair in zip(*of_both, strict=True):
        yield from pair


def _options(seed: int) -> list[RunOptions]:
    plain = [RunOptions(seed=seed), RunOptions(seed=seed, collisions=True)]
    return plain + [RunOptions(seed=seed, faults=frozenset({fault})) for fault in FAULTS]


def _metadata(role: Role) -> bytes:
    """Of the first port with this role."""
    return PORT_METADATA.pack(role=role)


def _config(spec: Spec) -> Mapping[str, Any]:
    return load_config(spec.program, [], Report()) if spec.config is None else spec.config
