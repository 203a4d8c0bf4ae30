"""`instant;`: every packet leaves as it arrives. A schedule policy for tests, which add it to Polysome as a folder."""

from __future__ import annotations

from pathlib import Path

from polysome.kinds.policy.base import LONGEST, Drop, Hold, Item, Leave, Policy, PolicyKind, Settings


class Instant(Policy):
    """Holds nothing. O(1)."""

    def offer(self, item: Item, now: int) -> None:
        self.leave(item, now)


def make(settings: Settings, leave: Leave, drop: Drop) -> Policy:
    return Instant(leave, drop)


def hold_bound(settings: Settings, args: tuple[int, ...] | None, longest: int = LONGEST) -> Hold:
    return 0, "0: every packet leaves as it arrives"


KIND = PolicyKind(
    name="instant",
    make=make,
    hold_bound=hold_bound,
    memory=lambda settings, class_bits=104: 0,
    form="instant",
    native="Instant<ClassKey>",
    header=Path(__file__).with_name("instant.hpp"),
)
