"""`polysome run --engine native`: an NF as C++ made from the spec, built and run in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polysome.backends.nf_cpp.build import BuildError, build, missing
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.library import Failed, Kind, Library, Running, load
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.cli.common import ENVIRONMENT, fail
from polysome.cli.profiling import library as profiled
from polysome.interp.machine import Counters, Sink
from polysome.ir import program as ir

_WAITING = 256  # packets that are handed over at once; the library makes its own batches of them


def start(
    program: ir.Program, config: Mapping[str, Any], sink: Sink, cores: int = 1, profile: Sequence[str] = ()
) -> NativeRunner:
    """The NF as C++, built if it was not before, for the captures of `profile` if there are any.

    Ends with code 3 if that cannot be.
    """
    if (lacking := missing()) is not None:
        fail(ENVIRONMENT, f"--engine native: {lacking}")
    try:
        path = profiled(program, config, profile) if profile else build(program)
        return NativeRunner(program, load(path), config, sink, cores)
    except Unsupported as unsupported:
        fail(ENVIRONMENT, f"--engine native: there is no C++ yet for {unsupported}", "Use `--engine interp`.")
    except (BuildError, Failed) as error:
        fail(ENVIRONMENT, f"--engine native: {error}")
    except OSError as error:
        fail(ENVIRONMENT, f"--engine native: the library cannot be loaded: {error}")


class NativeRunner:
    """A Runner on a shared library. What leaves reaches the sink up to 256 packets later, in its order.

    Ends with code 3 if the library fails; what happened before has reached the sink.
    """

    def __init__(
        self, program: ir.Program, library: Library, config: Mapping[str, Any], sink: Sink, cores: int
    ) -> None:
        self.program, self.counters = program, Counters()
        self._library, self._sink = library, sink
        self._running = Running(library, encode(program, config), sizes(program), cores=cores)
        self._waiting: list[tuple[int, int, bytes]] = []
        self._sent = bytearray()  # by packet: has a copy left?

    @property
    def held(self) -> int:
        c = self.counters
        return c.packets_in - c.sent - sum(c.dropped.values())

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        change = encode(self.program, values)
        self._guarded(lambda: self._running.change_at(time, change))

    def arrive(self, port: int, time: int, data: bytes) -> None:
        self._waiting.append((port, time, data))
        if len(self._waiting) == _WAITING:
            self._hand_over()

    def finish(self) -> None:
        self._hand_over()
        self._guarded(self._running.finish)
        self._running.close()

    def _hand_over(self) -> None:
        packets, self._waiting = self._waiting, []
        self.counters.packets_in += len(packets)
        self._sent.extend(bytes(len(packets)))
        self._guarded(lambda: self._running.arrive(packets))

    def _guarded(self, ask: Callable[[], None]) -> None:
        try:
            try:
                ask()
            finally:
                self._note()
        except Failed as error:
            fail(ENVIRONMENT, f"--engine native: {error}")

    def _note(self) -> None:
        """What happened since the last time."""
        c = self.counters
        for kind, number, time, order, data in self._running.records():
            if kind == Kind.left and order is not None and data is not None:
                c.copies += 1
                c.sent += not self._sent[order]
                self._sent[order] = 1
                self._sink.leave(number, time, data, order)
            elif kind == Kind.emitted and data is not None:
                c.emitted += 1
                self._sink.emitted(number, time, data)
            elif kind == Kind.dropped:
                c.drop(self._library.reason(number))
