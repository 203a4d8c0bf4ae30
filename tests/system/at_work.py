"""A system of an example under its controller, with all that a test may want to see of it, or to set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache

from tests.testing.builtin.networks import captured, example

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import arrivals
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system import faults, structs
from polysome.backends.system.abi import Happened, Kind, Running, load
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.library import build
from polysome.engines.system.control.controller import SimulatedController
from polysome.engines.system.report import counters, events
from polysome.plan.design import Design, default_design
from polysome.testing.spec import Spec

START = 10**18
SECOND = 1_000_000_000
Frame = tuple[int, int, bytes]  # port, time, bytes


@cache
def designed(name: str) -> tuple[Spec, Design]:
    spec = example(name)
    return spec, default_design(spec.program)


@dataclass
class AtWork:
    spec: Spec
    design: Design
    running: Running
    controller: SimulatedController
    records: list[Happened] = field(default_factory=list)

    def arrive(self, frames: Sequence[Frame]) -> None:
        self.controller.arrive(arrivals(frames))
        self.note()

    def finish(self) -> None:
        self.controller.finish()
        self.note()

    def note(self) -> None:
        self.records += self.running.records()

    def of(self, *kinds: Kind) -> list[Happened]:
        """The records of these kinds, so far."""
        return [it for it in self.records if it.kind in kinds]

    @property
    def counters(self) -> dict[str, int]:
        return counters(self.running, self.controller)

    @property
    def events(self) -> dict[str, int]:
        return events(self.running, self.design)


def run_of(spec: Spec, design: Design, mix: str = "", seed: int = 1, start: int = START, capture: bool = False) -> Run:
    """A run with these faults, no queue of which ever overflows."""
    found = faults.parse(mix, len(design.site.rdma_servers), spec.program.ports) if mix else ()
    return Run(sizes(spec.program), start=start, seed=seed, faults=found, deep=True, capture=capture)


def running(
    spec: Spec, design: Design, run: Run, changed: Callable[[structs.System], None] = lambda _: None
) -> Running:
    """`changed`: what is not as `configure` makes it."""
    system = configure(design, run)
    changed(system)
    return Running(load(build(design, counted=True)), system, encode(spec.program, spec.config or {}))


@contextmanager
def at_work(
    spec: Spec, design: Design, run: Run | None = None, changed: Callable[[structs.System], None] = lambda _: None
) -> Iterator[AtWork]:
    run = run or run_of(spec, design)
    with running(spec, design, run, changed) as system, SimulatedController(design, system, run) as controller:
        yield AtWork(spec, design, system, controller)


def links_add_up(found: Mapping[str, int]) -> None:
    """Asserts that of each frame on a link, and each repeated one, the link's counters say where it is."""
    links = [name.removesuffix(" on the way") for name in found if name.endswith(" on the way")]
    assert links
    for link in links:
        sent = found[f"{link} sent"] + found[f"{link} duplicated"]
        gone = sum(found[f"{link} {what}"] for what in ("delivered", "lost", "down", "fcs errors", "on the way"))
        assert sent == gone, link


# ---------------------------------------------------------------- frames, and times of theirs


def at(time: int, data: bytes, port: int = 0) -> Frame:
    return port, START + time, data


def through(made: tuple[Spec, Design], *frames: Frame, **more: Callable[[structs.System], None]) -> AtWork:
    """The system at its end; only its records are of use any more."""
    with at_work(*made, **more) as system:
        system.arrive(frames)
        system.finish()
        return system


def whole() -> bytes:
    """A packet for the VIP that is too short to be parked."""
    return next(a.data for a in captured(designed("load_balancer")[0]).arrivals if len(a.data) <= 80)


def without_rates(system: structs.System) -> None:
    """Links and NICs take their time, but none for a byte."""
    for place in range(system.traffic_count):
        system.traffic[place].in_.rate = 0
    for place in range(system.server_count):
        system.servers[place].cable.in_.rate = system.servers[place].read_rate = 0
    system.nf_cable.in_.rate = 0


def ports_without_rates(system: AtWork) -> None:
    for number in range(128):
        port = system.running.switch.port(number)
        if port is not None:
            port.rate = 0
            system.running.switch.set_port(port)
