"""Decisions read from a block of bytes, the form in which Hypothesis draws and shrinks them.

A few bytes per packet are cheaper to draw than many small choices, and shrink as well: a zero byte is the simplest
decision. What lies beyond the block's end follows from its last bytes, and is zero if these are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")


class Weighted(Generic[T]):
    """Items with weights, the simplest first."""

    __slots__ = ("edges", "items")

    def __init__(self, items: Iterable[tuple[T, float]]) -> None:
        pairs = [(item, weight) for item, weight in items if weight > 0]
        self.items = [item for item, _ in pairs]
        total = sum(weight for _, weight in pairs)
        self.edges = [edge * 65536 / total for edge in accumulate(weight for _, weight in pairs)]

    def __bool__(self) -> bool:
        return bool(self.items)


class Choices:
    """The decisions in `data`, one after the other."""

    __slots__ = ("_at", "_data", "_more")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._more = int.from_bytes(data[-3:], "big")

    def byte(self) -> int:
        """0 to 255."""
        at = self._at
        if at >= len(self._data):
            self._more = self._more * 0x5851_F42D_4C95_7F2D & 0xFFFF_FFFF_FFFF_FFFF  # Knuth's MMIX, but zero stays zero
            return self._more >> 56
        self._at = at + 1
        return self._data[at]

    def number(self, size: int) -> int:
        """A number of `size` bytes."""
        found = 0
        for _ in range(size):
            found = found << 8 | self.byte()
        return found

    def below(self, n: int) -> int:
        """0 to n - 1; 0 if n is 0."""
        if n <= 256:
            return self.byte() * n >> 8
        size = (n.bit_length() + 7) // 8 + 1
        return self.number(size) * n >> 8 * size

    def chance(self, share: float) -> bool:
        """True with this probability; a zero byte says False. Below 1/256 it takes a second byte."""
        if share >= 1 / 64:
            return self.byte() >= 256 - round(share * 256)
        return self.number(2) >= 65536 - round(share * 65536)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def early(self, items: Sequence[T]) -> T:
        """One of the items, the first ones more often: the least of two draws."""
        return items[min(self.below(len(items)), self.below(len(items)))]

    def of(self, items: Weighted[T]) -> T:
        """One of the items by their weights."""
        at = bisect_right(items.edges, self.byte() << 8 | self.byte())
        return items.items[min(at, len(items.items) - 1)]
