"""Machines that tell what they do, as events."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from polysome.config.tables import Tables
from polysome.engines.events import Decided, Dropped, Emitted, Event, Left
from polysome.engines.history import History
from polysome.engines.interp.recorded import RecordedConfig, RecordedPolicy, RecordedScalars, RecordedStates
from polysome.engines.interp.scramble import scrambled
from polysome.engines.options import RunOptions
from polysome.interp.code import Generated
from polysome.interp.machine import Headers, Machine
from polysome.interp.packet import Packet
from polysome.ir import program as ir


class Teller(Machine):
    """A machine that is its own sink and appends what happens to `told`.

    `numbers`: of one of several cores, the numbers in the whole trace of its packets.
    """

    def __init__(
        self,
        program: ir.Program,
        tables: Tables,
        told: list[Event],
        generated: Generated,
        numbers: Sequence[int] | None = None,
    ) -> None:
        super().__init__(program, tables, self, generated)
        self._told, self._numbers = told, numbers

    def number(self, order: int) -> int:
        """The number in the whole trace of this machine's packet `order`."""
        return order if self._numbers is None else self._numbers[order]

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self._told.append(Left(self.number(order), port, time, data))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self._told.append(Emitted(port, time, data))

    def _drop(self, order: int, reason: str) -> None:
        super()._drop(order, reason)
        self._told.append(Dropped(self.number(order), reason))


class Recorder(Teller):
    """A machine that is observed: it tells decisions too, and writes `history` under its stamps."""

    states_type = RecordedStates
    scalars_type = RecordedScalars
    states: RecordedStates

    def __init__(
        self,
        program: ir.Program,
        tables: Tables,
        told: list[Event],
        generated: Generated,
        options: RunOptions,
        numbers: Sequence[int] | None = None,
    ) -> None:
        super().__init__(program, tables, told, generated, numbers)
        self._rng = random.Random(options.seed)
        self._scramble, self._split = options.scramble, options.split is True
        self._packets = 0
        self._due = False
        self._handling: Packet | None = None
        self._original: dict[int, bytes] = {}
        self._headers: Headers = ()
        assert isinstance(self.scalars, RecordedScalars)
        journal = self.scalars.journal = self.states.journal
        self._functions["CFG"] = RecordedConfig(program, tables.current, journal)
        self._policy = RecordedPolicy(self._policy, journal.history)
        self.history.configure(0, tables.current)

    @property
    def history(self) -> History:
        return self.states.journal.history

    # ------------------------------------------------------------ stamps

    def arrive(self, port: int, time: int, data: bytes) -> None:
        self._next_packet()
        super().arrive(port, time, data)
        self._due = False

    def advance(self, time: int) -> None:
        self._next_packet()
        super().advance(time)

    def finish(self) -> None:
        self._next_packet()
        super().finish()

    def _next_packet(self) -> None:
        """From now on, what happens is due by the next packet, until that has arrived."""
        if not self._due:
            self.states.journal.stamp = 2 * self._packets
            self._packets += 1
            self._due = True

    # ------------------------------------------------------------ what the machine does

    def emitted(self, port: int, time: int, data: bytes) -> None:
        cause = None if self._handling is None else self.number(self._handling.order)
        self._told.append(Emitted(port, time, data, cause, self._headers))

    def _packet(self, port: int, data: bytes) -> None:
        number = self.number(self.counters.packets_in)
        self._told.append(Decided(number, self.clock.now, None))
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
            order_class = self._functions["order_class"](p)
            self._told[-1] = Decided(self.number(p.order), self.clock.now, order_class)
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

    def _emit(self, headers: Headers, payload: bytes, port: int) -> None:
        self._headers = headers
        super()._emit(headers, payload, port)

    def _replace(self, values: Mapping[str, Any]) -> None:
        super()._replace(values)
        self.history.configure(self.states.journal.stamp, self.config.current)
