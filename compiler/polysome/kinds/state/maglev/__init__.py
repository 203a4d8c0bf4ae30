"""`config maglev<V>`: spreads hashes over rows evenly and moves few of them when rows change (STATE.md, section 12).

Eisenbud et al., "Maglev: a fast and reliable software network load balancer" (NSDI'16), section 3.4. Weights are turns
per round, as in Katran.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from math import isqrt
from typing import Any

from polysome.ir import types as t
from polysome.kinds.base import Option, Show, TableContext, TableKind, Trap
from polysome.kinds.hashing import encoder

SIZE = 65537


class Maglev:
    """An immutable table of `size` places, each of which belongs to a row; `lookup` is O(1).

    `rows` are (row, weight); `encode` gives a row's canonical bytes, `hash64` their hash. ValueError if `size` is no
    prime, a weight is negative, or the weights add up to more than `size`.
    """

    def __init__(
        self,
        name: str,
        rows: Sequence[tuple[Any, int]],
        hash64: Callable[[bytes], int],
        encode: Callable[[Any], bytes],
        size: int = SIZE,
    ) -> None:
        if not _is_prime(size):
            raise ValueError(f"the size of {name}, {size}, is no prime number")
        if any(weight < 0 for _, weight in rows):
            raise ValueError(f"{name} has a row with a negative weight")
        if sum(weight for _, weight in rows) > size:
            raise ValueError(f"the weights of {name} add up to more than its size, {size}")
        self.name = name
        self.size = size
        self._count = len(rows)
        used = [(row, weight) for row, weight in rows if weight > 0]
        self._rows = [row for row, _ in used]
        self._places = _populate([hash64(encode(row)) for row in self._rows], [weight for _, weight in used], size)

    def lookup(self, hashed: int) -> Any:
        """The row of place `hashed` mod size. Trap if there is no row."""
        if not self._rows:
            raise Trap(f"{self.name} is empty")
        return self._rows[self._places[hashed % self.size]]

    def __len__(self) -> int:
        """All rows, those of weight 0 too."""
        return self._count


def _populate(hashes: list[int], weights: list[int], size: int) -> list[int]:
    """The number of the row of each place: in turn, every row takes the next free place of its own permutation."""
    places = [-1] * size
    permutations = [_permutation(hashed, size) for hashed in hashes]
    turns = [number for number, weight in enumerate(weights) for _ in range(weight)]
    for number in islice(cycle(turns), size):
        free = next(place for place in permutations[number] if places[place] < 0)
        places[free] = number
    return places


def _permutation(hashed: int, size: int) -> Iterator[int]:
    """All places in a row's order of preference: offset + j·skip mod size, from the hash's upper and lower half."""
    place = (hashed >> 32) % size
    skip = (hashed & 0xFFFFFFFF) % (size - 1) + 1
    while True:
        yield place
        place = (place + skip) % size


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % divisor for divisor in range(2, isqrt(n) + 1))


def places(options: Mapping[str, int]) -> int:
    """How many places a table with these options has."""
    return options.get("size", SIZE)


def _make(rows: Sequence[tuple[Any, int]], ctx: TableContext) -> Maglev:
    encode = encoder(t.Ref(ctx.name, ctx.type.value))
    return Maglev(ctx.name, rows, ctx.hash64, encode, places(ctx.options))


def _text(row: tuple[Any, int], type: t.Table, show: Show) -> str:
    value, weight = row
    return show(value, type.value) + (f" (weight {weight})" if weight != 1 else "")


KIND = TableKind(
    name="maglev",
    section=12,
    params=("V",),
    make=_make,
    options=(Option("size", "count"),),
    identity="value",
    value=lambda row: row[0],
    with_value=lambda row, value: (value, row[1]),
    text=_text,
)
