"""`pool<T>`: values that are handed out, each to one owner at a time, and come back (STATE.md, section 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from polysome.kinds.base import Trap
from polysome.kinds.values import Taken

Axis = range | dict[Any, None]  # in ascending order of position, with fast `in`
Axes = tuple[Axis, ...]


class Pool:
    """The domain's values, each free or out, separately for each partition.

    `domain()` gives the axes as they are now; the values are their product, first axis outermost; with one axis the
    bare items. It is called by the constructor and by `reload`. Nothing costs memory in proportion to the domain;
    every operation but `reload` is O(1) amortized.
    """

    def __init__(self, name: str, domain: Callable[[], Sequence[Sequence[Any]]]) -> None:
        self.name = name
        self._domain = domain
        self._axes = _axes(domain())
        self._history: list[tuple[Axes, Axes | None]] = [
            (self._axes, None)
        ]  # the free values of an untouched partition
        self._partitions: dict[Hashable, _Partition] = {}
        self._loose: dict[Taken, None] = {}  # taken and held by nothing, in order of taking

    def take(self, partition: Hashable = None) -> Taken | None:
        """The value longest free, at first ascending; None if all are out. It is loose until it is claimed."""
        part = self._partitions.get(partition)
        if part is None:
            part = self._partitions[partition] = _Partition(
                _Run(axes, without, set()) for axes, without in self._history
            )
        found = part.next_free()
        if found is None:
            return None
        part.out[found] = 0
        part.out_inside += 1
        taken = Taken(found[0] if len(found) == 1 else found, partition)
        self._loose[taken] = None
        return taken

    def claim(self, taken: Taken) -> None:
        """One more entry holds the value. Trap if it is not out (it went back earlier in this handler)."""
        cell = self._cell(taken)
        part = self._partitions.get(taken.partition)
        if part is None or cell not in part.out:
            raise Trap(f"value not taken from {self.name}")
        part.out[cell] += 1
        self._loose.pop(taken, None)

    def release(self, taken: Taken) -> None:
        """One entry less holds the value; the last one makes it free at once, as the one that is free the shortest."""
        cell = self._cell(taken)
        out = self._partitions[taken.partition].out
        out[cell] -= 1
        if out[cell] == 0:
            self._give_back(taken)

    def settle(self) -> None:
        """The handler has ended: what it took and stored nowhere is free again, in order of taking."""
        loose, self._loose = self._loose, {}
        for taken in loose:
            self._give_back(taken)

    def available(self, partition: Hashable = None) -> int:
        """How many values are free (`pool.len`)."""
        part = self._partitions.get(partition)
        return prod(map(len, self._axes)) - (0 if part is None else part.out_inside)

    def partitions(self) -> list[Hashable]:
        """Those that were asked for a value."""
        return list(self._partitions)

    def reload(self) -> None:
        """The domain changed: what left it is not given out any more, what is new is free the shortest, ascending."""
        old, self._axes = self._axes, _axes(self._domain())
        self._history = [(_common(axes, self._axes), without) for axes, without in self._history]
        self._history.append((self._axes, old))
        self._history = [(axes, without) for axes, without in self._history if not _covered(axes, without)]
        for part in self._partitions.values():
            part.reload(self._axes, old)

    def _give_back(self, taken: Taken) -> None:
        part = self._partitions[taken.partition]
        cell = self._cell(taken)
        del part.out[cell]
        if _inside(cell, self._axes):
            part.out_inside -= 1
            part.free.append(cell)

    def _cell(self, taken: Taken) -> tuple[Any, ...]:
        return (taken.value,) if len(self._axes) == 1 else taken.value


@dataclass
class _Run:
    """Free values that nobody has asked for yet: the product of `axes` but for `without` and `skip`, ascending."""

    axes: Axes
    without: Axes | None
    skip: set[tuple[Any, ...]]

    def __post_init__(self) -> None:
        self._cells = _product(self.axes, self.without)

    def next(self) -> tuple[Any, ...] | None:
        for cell in self._cells:
            if cell not in self.skip and _inside(cell, self.axes):  # `axes` may have shrunk since
                return cell
        return None


class _Partition:
    """`free` in order of falling time since it is free; `out` with how many entries hold each value."""

    def __init__(self, runs: Iterable[_Run]) -> None:
        self.free: deque[tuple[Any, ...] | _Run] = deque(runs)
        self.out: dict[tuple[Any, ...], int] = {}
        self.out_inside = 0  # how many of `out` belong to the domain

    def next_free(self) -> tuple[Any, ...] | None:
        while self.free:
            first = self.free[0]
            if isinstance(first, tuple):
                self.free.popleft()
                return first
            cell = first.next()
            if cell is not None:
                return cell
            self.free.popleft()
        return None

    def reload(self, axes: Axes, old: Axes) -> None:
        kept: deque[tuple[Any, ...] | _Run] = deque()
        for each in self.free:
            if isinstance(each, _Run):
                each.axes = _common(each.axes, axes)
                if not _covered(each.axes, each.without):
                    kept.append(each)
            elif _inside(each, axes):
                kept.append(each)
        out_inside = {cell for cell in self.out if _inside(cell, axes)}
        if not _covered(axes, old):
            kept.append(_Run(axes, old, {cell for cell in out_inside if not _inside(cell, old)}))
        self.free = kept
        self.out_inside = len(out_inside)


def _axes(axes: Sequence[Sequence[Any]]) -> Axes:
    """What a list names twice counts once, at its first place."""
    return tuple(axis if isinstance(axis, range) else dict.fromkeys(axis) for axis in axes)


def _inside(cell: tuple[Any, ...], axes: Axes) -> bool:
    return all(item in axis for item, axis in zip(cell, axes, strict=True))


def _common(axes: Axes, others: Axes) -> Axes:
    """The part of each axis that is also on the other; a product again."""
    return tuple(_common_axis(axis, other) for axis, other in zip(axes, others, strict=True))


def _common_axis(axis: Axis, other: Axis) -> Axis:
    if isinstance(axis, range) and isinstance(other, range):
        return range(max(axis.start, other.start), min(axis.stop, other.stop))
    return dict.fromkeys(item for item in axis if item in other)


def _covered(axes: Axes, others: Axes | None) -> bool:
    """Is the product of `axes` empty but for values in the product of `others`?"""
    if not all(axes):
        return True
    return others is not None and all(len(_common_axis(a, o)) == len(a) for a, o in zip(axes, others, strict=True))


def _product(axes: Axes, without: Axes | None) -> Iterator[tuple[Any, ...]]:
    """The product of `axes` except what is in the product of `without`, first axis outermost, lazily."""
    if _covered(axes, without):
        return
    if not axes:
        yield ()
        return
    for item in axes[0]:
        rest = without[1:] if without is not None and item in without[0] else None
        for tail in _product(axes[1:], rest):
            yield (item, *tail)
