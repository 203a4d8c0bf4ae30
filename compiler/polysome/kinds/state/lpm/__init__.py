"""`config lpm<K, V>`: the row with the longest prefix that contains an address (STATE.md, section 10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from polysome.ir import types as t
from polysome.kinds.base import Show, TableKind
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
        self._count = len(first)

    def get(self, address: int, bits: int) -> Any:
        """The value for an address of `bits` (32 or 128) bits; None if no prefix contains it. O(different lengths)."""
        for family, length in self._lengths:
            if family == bits:
                shift = bits - length
                prefixes = self._by_length[family, length]
                if address >> shift << shift in prefixes:
                    return prefixes[address >> shift << shift]
        return None

    def __len__(self) -> int:
        return self._count


def _distinct(rows: Iterable[tuple[Prefix, Any]]) -> Iterable[tuple[Prefix, Any]]:
    """Of rows with the same prefix the last one's value, in the first one's place."""
    return {prefix: (prefix, value) for prefix, value in rows}.values()


def _text(row: tuple[Prefix, Any], type: t.Table, show: Show) -> str:
    return f"{show(row[0], t.PREFIX)} -> {show(row[1], type.value)}"


KIND = TableKind(
    name="lpm",
    section=10,
    params=("K", "V"),
    make=lambda rows, ctx: Lpm(rows),
    distinct=_distinct,
    asked=lambda key: (t.width(key),),
    keys=lambda key: key in (t.IPV4, t.IPV6, t.PREFIX),
    keys_are="the types ipv4, ipv6 or prefix",
    text=_text,
)
