"""`config lpm<K, V>`: the row with the longest prefix that contains an address (STATE.md, section 10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.kinds.values import Prefix


class Lpm:
    """An immutable table of IPv4 and IPv6 prefixes. ValueError, naming both rows, if two have the same prefix."""

    def __init__(self, rows: Sequence[tuple[Prefix, Any]]) -> None:
        self._by_length: dict[tuple[int, int], dict[int, Any]] = {}  # (bits, length) -> value of the prefix -> row
        first: dict[Prefix, int] = {}
        for number, (prefix, value) in enumerate(rows, 1):
            if prefix in first:
                raise ValueError(f"rows {first[prefix]} and {number} have the same prefix")
            first[prefix] = number
            self._by_length.setdefault((prefix.bits, prefix.length), {})[prefix.value] = value
        self._lengths = sorted(self._by_length, reverse=True)

    def get(self, address: int, bits: int) -> Any:
        """The value for an address of `bits` (32 or 128) bits; None if no prefix contains it. O(different lengths)."""
        for family, length in self._lengths:
            if family == bits:
                shift = bits - length
                prefixes = self._by_length[family, length]
                if address >> shift << shift in prefixes:
                    return prefixes[address >> shift << shift]
        return None
