"""Generated C++ as an engine: built once per NF, run in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from polysome.backends.nf_cpp import types_code
from polysome.backends.nf_cpp.build import BuildError, build, missing
from polysome.backends.nf_cpp.canonical import decode
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import BATCH, Failed, Kind, Library, Running, load
from polysome.backends.nf_cpp.sizes import sizes
from polysome.ir import program as ir
from polysome.testing.engines.transform import transformed
from polysome.testing.options import RunOptions, Unsupported
from polysome.testing.record import Copy, Fate, Made, Record
from polysome.testing.spec import Spec, shrunk
from polysome.testing.trace import Trace


class Native:
    """The NF as C++. It shows no state, so its records have no history, and emitted packets no headers.

    It decides on whole packets: `split` and `scramble`, which hide bytes from it, are for engines with fields frames.
    """

    name = "native"

    def missing(self) -> str | None:
        return missing()

    def run(self, spec: Spec, trace: Trace, options: RunOptions) -> Record:
        if options.split or options.scramble:
            raise Unsupported("the engine `native` is given whole packets: fields frames need the engine `system`")
        if options.faults:
            raise Unsupported("faults on links need the engine `system`")
        program = spec.program if options.capacity is None else shrunk(spec.program, options.capacity)
        run = _Run(program, transformed(trace, options), options)
        try:
            run.through(load(build(spec.program)))
        except types_code.Unsupported as lacking:
            raise Unsupported(f"the engine `native` cannot run {lacking}") from lacking
        except (BuildError, Failed, OSError) as error:
            return run.record(str(error))
        return run.record(None)


class _Run:
    """A trace through an NF, and what the library says of it."""

    def __init__(self, program: ir.Program, trace: Trace, options: RunOptions) -> None:
        self.program, self.trace, self.options = program, trace, options
        self._decided: dict[int, tuple[int, Any]] = {}  # time and class by packet; none without a handler
        self._reasons: dict[int, str] = {}
        self._copies: dict[int, list[Copy]] = {}
        self._made: list[Made] = []
        self._places = count()
        self._classes: dict[bytes, Any] = {}

    def through(self, library: Library) -> None:
        """Runs it. Raises Failed; what happened before is noted."""
        with self._start(library) as running:
            try:
                for change in self.trace.changes:
                    running.change_at(change.time, encode(self.program, change.values))
                for ask in self._steps(running):
                    ask()
                    self._note(library, running)
            except Failed:
                self._note(library, running)
                raise

    def _start(self, library: Library) -> Running:
        config, cores = encode(self.program, self.trace.config), self.options.cores or 1
        batch, collide = self.options.batch or BATCH, self.options.collisions
        try:
            return Running(library, config, sizes(self.program), cores=cores, batch=batch, collide=collide)
        except Failed as why:
            if cores > 1:
                raise Unsupported(f"on {cores} cores: {why}") from why
            raise

    def _steps(self, running: Running) -> Iterator[Callable[[], None]]:
        """What is asked of the NF: packets that follow each other at once, unless time moves on between them."""
        packets = [(a.port, a.time, a.data) for a in self.trace.arrivals]
        steps, size = self.options.steps, 1 if self.options.steps > 1 else self.options.batch or BATCH
        last = packets[0][1] if packets else 0
        for first in range(0, len(packets), size):
            group = packets[first : first + size]
            now = group[0][1]
            for step in range(1, steps) if first else ():
                yield partial(running.advance, max(0, last + (now - last) * step // steps))
            last = max(last, now)
            yield partial(running.arrive, group)
        yield running.finish

    def _note(self, library: Library, running: Running) -> None:
        for kind, number, time, order, data in running.records():
            match kind, order:
                case Kind.decided, int():
                    self._decided[order] = time, self._class(data)
                case Kind.dropped, int():
                    self._reasons[order] = library.reason(number)
                case Kind.left, int():
                    copy = Copy(number, time, data or b"", next(self._places))
                    self._copies.setdefault(order, []).append(copy)
                case Kind.emitted, _:
                    self._made.append(Made(number, time, data or b"", next(self._places), order, None))
                case _:
                    raise Failed(f"a record of kind {kind.name} is about no packet")

    def _class(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if data not in self._classes:
            try:
                self._classes[data] = decode(self.program.schedule.cls.type, data)
            except ValueError as error:
                raise Failed(f"an order class is damaged: {error}") from error
        return self._classes[data]

    def record(self, crash: str | None) -> Record:
        """What happened; after a crash, up to the last packet of which the library said anything."""
        known = max([*self._decided, *self._reasons], default=-1) + 1
        if crash is None and known != len(self.trace.arrivals):
            crash = f"the library says nothing of packet {known + 1} or those after it"
        return Record(self.program, self.trace, tuple(self._fates(known)), tuple(self._made), None, crash)

    def _fates(self, known: int) -> Iterator[Fate]:
        now = 0
        for n, arrival in enumerate(self.trace.arrivals[:known]):
            now = max(now, arrival.time)
            at, order_class = self._decided.get(n, (now, None))
            yield Fate(n, arrival, at, self._reasons.get(n), tuple(self._copies.get(n, ())), order_class)
