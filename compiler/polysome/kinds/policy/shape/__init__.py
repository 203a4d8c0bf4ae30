"""`shape R, B`: what exceeds the class's rate waits (SCHEDULE.md P5)."""

from __future__ import annotations

from heapq import heappop, heappush

from polysome.kinds.base import Option
from polysome.kinds.policy.base import (
    LAST_TIME,
    LONGEST,
    PACKET_RECORD,
    SHORTEST,
    TYPICAL_SHORT,
    Drop,
    Hold,
    Item,
    Leave,
    PolicyKind,
    Settings,
    ceil_div,
    no_room,
)
from polysome.kinds.policy.classes import CLASS_OPTIONS, ClassState, OfClasses, classes_memory
from polysome.kinds.state.token_bucket import SCALE, ready_at, take


class Shape(OfClasses):
    """A token bucket per class, and one heap of what is held: every packet's time to leave is known at its arrival.

    Within a class these times never fall, so the heap, by (time, arrival), keeps its order. O(log held) a packet.
    """

    __slots__ = ("buffered", "heap", "number", "settings")

    def __init__(self, settings: Settings, leave: Leave, drop: Drop) -> None:
        super().__init__(settings, leave, drop)
        self.settings = settings
        self.heap: list[tuple[int, int, Item, ClassState]] = []
        self.buffered = 0
        self.number = 0  # of what was ever held: breaks ties, also between copies of one packet

    def meter(self, state: ClassState, item: Item, n: int, rate: int, burst: int, now: int) -> None:
        time = ready_at(state.bucket, now, n, rate, burst, self.scale)
        if time is None or time > LAST_TIME:
            self.drop(item, "longer than burst" if n > burst else "rate too low")
        elif time > now and (reason := no_room(self.settings, item.size, state.held, self.buffered)) is not None:
            self.drop(item, reason)
        else:
            _, state.bucket = take(state.bucket, time, n, rate, burst, self.scale)
            if time == now:
                self.leave(item, now)
            else:
                self._hold(item, time, state)

    def _hold(self, item: Item, time: int, state: ClassState) -> None:
        self.classes.hold(item.cls, state, item.size)
        self.buffered += item.size
        heappush(self.heap, (time, self.number, item, state))
        self.number += 1

    def next_due(self) -> int | None:
        return self.heap[0][0] if self.heap else None

    def run_due(self) -> None:
        now = self.next_due()
        while self.heap and self.heap[0][0] == now:
            time, _, item, state = heappop(self.heap)
            self.buffered -= item.size
            self.classes.release(item.cls, state, item.size, time)
            self.leave(item, time)

    def held(self) -> int:
        return len(self.heap)


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    """SCHEDULE.md P5.7."""
    if args is None:
        return None, "none: the rate or the burst is computed per packet"
    rate, burst = args
    if rate == 0:
        return None, "none: the rate is 0"
    assert settings.buffer is not None
    limit = "buffer" if settings.queue is None or settings.queue > settings.buffer else "queue"
    size = settings.buffer if limit == "buffer" else settings.queue or 0
    scale = SCALE[settings.unit]
    amount = size if settings.unit == "bytes" else size // SHORTEST
    room = burst * scale - rate  # a packet not longer than this loses nothing to rounding, any other less than 1 ns
    biggest = longest if settings.unit == "bytes" else 1
    rounded = 0 if biggest * scale <= room else amount * scale // max(room, scale)
    words = f"{limit} * 8 / rate" if settings.unit == "bytes" else f"{limit} / {SHORTEST} bytes / rate"
    return (
        ceil_div(amount * scale, rate) + rounded,
        f"{words}: as long as the tokens for a full {limit} take to come"
        + (f" (and {rounded} ns of rounding, for packets as long as the burst)" if rounded else ""),
    )


def memory(settings: Settings, class_bits: int = 104) -> int:
    assert settings.buffer is not None
    records = settings.buffer // TYPICAL_SHORT * PACKET_RECORD
    return settings.buffer + records + classes_memory(settings, class_bits)


KIND = PolicyKind(
    name="shape",
    make=Shape,
    hold_bound=hold_bound,
    memory=memory,
    args=(("rate", "bitrate|packetrate"), ("burst", "bytes|u64")),
    options=(
        *CLASS_OPTIONS,
        Option("buffer", "bytes", required=True, why="what is delayed waits here, and somewhere memory ends"),
        Option("queue", "bytes"),
    ),
    when_full=("drop", "evict", "pass"),
    form="shape RATE, BURST",
    native="Shape<ClassKey>",
)
