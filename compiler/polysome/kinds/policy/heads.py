"""The order of a served port by rank: among the heads of the classes' queues the least (SCHEDULE.md P8.1, P8.2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from heapq import heappop, heappush

from polysome.kinds.policy.base import Item

Rank = Callable[[Item, int], int]  # of a packet and its arrival


class HeadsQueue:
    """A queue per class, and a heap of their heads by (rank, arrival). O(log classes).

    Only heads compete, so a class keeps its order whatever the ranks within it are.
    """

    __slots__ = ("classes", "heads", "rank")

    def __init__(self, rank: Rank) -> None:
        self.rank = rank
        self.classes: dict[Hashable, deque[tuple[int, int, Item]]] = {}
        self.heads: list[tuple[int, int, Item]] = []

    def push(self, item: Item, now: int) -> None:
        entry = (self.rank(item, now), item.order, item)
        queue = self.classes.get(item.cls)
        if queue is None:
            self.classes[item.cls] = deque((entry,))
            heappush(self.heads, entry)
        else:
            queue.append(entry)

    def pop(self) -> Item:
        item = heappop(self.heads)[2]
        queue = self.classes[item.cls]
        queue.popleft()
        if queue:
            heappush(self.heads, queue[0])
        else:
            del self.classes[item.cls]
        return item
