"""`polysome run --engine system`: the switch's program, RDMA servers and the NF in this process, on virtual time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from polysome.analysis.layout import Carry
from polysome.backends.nf_cpp.build import BuildError, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Failed, arrivals
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.backends.system import abi, faults
from polysome.backends.system.abi import Happened, Kind, Library, Running
from polysome.backends.system.configure import Run, configure
from polysome.backends.system.design import Design, default_design, design
from polysome.backends.system.library import build
from polysome.backends.system.report import Order, Summary, summary
from polysome.captures.errors import CaptureError
from polysome.captures.write import PcapngWriter
from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, fail
from polysome.interp.machine import Counters, Sink
from polysome.ir import program as ir
from polysome.plan.site import Site
from polysome.syntax.diagnostics import SpecError

_WAITING = 256  # packets that are handed over at once
_HORIZON = 10_000_000  # ns; frames of a link's two directions are told at most so much out of order


@dataclass(frozen=True)
class Asked:
    """What the command line says of the system. `site` None: the default one, whose queues never overflow."""

    site: Site | None = None
    servers: int | None = None
    queue_pairs: int | None = None
    faults: str = ""
    seed: int = 0
    carry: Carry = "fields"
    links: Path | None = None


def start(program: ir.Program, config: Mapping[str, Any], sink: Sink, asked: Asked) -> SystemRunner:
    """The system, built if it was not before.

    Ends with code 1 if the plan does not fit, 2 for faults that are none, 3 if it cannot be built.
    """
    if (lacking := missing()) is not None:
        fail(ENVIRONMENT, f"--engine system: {lacking}")
    made = _design(program, asked)
    try:
        found = faults.parse(asked.faults, len(made.site.rdma_servers), program.ports) if asked.faults else ()
    except faults.FaultError as error:
        fail(COMMAND_LINE, f"--faults: {error.message}", error.mend)
    try:
        library = abi.load(build(made))
    except Unsupported as unsupported:
        fail(ENVIRONMENT, f"--engine system: there is no C++ yet for {unsupported}", "Use `--engine interp`.")
    except BuildError as error:
        fail(ENVIRONMENT, f"--engine system: {error}")
    except OSError as error:
        fail(ENVIRONMENT, f"--engine system: the library cannot be loaded: {error}")
    run = Run(
        sizes(program),
        start=0,
        seed=asked.seed,
        faults=found,
        deep=asked.site is None,
        capture=asked.links is not None,
    )
    captures = None if asked.links is None else LinkCaptures(asked.links, len(made.site.rdma_servers))
    return SystemRunner(made, library, config, sink, run, captures)


def _design(program: ir.Program, asked: Asked) -> Design:
    pairs = asked.queue_pairs
    if pairs is not None and pairs & (pairs - 1):
        lower = 1 << (pairs.bit_length() - 1)
        fail(COMMAND_LINE, f"--queue-pairs {pairs}: a power of two was expected", f"Write {lower} or {2 * lower}.")
    try:
        if asked.site is None:
            return default_design(program, asked.servers, pairs, asked.carry)
        return design(program, asked.site, pairs, asked.carry)
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(SPEC) from None


class SystemRunner:
    """A Runner on a system. What leaves reaches the sink at the times at which it leaves the switch.

    Ends with code 3 if the library fails; what happened before has reached the sink. `summary` is there after `finish`.
    """

    def __init__(
        self,
        made: Design,
        library: Library,
        config: Mapping[str, Any],
        sink: Sink,
        run: Run,
        captures: LinkCaptures | None,
    ) -> None:
        self.program, self.counters = made.program, Counters()
        self.summary: Summary | None = None
        self._design, self._library, self._sink, self._run = made, library, sink, run
        self._config, self._captures = encode(made.program, config), captures
        self._running: Running | None = None
        self._waiting: list[tuple[int, int, bytes]] = []
        self._changes: list[tuple[int, bytes]] = []
        self._order = Order()

    @property
    def held(self) -> int:
        return 0 if self.summary is None else self.summary.counters["packets held"]

    @property
    def lost(self) -> dict[str, int]:
        """Packets lost on the way inside, by cause."""
        return {} if self.summary is None else self.summary.losses

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        self._changes.append((time, encode(self.program, values)))

    def arrive(self, port: int, time: int, data: bytes) -> None:
        self._waiting.append((port, time, data))
        if len(self._waiting) == _WAITING:
            self._hand_over()

    def finish(self) -> None:
        self._hand_over()
        running = self._started(0)
        self._guarded(running.finish)
        try:
            self.summary = summary(running, self._design, self._run.seed, self._order)
        except Failed as error:
            fail(ENVIRONMENT, f"--engine system: {error}")
        c, told = self.counters, self.summary.counters
        c.sent, c.copies = told["packets left"], told["copies left"]
        running.close()
        if self._captures is not None:
            self._captures.close()

    def _hand_over(self) -> None:
        packets, self._waiting = self._waiting, []
        if packets:
            self.counters.packets_in += len(packets)
            running = self._started(packets[0][1])
            self._guarded(lambda: running.hand_over(arrivals(packets)))

    def _started(self, time: int) -> Running:
        """The system, which begins at the time of its first packet."""
        if self._running is None:
            try:
                run = Run(**{**vars(self._run), "start": time})
                self._running = Running(self._library, configure(self._design, run), self._config)
                for at, config in self._changes:
                    self._running.change_at(at, config)
            except Unsupported as unsupported:
                fail(ENVIRONMENT, f"--engine system: there is no room for {unsupported}")
            except Failed as error:
                fail(ENVIRONMENT, f"--engine system: {error}")
        return self._running

    def _guarded(self, ask: Callable[[], None]) -> None:
        try:
            try:
                ask()
            finally:
                self._note()
        except Failed as error:
            fail(ENVIRONMENT, f"--engine system: {error}")

    def _note(self) -> None:
        """What happened since the last time."""
        assert self._running is not None
        for happened in self._running.records():
            self._one(self._running, happened)

    def _one(self, running: Running, it: Happened) -> None:
        match it.kind:
            case Kind.left:
                assert it.packet is not None
                self._sink.leave(it.port, it.time, it.data, it.packet)
                if it.number is not None:
                    self._order.left(it.number, it.port)
            case Kind.own_left:
                self.counters.emitted += 1
                self._sink.emitted(it.port, it.time, it.data)
            case Kind.answered:
                assert it.number is not None
                self._order.sent(it.number)
            case Kind.dropped:
                self.counters.drop(running.reason(it.port))
            case Kind.frame if self._captures is not None:
                self._captures.write(running.link(it.port), it.time, it.data)


class LinkCaptures:
    """A capture of each link inside, with an interface for each direction, in order of time."""

    def __init__(self, folder: Path, servers: int) -> None:
        """Makes the folder and the files; ends with code 3 if that cannot be."""
        names = ["nf", *(f"server{i}" for i in range(servers))]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._writers = {
                name: PcapngWriter(folder / f"{name}.pcapng", (f"{name} out", f"{name} in")) for name in names
            }
        except OSError as error:
            fail(ENVIRONMENT, f"--capture-links {folder}: {error.strerror}")
        except CaptureError as error:
            fail(ENVIRONMENT, f"--capture-links: {error}")
        self._waiting: dict[str, list[tuple[int, int, int, bytes]]] = {name: [] for name in names}
        self._numbers = count()

    def write(self, link: str, time: int, data: bytes) -> None:
        """A frame that is put on a link, one of the links inside or not."""
        name, _, way = link.partition(" ")
        if name not in self._writers:
            return
        waiting = self._waiting[name]
        heapq.heappush(waiting, (time, next(self._numbers), int(way == "in"), data))
        self._put(name, time - _HORIZON)

    def _put(self, name: str, until: int | None) -> None:
        waiting = self._waiting[name]
        try:
            while waiting and (until is None or waiting[0][0] <= until):
                time, _, way, data = heapq.heappop(waiting)
                self._writers[name].write(way, time, data)
        except CaptureError as error:
            for writer in self._writers.values():  # keeps what was written, and would fail for the same reason
                with suppress(CaptureError):
                    writer.close()
            fail(ENVIRONMENT, f"--capture-links: {error}")

    def close(self) -> None:
        """Writes what waits, and puts the files into place."""
        for name, writer in self._writers.items():
            self._put(name, None)
            try:
                writer.close()
            except CaptureError as error:
                fail(ENVIRONMENT, f"--capture-links: {error}")
