"""Output ports that send one packet at a time at `serve` bit/s (SCHEDULE.md P7), whatever the order.

What is sent next is up to a `Queue`, one per port: fifo, priority, deadline and drr differ in nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from heapq import heappop, heappush, heapreplace
from typing import Protocol

from polysome.kinds.base import Option
from polysome.kinds.policy.base import (
    BYTE,
    CLASS_RECORD,
    PACKET_RECORD,
    TYPICAL_SHORT,
    Drop,
    Hold,
    Item,
    Leave,
    Policy,
    Settings,
    ceil_div,
    no_room,
)

LINK_OPTIONS = (
    Option("buffer", "bytes", required=True, why="packets wait while a port sends, and somewhere memory ends"),
    Option("when_full", "word", required=True, why="say `when full drop`: what finds no room is dropped"),
    Option("queue", "bytes"),
    Option("classes", "count"),
)


class Queue(Protocol):
    """The waiting packets of one port. Packets of a class come out in the order they went in."""

    def push(self, item: Item, now: int) -> None: ...

    def pop(self) -> Item:
        """The packet to send next; only called if one waits."""
        ...


class Port:
    """A port's sender: `free` is the exact end of the packet being sent, in 10^-9 bit (ns x rate)."""

    __slots__ = ("free", "queue", "waiting")

    def __init__(self, queue: Queue) -> None:
        self.free = 0
        self.queue = queue
        self.waiting = 0


class Link(Policy):
    """Non-preemptive, work-conserving service of all ports. O(log ports) a packet beside the queue's own."""

    __slots__ = ("buffered", "class_bytes", "count", "due", "make_queue", "ports", "rate", "settings")

    def __init__(self, settings: Settings, make_queue: Callable[[], Queue], leave: Leave, drop: Drop) -> None:
        super().__init__(leave, drop)
        assert settings.serve is not None and settings.buffer is not None
        self.settings = settings
        self.rate = settings.serve
        self.make_queue = make_queue
        self.ports: dict[int, Port] = {}
        self.due: list[tuple[int, int]] = []  # (free, port) of every port with packets waiting, a heap
        self.class_bytes: dict[tuple[int, Hashable], int] = {}  # only of what waits
        self.buffered = 0
        self.count = 0

    def offer(self, item: Item, now: int) -> None:
        port = self.ports.get(item.port)
        if port is None:
            port = self.ports[item.port] = Port(self.make_queue())
        start = now * self.rate
        if port.free <= start:  # so nothing waits: that would have been due, and run
            port.free = start + item.size * BYTE
            self.leave(item, now)
            return
        reason = self._refusal(item)
        if reason is not None:
            self.drop(item, reason)
            return
        if not port.waiting:
            heappush(self.due, (ceil_div(port.free, self.rate), item.port))
        port.queue.push(item, now)
        port.waiting += 1
        self._account(item, item.size, 1)

    def _refusal(self, item: Item) -> str | None:
        """Why the packet may not wait, or None."""
        settings = self.settings
        ahead = self.class_bytes.get((item.port, item.cls), 0)
        if settings.classes is not None and not ahead and len(self.class_bytes) >= settings.classes:
            return "no free class"
        return no_room(settings, item.size, ahead, self.buffered)

    def _account(self, item: Item, size: int, count: int) -> None:
        """Add to (or, negative, take from) what is held."""
        key = (item.port, item.cls)
        waiting = self.class_bytes.get(key, 0) + size
        if waiting:
            self.class_bytes[key] = waiting
        else:
            del self.class_bytes[key]
        self.buffered += size
        self.count += count

    def next_due(self) -> int | None:
        return self.due[0][0] if self.due else None

    def run_due(self) -> None:
        now = self.next_due()
        while now is not None and self.next_due() == now:
            number = self.due[0][1]
            port = self.ports[number]
            item = port.queue.pop()
            port.waiting -= 1
            # The exact end of the previous packet, not `now`, which is that rounded up: no drift.
            port.free += item.size * BYTE
            if port.waiting:
                heapreplace(self.due, (ceil_div(port.free, self.rate), number))
            else:
                heappop(self.due)
            self._account(item, -item.size, -1)
            self.leave(item, now)

    def held(self) -> int:
        return self.count


def one_queue_bound(settings: Settings, longest: int) -> Hold:
    """The hold bound where nothing that comes later is ever sent first."""
    assert settings.serve is not None and settings.buffer is not None
    return (
        ceil_div((settings.buffer + longest) * BYTE, settings.serve),
        "(buffer + longest packet) * 8 / serve: the packet being sent, then all that may be waiting",
    )


def link_memory(settings: Settings, class_bits: int = 104) -> int:
    """Bytes: what waits, and its records."""
    assert settings.buffer is not None
    packets = settings.buffer // TYPICAL_SHORT
    classes = packets if settings.classes is None else min(packets, settings.classes)
    return settings.buffer + packets * PACKET_RECORD + classes * (CLASS_RECORD + ceil_div(class_bits, 8))
