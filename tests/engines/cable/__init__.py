"""What a cable does: every packet leaves by the port behind its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from polysome.engines.base import Engine
from polysome.engines.events import Decided, Event, Left
from polysome.engines.options import RunOptions
from polysome.engines.run import Run
from polysome.engines.trace import Arrival
from polysome.ir import program as ir


class Cable(Engine):
    name = "cable"
    abilities = frozenset()

    def missing(self) -> str | None:
        return None

    def start(self, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
        return CableRun(len(program.ports))


class CableRun(Run):
    def __init__(self, ports: int) -> None:
        self.ports, self.count = ports, 0

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        """Nothing is configured."""

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        for packet in packets:
            yield Decided(self.count, packet.time, None)
            yield Left(self.count, (packet.port + 1) % self.ports, packet.time, packet.data)
            self.count += 1

    def finish(self) -> Iterator[Event]:
        return iter(())


ENGINE = Cable()
