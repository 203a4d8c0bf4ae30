"""shape, as SCHEDULE.md P5 says it."""

from __future__ import annotations

from polysome.testing.builtin.schedule_models import BYTE, SHORTEST, Buckets, ExpectedOf, Options, own_room, unit


class Shape(Buckets):
    """P5."""

    shapes = True


def hold_bound(options: Options, args: tuple[int, ...] | None, longest: int) -> int | None:
    """P5.7."""
    if args is None or args[0] == 0:
        return None
    rate, burst = args
    scale = unit(options)
    amount = own_room(options) if scale == BYTE else own_room(options) // SHORTEST
    room = burst * scale - rate
    rounded = 0 if (longest if scale == BYTE else 1) * scale <= room else amount * scale // max(room, scale)
    return -(-amount * scale // rate) + rounded


EXPECTED = ExpectedOf(Shape, hold_bound, meters=True)
