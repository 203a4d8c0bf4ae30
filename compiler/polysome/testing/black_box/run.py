"""A run of a program: frames go in one at a time, and what leaves until the next one is the packet's."""

from __future__ import annotations

import selectors
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from polysome.engines.events import Decided, Dropped, Event, Left
from polysome.engines.options import Failed, Unsupported
from polysome.engines.run import Run
from polysome.engines.trace import Arrival
from polysome.testing.black_box.network import Network, carries
from polysome.testing.black_box.program import Program

UNSEEN: Final = "not seen to leave"
"""The reason of every drop: a black box tells no other."""

_MOST: Final = 256  # frames that leave after one packet
_LONGER: Final = 10  # times as long as it settles, for a program that does not sleep
_NEVER: Final = 50  # times as long: it does not come to rest
_SECOND: Final = 10**9


@dataclass(frozen=True)
class Pace:
    """How time passes; in seconds."""

    settle: float
    longest_gap: float

    def gap(self, before: int, time: int) -> float:
        """Between packets at two times of a trace, in ns, at least."""
        return min(max(0, time - before) / _SECOND, self.longest_gap)

    def seconds(self, times: Sequence[int]) -> float:
        """That packets at these times take at least."""
        return sum(max(self.settle, self.gap(a, b)) for a, b in pairwise(times)) + self.settle * bool(times)


class Frame(NamedTuple):
    port: int
    time: int
    data: bytes


class BlackBoxRun(Run):
    """`owned` is what `close` gives back."""

    def __init__(self, network: Network, program: Program, pace: Pace, mtu: int) -> None:
        self.owned = ExitStack()
        self._network, self._program, self._pace, self._mtu = network, program, pace, mtu
        # Times follow the clock that nobody sets while the trace runs.
        self._epoch = time.time_ns() - time.monotonic_ns()
        self._selector = selectors.DefaultSelector()
        for port, tap in enumerate(network.taps):
            self._selector.register(tap, selectors.EVENT_READ, port)
        self._selector.register(program.output, selectors.EVENT_READ, None)
        self._number = -1  # of the packet that is with the program
        self._copies = 0  # of it, so far
        self._last: tuple[int, float] | None = None  # the last packet: its time in the trace, its second of sending

    def begin(self, ready: str | None, within: float) -> None:
        """Until the program forwards, and rests. What leaves before that is nobody's. Raises Failed."""
        end = time.monotonic() + within
        while not (self._program.reads(self._network.indices) if ready is None else self._says(ready)):
            self._frames(0.005)
            self._stop_if_ended()
            if time.monotonic() > end:
                awaited = "has no packet socket on each interface" if ready is None else f'said no "{ready}"'
                raise Failed(
                    f"`{self._program.name}` {awaited} in {within:g} s: it is not ready; {self._program.last_words()}"
                    + ("; it may have to flush what it prints" if ready is not None else "")
                )
        for _ in self._rest():
            pass

    def change_at(self, time: int, values: Mapping[str, Any]) -> None:
        raise Unsupported("a black box is not told of changes of config")

    def arrive(self, packets: Sequence[Arrival]) -> Iterator[Event]:
        for packet in packets:
            if carries(packet.data, self._mtu):
                yield from self._packet(packet)

    def finish(self) -> Iterator[Event]:
        yield from self._over()

    def close(self) -> None:
        self.owned.close()

    def forget(self) -> None:
        """What this holds itself."""
        self._selector.close()

    # ------------------------------------------------------------ a packet

    def _packet(self, packet: Arrival) -> Iterator[Event]:
        latest = packet.time
        if self._last is not None:
            before, sent = self._last
            latest = max(before, packet.time)
            yield from self._left(self._until(sent + self._pace.gap(before, packet.time)))
        yield from self._over()
        self._number += 1
        self._copies = 0
        self._last = latest, time.monotonic()
        at = self._now()
        self._network.send(packet.port, packet.data)
        yield Decided(self._number, at, None, Arrival(packet.port, at, packet.data))
        yield from self._left(self._rest())

    def _over(self) -> Iterator[Event]:
        """The time of the packet that is with the program is over."""
        if self._number >= 0 and self._copies == 0:
            yield Dropped(self._number, UNSEEN)

    def _left(self, frames: Iterator[Frame]) -> Iterator[Event]:
        for frame in frames:
            self._copies += 1
            yield Left(self._number, frame.port, frame.time, frame.data)

    # ------------------------------------------------------------ waiting

    def _rest(self) -> Iterator[Frame]:
        """What leaves until the program has come to rest. Raises Failed if it does not, or ended."""
        start = latest = time.monotonic()  # when it began, when the last frame left
        count, slept = 0, None
        while True:
            frames = self._frames(self._pace.settle / 2)
            count += len(frames)
            now = time.monotonic()
            passed = (now - start) / self._pace.settle
            if frames and (count > _MOST or passed > _NEVER):
                raise Failed(self._flood(count, now - start))
            yield from frames
            self._stop_if_ended()
            if frames:
                latest, slept = now, None
                continue
            before, slept = slept, self._program.sleep()
            if now - latest >= self._pace.settle and (passed >= _LONGER or (slept is not None and slept == before)):
                return

    def _until(self, end: float) -> Iterator[Frame]:
        """What leaves until then."""
        count, start = 0, time.monotonic()
        while (left := end - time.monotonic()) > 0:
            frames = self._frames(left)
            count += len(frames)
            if count > _MOST:
                raise Failed(self._flood(count, time.monotonic() - start))
            yield from frames
            self._stop_if_ended()

    def _frames(self, seconds: float) -> list[Frame]:
        """What has left, at most so long after; what the program says is heard meanwhile."""
        found: list[Frame] = []
        for key, _ in self._selector.select(max(0.0, seconds)):
            if key.data is None:
                if not self._program.listen():
                    self._selector.unregister(key.fd)
                continue
            while len(found) <= _MOST and (data := self._network.receive(key.data)) is not None:
                found.append(Frame(key.data, self._now(), data))
        return found

    def _now(self) -> int:
        return self._epoch + time.monotonic_ns()

    def _says(self, text: str) -> bool:
        return text.encode() in self._program.said

    # ------------------------------------------------------------ failing

    def _where(self) -> str:
        return f"after packet {self._number + 1}" if self._number >= 0 else "before the first packet"

    def _flood(self, count: int, seconds: float) -> str:
        return (
            f"`{self._program.name}` does not come to rest {self._where()}: {count} frames left in {seconds:.2f} s; "
            "what leaves by itself cannot be told from what leaves because of a packet"
        )

    def _stop_if_ended(self) -> None:
        how = self._program.ended()
        if how is None:
            return
        for _ in range(16):  # what it said last is still in the pipe
            before = self._program.said
            if not self._program.listen() or self._program.said == before:
                break
        raise Failed(f"`{self._program.name}` {how} {self._where()}; {self._program.last_words()}")
