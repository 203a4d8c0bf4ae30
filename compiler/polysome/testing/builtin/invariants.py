"""The properties of a single run."""

from __future__ import annotations

from functools import cache

from polysome.engines.record import Record
from polysome.testing.builtin.base import Broken, Invariant, Skip
from polysome.testing.builtin.found import every


@cache
def invariants() -> tuple[Invariant, ...]:
    """All of them."""
    return tuple(found for found in every() if isinstance(found, Invariant))


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
