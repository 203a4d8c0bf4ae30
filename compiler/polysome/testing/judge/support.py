"""What the generated code of properties calls: columns, buckets of elements, operators that may be undefined.

Undefined (LANGUAGE.md L12.3) is None throughout.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, compress
from typing import Any

from polysome.kinds.base import Trap
from polysome.kinds.values import Row


class Column(dict[Any, Any]):
    """Values by packet number (or other arguments), each computed at its first use."""

    __slots__ = ("compute",)

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        super().__init__()
        self.compute = compute

    def __missing__(self, key: Any) -> Any:
        found = self[key] = self.compute(key)
        return found


class Recent(Column):
    """A column that forgets all when it has `LIMIT` values: for what is asked in runs of equal arguments."""

    __slots__ = ()
    LIMIT = 256

    def __missing__(self, key: Any) -> Any:
        if len(self) >= self.LIMIT:
            self.clear()
        return super().__missing__(key)


class Indexes(dict[int, tuple[Any, Any]]):
    """Indexes over collections, by identity of the collection."""

    __slots__ = ("build",)

    def __init__(self, build: Callable[[Any], Any]) -> None:
        super().__init__()
        self.build = build

    def of(self, source: Any) -> Any:
        found = self.get(id(source))
        if found is None:
            if len(self) >= Recent.LIMIT:
                self.clear()
            found = self[id(source)] = (source, self.build(source))  # holds the source, so that its identity stays
        return found[1]


class Bucket:
    """Elements with one join key: `items`, sorted by `keys` (the items themselves for packets in their order).

    Aggregates over `items[i:j]`: `total` is O(1) after O(n); the others O(1) from the beginning on, else O(j - i).
    Undefined values do not count.
    """

    __slots__ = ("_running", "_values", "items", "keys")

    def __init__(self, items: Sequence[Any], keys: Sequence[Any] | None = None) -> None:
        self.items = items
        self.keys = items if keys is None else keys
        self._running: dict[tuple[Any, str], list[Any]] = {}
        self._values: dict[Any, list[Any]] = {}

    def values(self, value: Callable[[Any], Any]) -> list[Any]:
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = [value(x) for x in self.items]
        return found

    def _run(self, value: Callable[[Any], Any], op: str) -> list[Any]:
        """`op` over the first n elements, n from 0."""
        found = self._running.get((value, op))
        if found is None:
            found = self._running[value, op] = _RUNNING[op](self.values(value))
        return found

    def total(self, i: int, j: int, value: Callable[[Any], Any]) -> int:
        if i >= j:
            return 0
        run = self._run(value, "sum")
        return int(run[j] - run[i])

    def defined(self, i: int, j: int, value: Callable[[Any], Any]) -> int:
        """How many have a value."""
        if i >= j:
            return 0
        run = self._run(value, "count")
        return int(run[j] - run[i])

    def least(self, i: int, j: int, value: Callable[[Any], Any]) -> Any:
        if i >= j or i == 0:
            return self._run(value, "min")[j if i < j else 0]
        return min((v for v in self.values(value)[i:j] if v is not None), default=None)

    def largest(self, i: int, j: int, value: Callable[[Any], Any]) -> Any:
        if i >= j or i == 0:
            return self._run(value, "max")[j if i < j else 0]
        return max((v for v in self.values(value)[i:j] if v is not None), default=None)

    def different(self, i: int, j: int, value: Callable[[Any], Any]) -> int:
        if i >= j or i == 0:
            return int(self._run(value, "distinct")[j if i < j else 0])
        return len({v for v in self.values(value)[i:j] if v is not None})


def _least(values: list[Any]) -> list[Any]:
    return [None, *accumulate(values, lambda a, b: b if a is None else a if b is None or a <= b else b)]


def _largest(values: list[Any]) -> list[Any]:
    return [None, *accumulate(values, lambda a, b: b if a is None else a if b is None or a >= b else b)]


def _distinct(values: list[Any]) -> list[int]:
    seen: set[Any] = set()
    found = [0]
    for value in values:
        if value is not None:
            seen.add(value)
        found.append(len(seen))
    return found


_RUNNING: dict[str, Callable[[list[Any]], list[Any]]] = {
    "sum": lambda values: list(accumulate((v or 0 for v in values), initial=0)),
    "count": lambda values: list(accumulate((v is not None for v in values), initial=0)),
    "min": _least,
    "max": _largest,
    "distinct": _distinct,
}


def buckets(keys: Sequence[Any], items: Sequence[Any]) -> dict[Any, Bucket]:
    """Items by their join key, in the given order; those with an undefined key are in none."""
    found: dict[Any, list[Any]] = {}
    for key, item in zip(keys, items, strict=True):
        if key is not None:
            found.setdefault(key, []).append(item)
    return {key: Bucket(mine) for key, mine in found.items()}


def by(items: Sequence[Any], value: Callable[[Any], Any]) -> Bucket:
    """The items sorted by a value; those without it are left out."""
    pairs = sorted(((v, x) for x in items if (v := value(x)) is not None), key=lambda pair: pair[0])
    return Bucket([x for _, x in pairs], [v for v, _ in pairs])


# ---------------------------------------------------------------- operators


def attempt(function: Callable[..., Any], *args: Any) -> Any:
    """A function of the spec; undefined if an argument is, or if it traps."""
    if None in args:
        return None
    try:
        return function(*args)
    except Trap:
        return None


def ratio(amount: int, duration: int, scale: int) -> Fraction | None:
    """`amount / duration` per second, exactly; undefined for no time at all."""
    return Fraction(amount * scale, duration) if duration else None


def row(table: Any, index: int) -> Any:
    """Element `index` of a list; undefined past the end."""
    return table[index] if index < len(table) else None


def hashed_row(table: Any, hashed: int) -> Any:
    """The value that a table has for a hash; undefined if it is empty."""
    return value_of(attempt(table.lookup, hashed))


def value_of(row: Row | None) -> Any:
    """The value of a row that a table found; undefined if it found none."""
    return None if row is None else row.value


def aggregate(op: str, values: list[Any]) -> Any:
    """`op` over defined values; no `min` and `max` of nothing."""
    match op:
        case "count":
            return len(values)
        case "sum":
            return sum(values)
        case "distinct":
            return len(set(values))
        case _:
            return (min if op == "min" else max)(values, default=None)


NAMES: dict[str, Any] = {
    "Column": Column,
    "Recent": Recent,
    "Indexes": Indexes,
    "Bucket": Bucket,
    "buckets": buckets,
    "by": by,
    "attempt": attempt,
    "ratio": ratio,
    "row": row,
    "hashed_row": hashed_row,
    "value_of": value_of,
    "aggregate": aggregate,
    "compress": compress,
    "bisect_left": bisect_left,
    "bisect_right": bisect_right,
}
