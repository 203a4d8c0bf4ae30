"""`count_min<K>`: how often was each key counted, never too low (STATE.md, section 6).

Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch" (J. Algorithms 55, 2005), section 3.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from polysome.kinds.base import Context, Method, NativeState, Option, StateKind
from polysome.kinds.hashing import MASK64, positions

MILLION = 10**6
E = (2718281828459045236, 10**18)  # e, rounded up at the 18th decimal


class CountMin:
    """`depth` rows of `width` 64-bit counters that saturate; every operation but `clear` is O(depth)."""

    def __init__(self, width: int, depth: int, hash_key: Callable[[Any], int]) -> None:
        self.width = width
        self.depth = depth
        self._hash_key = hash_key
        self.clear()

    def add(self, key: Any, n: int = 1) -> None:
        """Counts `key` n times."""
        for row, i in zip(self._rows, positions(self._hash_key(key), self.depth, self.width), strict=True):
            row[i] = min(row[i] + n, MASK64)

    def estimate(self, key: Any) -> int:
        """At least how often `key` was counted; too high by more than error·(all counts) as rarely as stated."""
        where = positions(self._hash_key(key), self.depth, self.width)
        return min(row[i] for row, i in zip(self._rows, where, strict=True))

    def clear(self) -> None:
        """Forgets everything. O(width·depth)."""
        self._rows = [array("Q", bytes(8 * self.width)) for _ in range(self.depth)]


def width(error: int) -> int:
    """ceil(e / error) counters per row, for an error in ppm (S6.1). ValueError outside 1 ppm to 99.9999 %."""
    if not 0 < error < MILLION:
        raise ValueError("the error of a count_min lies between 0 and 100 %")
    numerator, denominator = E
    return -(-numerator * MILLION // (denominator * error))


def depth(confidence: int) -> int:
    """The least d ≥ 1 with e^d ≥ 1 / (1 - confidence), for a confidence in ppm (S6.1). ValueError from 100 % on."""
    if not 0 <= confidence < MILLION:
        raise ValueError("the confidence of a count_min is less than 100 %")
    numerator, denominator = E
    d = 1
    while numerator**d * (MILLION - confidence) < denominator**d * MILLION:
        d += 1
    return d


def _make(options: Mapping[str, int], ctx: Context) -> CountMin:
    size = width(options["error"]), depth(options["confidence"])
    return CountMin(*size, lambda key: ctx.hash64(ctx.encode(key)))


KIND = StateKind(
    name="count_min",
    params=("K",),
    options=(
        Option("error", "percent", required=True, why="it sizes the rows: an estimate is too high by this part of all"),
        Option("confidence", "percent", default=990_000),
    ),
    methods=(
        Method("add", ("K", "u64"), None, writes=True, optional_params=1),
        Method("estimate", ("K",), "u64", writes=False),
        Method("clear", (), None, writes=True),
    ),
    make=_make,
    memory=lambda options, key_bits, value_bits: 8 * width(options["error"]) * depth(options["confidence"]),
    note=lambda options: f"{depth(options['confidence'])} rows of {width(options['error'])} counters",
    native=NativeState(
        "CountMin", lambda options: (width(options["error"]), depth(options["confidence"])), prefetched=True
    ),
)
