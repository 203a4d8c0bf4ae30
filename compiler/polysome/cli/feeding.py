"""Packets on their way from captures through an engine to what is counted and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from polysome.captures.errors import CaptureError
from polysome.captures.window import Captured
from polysome.cli.common import ENVIRONMENT, fail
from polysome.cli.engine import failing
from polysome.cli.link_captures import LinkCaptures
from polysome.cli.results import Output
from polysome.config.events import ConfigChange, in_order
from polysome.engines import Engine
from polysome.engines.collect import CHUNK
from polysome.engines.events import Event, Framed
from polysome.engines.feed import Gaps, Turns
from polysome.engines.run import Run
from polysome.engines.trace import Arrival

Packets = Iterable[tuple[str | None, Captured]]  # with the ports that the command line names


@dataclass
class Feed:
    """The way of packets from captures through a run to its output.

    `start`: when the first packet came; `problem`: why an input ended badly, after all before it was run.
    """

    run: Run
    engine: Engine
    turns: Turns
    gaps: Gaps
    output: Output
    links: LinkCaptures | None = None
    start: int = 0
    problem: CaptureError | None = None

    def all(self, packets: Packets, changes: Sequence[ConfigChange], advance: Callable[[], None]) -> None:
        """The whole trace; `advance` is called for each packet. What is written is closed, whatever happens.

        Ends with code 3 if the engine fails, or the disk does not take what is written.
        """
        try:
            with self.output.writer or nullcontext(), self.links or nullcontext():
                self._all(packets, changes, advance)
        except CaptureError as error:
            fail(ENVIRONMENT, str(error))

    def _all(self, packets: Packets, changes: Sequence[ConfigChange], advance: Callable[[], None]) -> None:
        waiting: list[Arrival] = []
        for port, captured in self._readable(packets):
            waiting.append(self._arrival(port, captured, changes))
            if len(waiting) == CHUNK:
                self._take(self.run.arrive(waiting))
                waiting = []
            advance()
        if waiting:
            self._take(self.run.arrive(waiting))
        self._take(self.run.finish())

    def _readable(self, packets: Packets) -> Iterator[tuple[str | None, Captured]]:
        try:
            yield from packets
        except CaptureError as error:
            self.problem = error

    def _arrival(self, name: str | None, captured: Captured, changes: Sequence[ConfigChange]) -> Arrival:
        ports, time = self.output.program.ports, self.gaps.time(captured.time)
        if not self.output.counters.packets_in:
            self.start = time
            for change in in_order(changes, time):
                self.run.change_at(change.due(time), change.values)
        port = ports.index(name) if name is not None else self.turns.port(captured.data)
        self.output.arrives(port)
        return Arrival(port, time, captured.data)

    def _take(self, events: Iterator[Event]) -> None:
        with failing(self.engine):
            for event in events:
                self.output.take(event)
                if self.links is not None and isinstance(event, Framed):
                    self.links.write(event)
