"""A run of the whole system: what users see of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from polysome.backends.nf_cpp import types_code
from polysome.backends.nf_cpp.build import BuildError
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Failed, arrivals
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system import abi, faults
from polysome.backends.system.abi import Happened, Kind, Library, Running
from polysome.backends.system.configure import Run as System
from polysome.backends.system.configure import configure
from polysome.backends.system.library import build
from polysome.engines.events import Dropped, Emitted, Event, Framed, Left
from polysome.engines.options import BadOption, RunOptions, Unsupported
from polysome.engines.run import Run, told
from polysome.engines.shrunk import shrunk
from polysome.engines.system.control.controller import SimulatedController
from polysome.engines.system.report import Order, Summary, summary
from polysome.engines.trace import Arrival
from polysome.ir import program as ir
from polysome.plan.architectures import named
from polysome.plan.design import Design, default_design, design
from polysome.plan.site import Site
from polysome.resources import architectures
from polysome.syntax.diagnostics import one_of

Counted = Callable[[Design, tuple[int, ...]], None]  # how often each outcome happened, by its number


class SystemRun(Run):
    """What leaves is told at the times at which it leaves the switch."""

    report: Summary | None = None

    def __init__(
        self,
        made: Design,
        library: Library,
        config: Mapping[str, Any],
        system: System,
        counted: Counted | None,
    ) -> None:
        self.design = made
        self.links = ("nf", *(f"server{i}" for i in range(len(made.site.rdma_servers))))
        self._library, self._system, self._counted = library, system, counted
        self._config = encode(made.program, config)
        self._running: Running | None = None
        self._controller: SimulatedController | None = None
        self._changes: list[tuple[int, bytes]] = []
        self._order = Order()
        self._packets: list[int] = []  # by decision

    @classmethod
    def started(
        cls, program: ir.Program, config: Mapping[str, Any], options: RunOptions, counted: Counted | None
    ) -> Self:
        """As Engine.start. The library is built if it was not before; sizes of state are no part of it."""
        try:
            made = _design(program, options)
            system = _system(made, options)
            library = abi.load(build(made, counted=counted is not None))
            return cls(made, library, config, system, counted)
        except types_code.Unsupported as lacking:
            raise Unsupported(f"there is no C++ yet for {lacking}") from lacking
        except BuildError as error:
            raise Failed(str(error)) from error
        except OSError as error:
            raise Failed(f"the library cannot be loaded: {error}") from error

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        change = encode(self.design.program, values)
        if self._running is None:
            self._changes.append((time, change))
        else:
            self._running.change_at(time, change)

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        batch = [(p.port, p.time, p.data) for p in packets]
        return self._told(lambda: self._at_work(packets[0].time).arrive(arrivals(batch)))

    def finish(self) -> Iterator[Event]:
        yield from self._told(lambda: self._at_work(0).finish())
        assert self._running is not None and self._controller is not None
        self.report = summary(self._running, self._controller, self.design, self._system.seed, self._order)

    def close(self) -> None:
        if self._running is not None:
            if self._counted is not None:
                self._counted(self.design, self._running.coverage())
            if self._controller is not None:
                self._controller.close()
            self._running.close()

    def _at_work(self, time: int) -> SimulatedController:
        """The system, which begins at the time of its first packet, under its controller."""
        if self._controller is None:
            system = replace(self._system, start=time)
            self._running = Running(self._library, configure(self.design, system), self._config)
            for at, config in self._changes:
                self._running.change_at(at, config)
            try:
                self._controller = SimulatedController(self.design, self._running, system)
            except types_code.Unsupported as lacking:
                raise Unsupported(f"there is no room for {lacking}") from lacking
        return self._controller

    def _told(self, ask: Callable[[], None]) -> Iterator[Event]:
        return told(ask, self._taken)

    def _taken(self) -> Iterator[Event]:
        """What happened since the last time."""
        running = self._running
        if running is not None:
            for happened in running.records():
                yield from self._events(running, happened)

    def _events(self, running: Running, it: Happened) -> Iterator[Event]:
        match it.kind, it.number, it.packet:
            case Kind.decided, _, int(packet):
                self._packets.append(packet)
            case Kind.left, number, int(packet):
                if number is not None:
                    self._order.left(number, it.port)
                yield Left(packet, it.port, it.time, it.data)
            case Kind.own_left, _, _:
                yield Emitted(it.port, it.time, it.data)
            case Kind.answered, int(number), _:
                self._order.sent(number)
            case Kind.dropped, int(number), _:
                yield Dropped(self._packets[number], running.reason(it.port))
            case Kind.frame, _, _:
                link, _, way = running.link(it.port).partition(" ")
                if link in self.links:
                    yield Framed(link, way == "in", it.time, it.data)
            case ((Kind.made | Kind.lost | Kind.held | Kind.host | Kind.end), _, _):
                pass  # the report counts them
            case _:
                raise Failed(f"a record of kind {it.kind} is about no packet that came or that the NF made")


def _design(program: ir.Program, options: RunOptions) -> Design:
    pairs = options.queue_pairs
    if pairs is not None and pairs & (pairs - 1):
        lower = 1 << (pairs.bit_length() - 1)
        raise BadOption("queue_pairs", f"{pairs} is no power of two", f"Write {lower} or {2 * lower}.")
    if options.site is None:
        name = options.architecture or Site.architecture
        if name not in architectures():
            raise BadOption("architecture", f"there is no architecture `{name}`", one_of(name, architectures()))
        chosen = named(name)
        for option in ("servers", "queue_pairs") if chosen.least_servers == 0 else ():
            if getattr(options, option) is not None:
                raise BadOption(option, f"the architecture `{chosen.name}` has no RDMA servers", "Leave it out.")
        return default_design(program, options.servers, pairs, options.carry, chosen.name)
    return design(program, options.site, pairs, options.carry)


def _system(made: Design, options: RunOptions) -> System:
    program = made.program
    return System(
        sizes(program if options.capacity is None else shrunk(program, options.capacity)),
        start=0,
        seed=options.seed,
        faults=_faults(made, options),
        deep=options.site is None,
        capture=options.capture,
        collide=options.collisions,
    )


def _faults(made: Design, options: RunOptions) -> tuple[faults.Fault, ...]:
    if not options.faults:
        return ()
    try:
        return faults.parse(";".join(sorted(options.faults)), len(made.site.rdma_servers), made.program.ports)
    except faults.FaultError as error:
        raise BadOption("faults", error.message, error.mend) from error
