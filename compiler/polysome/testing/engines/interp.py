"""The reference interpreter as an engine: the meaning of a spec, with everything it did recorded."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from polysome.config.tables import Tables
from polysome.interp.code import Generated
from polysome.interp.machine import ConfigTables, Machine, Sink
from polysome.interp.packet import Packet
from polysome.interp.sharded import ShardedMachine
from polysome.ir import program as ir
from polysome.testing.engines.recorded import RecordedConfig, RecordedPolicy, RecordedScalars, RecordedStates
from polysome.testing.engines.transform import transformed
from polysome.testing.history import History
from polysome.testing.options import RunOptions, Unsupported
from polysome.testing.record import Copy, Fate, Made, Record
from polysome.testing.scramble import scrambled
from polysome.testing.spec import Spec, code, shrunk
from polysome.testing.trace import Arrival, Trace


class Interp:
    """The interpreter.

    It has no batches, hash tables or links: `batch` and `collisions` change nothing. Runs on several `cores`
    have no history. `split` gives `decide` the bytes of the fields frame and zeros for all others, and applies the
    edits to the packet that waited.
    """

    name = "interp"

    def missing(self) -> str | None:
        return None

    def run(self, spec: Spec, trace: Trace, options: RunOptions) -> Record:
        program = spec.program if options.capacity is None else shrunk(spec.program, options.capacity)
        return run(program, trace, options, code(program))


def run(program: ir.Program, trace: Trace, options: RunOptions, generated: Generated) -> Record:
    """The trace through a recording machine that runs `generated`, the code of `program`."""
    if options.faults:
        raise Unsupported("faults on links need the engine `system`")
    machine: Recorder | ShardedRecorder
    if options.cores in (None, 1):
        machine = Recorder(program, Tables(program, trace.config), generated, options)
    else:
        machine = ShardedRecorder(program, trace.config, generated, options)
    trace = transformed(trace, options)
    for change in trace.changes:
        machine.change_at(change.time, change.values)
    try:
        _feed(machine, trace, options.steps)
    except Exception as error:  # whatever it is, it is the engine's fault
        return machine.record(trace, f"{type(error).__name__}: {error}")
    return machine.record(trace, None)


def _feed(machine: Recorder | ShardedRecorder, trace: Trace, steps: int) -> None:
    last: int | None = None
    for arrival in trace.arrivals:
        machine.next_packet()
        if last is not None:
            for step in range(1, steps):
                machine.advance(last + (arrival.time - last) * step // steps)
        last = arrival.time if last is None else max(last, arrival.time)
        machine.arrive(arrival.port, arrival.time, arrival.data)
    machine.next_packet()
    machine.finish()


class Recorder(Machine):
    """A machine that is its own sink and writes down what happens, under the stamps of `history`."""

    states_type = RecordedStates
    scalars_type = RecordedScalars
    states: RecordedStates

    def __init__(self, program: ir.Program, tables: Tables, generated: Generated, options: RunOptions) -> None:
        super().__init__(program, tables, self, generated)
        self._rng = random.Random(options.seed)
        self._scramble, self._split = options.scramble, options.split is True
        self._numbers = 0
        self._handling: Packet | None = None
        self.places = count()
        self._at: list[int] = []
        self._reasons: dict[int, str] = {}
        self._classes: dict[int, Any] = {}
        self._copies: dict[int, list[Copy]] = {}
        self._made: list[Made] = []
        self._original: dict[int, bytes] = {}
        self._headers: tuple[tuple[str, dict[int, int]], ...] = ()
        assert isinstance(self.scalars, RecordedScalars)
        journal = self.scalars.journal = self.states.journal
        self._functions["CFG"] = RecordedConfig(program, tables.current, journal)
        self._policy = RecordedPolicy(self._policy, journal.history)
        self.history.configure(0, tables.current)

    @property
    def history(self) -> History:
        return self.states.journal.history

    def next_packet(self) -> None:
        """From now on, what happens is due by the next packet."""
        self.states.journal.stamp = 2 * self._numbers
        self._numbers += 1

    def record(self, trace: Trace, crash: str | None) -> Record:
        """What happened; the machine is not used again."""
        fates = tuple(self.fates(trace.arrivals, range(len(trace.arrivals))))
        return Record(self.program, trace, fates, tuple(self._made), self.history, crash)

    def fates(self, arrivals: Sequence[Arrival], numbers: Sequence[int]) -> Iterator[Fate]:
        """What became of the packets so far; the n-th of this machine is the `numbers[n]`-th of the trace."""
        for n, (number, at) in enumerate(zip(numbers, self._at, strict=False)):  # after a crash, there are fewer
            copies = tuple(self._copies.get(n, ()))
            yield Fate(number, arrivals[number], at, self._reasons.get(n), copies, self._classes.get(n))

    def made(self, numbers: Sequence[int]) -> Iterator[Made]:
        """What was emitted, with causes as numbers of the trace."""
        for one in self._made:
            yield one if one.cause is None else replace(one, cause=numbers[one.cause])

    # ------------------------------------------------------------ the sink

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self._copies.setdefault(order, []).append(Copy(port, time, data, self._next_place()))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        cause = None if self._handling is None else self._handling.order
        self._made.append(Made(port, time, data, self._next_place(), cause, self._headers))

    def _next_place(self) -> int:
        return next(self.places)

    # ------------------------------------------------------------ what the machine does

    def _packet(self, port: int, data: bytes) -> None:
        self._at.append(self.clock.now)
        self.states.keep()
        super()._packet(port, data)

    def parse(self, port: int, data: bytes) -> Packet:
        p = super().parse(port, data)
        if not (self._scramble or self._split):
            return p
        other = super().parse(port, scrambled(self.program, p, self._rng if self._scramble else None))
        if other.path != p.path:  # what was cut or opaque has become a header: leave it as it was
            return p
        self._original[other.order] = data
        return other

    def _decide(self, p: Packet, handler: Callable[[Packet], Any]) -> Any:
        if self._passing is None or tuple(p.path) in self._passing:
            self._classes[p.order] = self._functions["order_class"](p)
        self._handling = p
        self.states.journal.stamp += 1
        try:
            return super()._decide(p, handler)
        finally:
            self._handling = None
            self.states.keep()

    def _apply(self, p: Packet) -> bytes:
        p.data = self._original.pop(p.order, p.data)
        return super()._apply(p)

    def _drop(self, order: int, reason: str) -> None:
        super()._drop(order, reason)
        self._reasons[order] = reason

    def _emit(self, headers: tuple[tuple[str, dict[int, int]], ...], payload: bytes, port: int) -> None:
        self._headers = headers
        super()._emit(headers, payload, port)

    def _replace(self, values: Mapping[str, Any]) -> None:
        super()._replace(values)
        self.history.configure(self.states.journal.stamp, self.config.current)


class ShardedRecorder(ShardedMachine):
    """Several machines that write down what happens, in one order of all that leaves. There is no history of state."""

    def __init__(
        self, program: ir.Program, config: Mapping[str, Any], generated: Generated, options: RunOptions
    ) -> None:
        self._recorders: list[Recorder] = []
        places = count()

        def make(tables: ConfigTables, sink: Sink, generated: Generated) -> Recorder:
            assert isinstance(tables, Tables)
            recorder = Recorder(program, tables, generated, options)
            recorder.places = places
            self._recorders.append(recorder)
            return recorder

        super().__init__(program, lambda: Tables(program, config), _Nowhere(), options.cores or 1, generated, make)

    def next_packet(self) -> None:
        """From now on, what happens is due by the next packet."""
        for recorder in self._recorders:
            recorder.next_packet()

    def record(self, trace: Trace, crash: str | None) -> Record:
        """What happened; the machines are not used again."""
        pairs = list(zip(self._recorders, self.numbers, strict=True))
        fates = sorted((f for r, n in pairs for f in r.fates(trace.arrivals, n)), key=lambda fate: fate.number)
        made = sorted((m for r, n in pairs for m in r.made(n)), key=lambda one: one.place)
        return Record(self.program, trace, tuple(fates), tuple(made), None, crash)


class _Nowhere:
    """Recorders are their own sinks."""

    def leave(self, port: int, time: int, data: bytes, order: int) -> None: ...

    def emitted(self, port: int, time: int, data: bytes) -> None: ...
