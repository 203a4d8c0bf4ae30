"""The properties of a single run."""

from __future__ import annotations

from polysome.testing.builtin.base import Broken, Invariant, Skip
from polysome.testing.builtin.bloom import Bloom
from polysome.testing.builtin.checksums import Checksums
from polysome.testing.builtin.class_order import ClassOrder
from polysome.testing.builtin.conservation import Conservation
from polysome.testing.builtin.count_min import CountMin
from polysome.testing.builtin.expiry import Expiry
from polysome.testing.builtin.hyperloglog import HyperLogLog
from polysome.testing.builtin.lookups import Lookups
from polysome.testing.builtin.memory import Memory
from polysome.testing.builtin.packet_ends import PacketEnds
from polysome.testing.builtin.pools import Pools
from polysome.testing.builtin.schedule import ScheduleExact
from polysome.testing.builtin.schedule_bounds import ScheduleBounds
from polysome.testing.builtin.token_buckets import TokenBuckets
from polysome.testing.builtin.top_k import TopK
from polysome.testing.record import Record

INVARIANTS: tuple[Invariant, ...] = (
    Conservation(),
    PacketEnds(),
    Checksums(),
    ClassOrder(),
    ScheduleBounds(),
    ScheduleExact(),
    Expiry(),
    Pools(),
    Memory(),
    TokenBuckets(),
    CountMin(),
    Bloom(),
    HyperLogLog(),
    TopK(),
    Lookups(),
)


def hold(record: Record, how: str) -> int:
    """All of them, of a run that was made in a special way; how many packets. Broken says which one fails."""
    if record.crash is not None:
        raise Broken((), f"{how}, the engine fails: {record.crash}")
    for invariant in INVARIANTS:
        try:
            invariant.check(record)
        except Skip:
            continue
        except Broken as broken:
            failure = broken.failure
            raise Broken(failure.packets, f"{how}, {invariant.name} does not hold:", *failure.said) from broken
    return len(record.fates)
