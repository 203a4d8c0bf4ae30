"""`reframe W, N;`: one buffer that groups packets by class (SCHEDULE.md P6).

After Reframer: H. Ghasemirahni et al., "Packet Order Matters!", NSDI 2022.
"""

from __future__ import annotations

from collections.abc import Hashable

from polysome.kinds.policy.base import (
    CLASS_RECORD,
    FULL_FRAME,
    LONGEST,
    PACKET_RECORD,
    Drop,
    Hold,
    Item,
    Leave,
    Policy,
    PolicyKind,
    Settings,
    ceil_div,
)


class Reframe(Policy):
    """Holds up to `count` packets for up to `window` ns, then lets all go, class by class. O(1) a packet."""

    __slots__ = ("count", "due", "groups", "limit", "window")

    def __init__(self, settings: Settings, leave: Leave, drop: Drop) -> None:
        super().__init__(leave, drop)
        assert settings.window is not None and settings.count is not None
        self.window = settings.window
        self.limit = settings.count
        self.groups: dict[Hashable, list[Item]] = {}  # in order of each class's first arrival
        self.due: int | None = None
        self.count = 0

    def offer(self, item: Item, now: int) -> None:
        if self.due is None:
            self.due = now + self.window
        self.groups.setdefault(item.cls, []).append(item)
        self.count += 1
        if self.count == self.limit:
            self._empty(now)

    def next_due(self) -> int | None:
        return self.due

    def run_due(self) -> None:
        if self.due is not None:
            self._empty(self.due)

    def _empty(self, now: int) -> None:
        groups = self.groups
        self.groups, self.due, self.count = {}, None, 0
        for group in groups.values():
            for item in group:
                self.leave(item, now)

    def held(self) -> int:
        return self.count


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    return settings.window, "window: the buffer empties that long after its first packet, or earlier"


def memory(settings: Settings, class_bits: int = 104) -> int:
    assert settings.count is not None
    return settings.count * (FULL_FRAME + PACKET_RECORD + CLASS_RECORD + ceil_div(class_bits, 8))


KIND = PolicyKind(
    name="reframe",
    make=Reframe,
    hold_bound=hold_bound,
    memory=memory,
    constants=(("window", "duration"), ("count", "count")),
    shared="one buffer",
    form="reframe WINDOW, PACKETS",
    native="Reframe<ClassKey>",
)
