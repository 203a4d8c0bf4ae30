"""A run of an NF as C++."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from polysome.backends.nf_cpp import library as c
from polysome.backends.nf_cpp import profile, types_code
from polysome.backends.nf_cpp.build import BuildError, build
from polysome.backends.nf_cpp.canonical import decode
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.sizes import sizes
from polysome.engines.events import Decided, Dropped, Emitted, Event, Left
from polysome.engines.options import Failed, RunOptions, Unsupported
from polysome.engines.run import Run, told
from polysome.engines.shrunk import shrunk
from polysome.engines.trace import Arrival
from polysome.ir import program as ir


def start(program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> NativeRun:
    """As Engine.start. The library is built if it was not before; sizes of state are no part of it."""
    try:
        path, notes = _library(program, config, options)
        return NativeRun(program, c.load(path), config, options, notes)
    except types_code.Unsupported as lacking:
        raise Unsupported(f"there is no C++ yet for {lacking}") from lacking
    except BuildError as error:
        raise Failed(str(error)) from error
    except OSError as error:
        raise Failed(f"the library cannot be loaded: {error}") from error


def _library(program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> tuple[Path, tuple[str, ...]]:
    if options.profile is None:
        return build(program), ()
    path, gain = profile.library(program, encode(program, config), options.profile.from_zero())
    return path, (gain.told(options.profile.name),)


class NativeRun(Run):
    """What happens is told after all packets that are handed over at once."""

    def __init__(
        self,
        program: ir.Program,
        library: c.Library,
        config: Mapping[str, Any],
        options: RunOptions,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.notes = notes
        self.running = _started(program, library, config, options)
        self._program, self._library, self._observed = program, library, options.observed
        self._classes: dict[bytes, Any] = {}

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        self.running.change_at(time, encode(self._program, values))

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        return self._told(lambda: self.running.arrive([(p.port, p.time, p.data) for p in packets]))

    def advance(self, time: int) -> Iterator[Event]:
        return self._told(lambda: self.running.advance(time))

    def finish(self) -> Iterator[Event]:
        return self._told(self.running.finish)

    def close(self) -> None:
        self.running.close()

    def _told(self, ask: Callable[[], None]) -> Iterator[Event]:
        return told(ask, self._taken)

    def _taken(self) -> Iterator[Event]:
        """What happened since the last time."""
        for kind, number, time, order, data in self.running.records():
            match kind, order:
                case c.Kind.left, int():
                    yield Left(order, number, time, data or b"")
                case c.Kind.dropped, int():
                    yield Dropped(order, self._library.reason(number))
                case c.Kind.emitted, _:
                    yield Emitted(number, time, data or b"", order)
                case c.Kind.decided, int():
                    if self._observed:
                        yield Decided(order, time, self._class(data))
                case _:
                    raise Failed(f"a record of kind {kind.name} is about no packet")

    def _class(self, data: bytes | None) -> Any:
        if data is None:
            return None
        if data not in self._classes:
            try:
                self._classes[data] = decode(self._program.schedule.cls.type, data)
            except ValueError as error:
                raise Failed(f"an order class is damaged: {error}") from error
        return self._classes[data]


def _started(program: ir.Program, library: c.Library, config: Mapping[str, Any], options: RunOptions) -> c.Running:
    sized = program if options.capacity is None else shrunk(program, options.capacity)
    cores, batch = options.cores or 1, options.batch or c.BATCH
    try:
        given = encode(program, config)
        return c.Running(library, given, sizes(sized), cores=cores, batch=batch, collide=options.collisions)
    except Failed as why:
        if cores > 1:
            raise Unsupported(f"on {cores} cores: {why}") from why
        raise
