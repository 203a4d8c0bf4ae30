"""A run of the reference interpreter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polysome.config.tables import Tables
from polysome.engines.events import Event
from polysome.engines.interp.explain import ExplainingMachine
from polysome.engines.interp.teller import Recorder, Teller
from polysome.engines.options import RunOptions
from polysome.engines.run import Run, told
from polysome.engines.shrunk import shrunk
from polysome.engines.trace import Arrival
from polysome.interp.code import code_of
from polysome.interp.machine import Machine
from polysome.interp.sharded import ShardedMachine
from polysome.ir import program as ir


class InterpRun(Run):
    """A machine, or one for each core, that tells what it does."""

    def __init__(
        self,
        program: ir.Program,
        config: Mapping[str, Any],
        options: RunOptions,
    ) -> None:
        self._told: list[Event] = []
        self._program = program if options.capacity is None else shrunk(program, options.capacity)
        self._config, self._options = config, options
        self._machine: Machine | ShardedMachine
        if (options.cores or 1) > 1:
            self._machine = ShardedMachine(self._program, self._core, options.cores or 1)
        elif options.explain is not None:
            self._machine = ExplainingMachine(self._program, Tables(self._program, config), self._told, options.explain)
        else:
            self._machine = self._core(None)
        if isinstance(self._machine, Recorder):
            self.history = self._machine.history

    def _core(self, numbers: Sequence[int] | None) -> Teller:
        tables = Tables(self._program, self._config)
        if self._options.observed:
            return Recorder(self._program, tables, self._told, code_of(self._program), self._options, numbers)
        return Teller(self._program, tables, self._told, code_of(self._program), numbers)

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        self._machine.change_at(time, values)

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        arrive = self._machine.arrive

        def ask() -> None:
            for packet in packets:
                arrive(packet.port, packet.time, packet.data)

        return told(ask, self._taken)

    def advance(self, time: int) -> Iterator[Event]:
        return told(lambda: self._machine.advance(time), self._taken)

    def finish(self) -> Iterator[Event]:
        return told(self._machine.finish, self._taken)

    def _taken(self) -> list[Event]:
        if isinstance(self._machine, ExplainingMachine):
            self.explanation = self._machine.explanation
        events = self._told[:]
        self._told.clear()
        return events
