"""The properties of a single run."""

from __future__ import annotations

from functools import cache

from polysome.engines.record import Record
from polysome.kinds.state import brought
from polysome.testing.builtin.base import Broken, Invariant, Skip
from polysome.testing.builtin.checksums import Checksums
from polysome.testing.builtin.class_order import ClassOrder
from polysome.testing.builtin.conservation import Conservation
from polysome.testing.builtin.lookups import Lookups
from polysome.testing.builtin.packet_ends import PacketEnds
from polysome.testing.builtin.schedule import ScheduleExact
from polysome.testing.builtin.schedule_bounds import ScheduleBounds


@cache
def invariants() -> tuple[Invariant, ...]:
    """All of them: those of kinds of state as their folders bring them, in the order of the manual."""
    return (
        Conservation(),
        PacketEnds(),
        Checksums(),
        ClassOrder(),
        ScheduleBounds(),
        ScheduleExact(),
        *sorted(brought("invariant").values(), key=lambda invariant: invariant.section),
        Lookups(),
    )


def hold(record: Record, how: str) -> int:
    """All of them, of a run that was made in a special way; how many packets. Broken says which one fails."""
    if record.crash is not None:
        raise Broken((), f"{how}, the engine fails: {record.crash}")
    for invariant in invariants():
        try:
            invariant.check(record)
        except Skip:
            continue
        except Broken as broken:
            failure = broken.failure
            raise Broken(failure.packets, f"{how}, {invariant.name} does not hold:", *failure.said) from broken
    return len(record.fates)
