"""`fifo`: what arrives leaves; with `serve` in arrival order as each port gets free (SCHEDULE.md P3)."""

from __future__ import annotations

from collections import deque

from polysome.kinds.policy.base import LONGEST, Drop, Hold, Item, Leave, Policy, PolicyKind, Settings
from polysome.kinds.policy.link import LINK_OPTIONS, Link, link_memory, one_queue_bound


class Fifo(Policy):
    """No `serve`: every packet leaves the moment it arrives. O(1)."""

    __slots__ = ()

    def offer(self, item: Item, now: int) -> None:
        self.leave(item, now)


class FifoQueue:
    """The order of a served port: arrival. O(1)."""

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: deque[Item] = deque()

    def push(self, item: Item, now: int) -> None:
        self.items.append(item)

    def pop(self) -> Item:
        return self.items.popleft()


def make(settings: Settings, leave: Leave, drop: Drop) -> Policy:
    if settings.serve is None:
        return Fifo(leave, drop)
    return Link(settings, FifoQueue, leave, drop)


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    if settings.serve is None:
        return 0, "0: every packet leaves as it arrives"
    return one_queue_bound(settings, longest)


def memory(settings: Settings, class_bits: int = 104) -> int:
    return 0 if settings.serve is None else link_memory(settings, class_bits)


KIND = PolicyKind(
    name="fifo",
    make=make,
    hold_bound=hold_bound,
    memory=memory,
    serve="optional",
    serve_options=LINK_OPTIONS,
    when_full=("drop",),
    form="fifo",
    native="Fifo<ClassKey>",
    native_served="ServedFifo<ClassKey>",
)
