"""What became of packets behind a control, by what the control looked at: what looks the same is walked once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from polysome import smt
from polysome.prove.p4.store import Look, Store, found_at
from polysome.prove.p4.world import World


class Known:
    """The worlds behind a control, by what its walk looked at of the store that it began with.

    What a walk looks at first is always the same; what it looks at next depends on what it found so far.
    """

    def __init__(self) -> None:
        self._root = _Look()

    def of(self, store: Store) -> list[World] | None:
        """None: no walk began with a store that looks the same."""
        at: _Look | None = self._root
        while at is not None and at.worlds is None:
            at = at.found.get(_told(found_at(store, at.place))) if at.place is not None else None
        return at.worlds if at is not None else None

    def put(self, store: Store, seen: Iterable[Look], worlds: list[World]) -> None:
        """`seen`: what the walk looked at of the store, in order."""
        at = self._root
        for place in seen:
            value = found_at(store, place)
            assert at.place in (None, place), "two walks that found the same looked elsewhere next"
            at.place = place
            at.kept.append(value)
            at = at.found.setdefault(_told(value), _Look())
        at.worlds = worlds


@dataclass
class _Look:
    """Where a walk looks, and what comes then, by what it finds there; or `worlds`, if it has all that it needs."""

    place: Look | None = None
    found: dict[object, _Look] = field(default_factory=dict)
    worlds: list[World] | None = None
    kept: list[object] = field(default_factory=list)  # terms, so that their numbers remain their own


def _told(value: object) -> object:
    """Equal for values that are the same."""
    return (value.get_id(),) if isinstance(value, smt.Term) else value
