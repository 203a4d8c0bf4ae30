"""A priority queue for keys that change far more often than anyone asks for the least one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from heapq import heapify, heappop, heappush, heapreplace
from typing import Generic, Protocol, TypeVar


class Item(Protocol):
    """What can be queued: `seq` is unique and breaks ties (lower first), `ended` takes the item out for good."""

    seq: int
    ended: bool


T = TypeVar("T", bound=Item)


class LazyHeap(Generic[T]):
    """Items by (rank(item), seq), least first.

    A rank may grow at any time without telling the heap, at no cost: the heap holds a lower bound of each rank and
    corrects it when it comes to the top. An item whose rank sank must be pushed again. Pushing and asking are
    O(log n) amortized over pushes and growths.
    """

    def __init__(self, rank: Callable[[T], int]) -> None:
        self._rank = rank
        self._heap: list[tuple[int, int, T]] = []

    def push(self, item: T, everything: Collection[T]) -> None:
        """Adds `item`, or notes that its rank sank. `everything`: all items that have not ended, `item` among them."""
        heappush(self._heap, (self._rank(item), item.seq, item))
        if len(self._heap) > 2 * len(everything) + 64:  # mostly ended items: start over without them
            self._heap = [(self._rank(each), each.seq, each) for each in everything]
            heapify(self._heap)

    def first(self, limit: int | None = None) -> T | None:
        """The least item, or None if there is none (with `limit`: none whose rank is at most that)."""
        heap = self._heap
        while heap:
            bound, seq, item = heap[0]
            if limit is not None and bound > limit:
                return None
            rank = self._rank(item)  # at least `bound`: had it sunk, the item's lower place were on top
            if item.ended:
                heappop(heap)
            elif rank > bound:
                heapreplace(heap, (rank, seq, item))
            else:
                return item
        return None
