"""lpm by a plain search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.kinds.values import Prefix
from polysome.testing.builtin.lookups import Asked, Definition


def longest_prefix(rows: Sequence[tuple[Prefix, Any]], address: int, bits: int) -> Any:
    """S10.1, S10.2."""
    found: tuple[int, Any] = (-1, None)
    for prefix, value in rows:
        low = prefix.value
        high = low + (1 << (prefix.bits - prefix.length)) - 1
        if prefix.bits == bits and low <= address <= high and prefix.length > found[0]:
            found = (prefix.length, value)
    return found[1]


def found(asked: Asked) -> Any:
    return longest_prefix(asked.rows, *asked.look.args)


LOOKUP = Definition(found, "in an lpm the longest prefix that contains the address")
