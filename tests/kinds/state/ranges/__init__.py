"""`config ranges<K, V>`: disjoint ranges of integers, with values. A table for tests, which add it as a folder."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

from polysome.ir import types as t
from polysome.kinds.base import Show, TableKind

Row = tuple[tuple[int, int], Any]  # the least and the greatest key, the value


class Ranges:
    """An immutable table. ValueError if two ranges have a key in common."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = sorted(rows, key=lambda row: row[0])
        if len(list(apart(rows))) != len(rows):
            raise ValueError("two ranges have a key in common")

    def get(self, key: int) -> Any:
        """The value of the range that holds the key; None if none does. O(log rows)."""
        at = bisect_right(self._rows, key, key=lambda row: row[0][0]) - 1
        if at >= 0 and key <= self._rows[at][0][1]:
            return self._rows[at][1]
        return None

    def __len__(self) -> int:
        return len(self._rows)


def common(a: Row, b: Row) -> bool:
    """Have two ranges a key in common?"""
    return a[0][0] <= b[0][1] and b[0][0] <= a[0][1]


def apart(rows: Iterable[Row]) -> Iterable[Row]:
    """The rows without those that have a key in common with an earlier one."""
    kept: list[Row] = []
    for row in rows:
        if not any(common(row, other) for other in kept):
            kept.append(row)
    return kept


def _text(row: Row, type: t.Table, show: Show) -> str:
    (low, high), value = row
    return f"{show(low, type.key)}-{show(high, type.key)} -> {show(value, type.value)}"


KIND = TableKind(
    name="ranges",
    section=13,
    params=("K", "V"),
    make=lambda rows, ctx: Ranges(rows),
    distinct=apart,
    keys=lambda key: isinstance(key, t.Bits),
    keys_are="integer types",
    text=_text,
)
