"""`bloom<K>`: was this key added? Never a wrong no, seldom a wrong yes (STATE.md, section 7).

Bloom, "Space/time trade-offs in hash coding with allowable errors" (CACM 13(7), 1970), method 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from polysome.kinds.base import Context, Method, NativeState, Option, StateKind
from polysome.kinds.hashing import positions

MILLION = 10**6
PAGE = 4096  # bytes; copies of a filter share the pages in which they do not differ
LN2 = (693147180559945309, 10**18)  # ln 2, rounded down at the 18th decimal


class Bloom:
    """`bits` bits, of which a key sets `hashes`; every operation but `clear` is O(hashes)."""

    def __init__(self, bits: int, hashes: int, hash_key: Callable[[Any], int]) -> None:
        self.bits = bits
        self.hashes = hashes
        self._hash_key = hash_key
        self.clear()

    def add(self, key: Any) -> None:
        """From now on `key` is in."""
        for i in positions(self._hash_key(key), self.hashes, self.bits):
            page, at = divmod(i >> 3, PAGE)
            if not self._pages[page][at] >> (i & 7) & 1:
                changed = bytearray(self._pages[page])
                changed[at] |= 1 << (i & 7)
                self._pages[page] = bytes(changed)

    def __contains__(self, key: Any) -> bool:
        where = positions(self._hash_key(key), self.hashes, self.bits)
        return all(self._pages[(i >> 3) // PAGE][(i >> 3) % PAGE] >> (i & 7) & 1 for i in where)

    def clear(self) -> None:
        """Forgets everything. O(bits)."""
        self._pages = [bytes(PAGE)] * -(-self.bits // (8 * PAGE))

    def __deepcopy__(self, memo: object) -> Bloom:
        """O(pages): histories keep one for each packet that adds."""
        copied = copy(self)
        copied._pages = self._pages.copy()
        return copied


def hashes(error: int) -> int:
    """The least k ≥ 1 with 2^-k ≤ error, for an error in ppm (S7.1). ValueError outside 1 ppm to 99.9999 %."""
    if not 0 < error < MILLION:
        raise ValueError("the error of a bloom lies between 0 and 100 %")
    return max(1, (-(-MILLION // error) - 1).bit_length())


def bits(capacity: int, error: int) -> int:
    """ceil(capacity · hashes / ln 2) bits (S7.1). ValueError for a capacity of 0."""
    if capacity < 1:
        raise ValueError("a bloom has a capacity of at least 1")
    numerator, denominator = LN2
    return -(-capacity * hashes(error) * denominator // numerator)


def _make(options: Mapping[str, int], ctx: Context) -> Bloom:
    size = bits(options["capacity"], options["error"]), hashes(options["error"])
    return Bloom(*size, lambda key: ctx.hash64(ctx.encode(key)))


KIND = StateKind(
    name="bloom",
    params=("K",),
    options=(
        Option("capacity", "count", required=True, room=True, why="with more keys than this the error is exceeded"),
        Option("error", "percent", required=True, why="it is the share of wrong yeses when `capacity` keys are in"),
    ),
    methods=(
        Method("add", ("K",), None, writes=True),
        Method("clear", (), None, writes=True),
    ),
    make=_make,
    memory=lambda options, key_bits, value_bits: (bits(options["capacity"], options["error"]) + 7) // 8,
    note=lambda options: f"{bits(options['capacity'], options['error'])} bits, {hashes(options['error'])} per key",
    element="K",
    native=NativeState(
        "Bloom",
        lambda options: (bits(options["capacity"], options["error"]), hashes(options["error"])),
        prefetched=True,
    ),
)
