"""Values from their canonical bytes: the inverse of `kinds.hashing.encoder`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from polysome.ir import types as t
from polysome.kinds.values import Prefix


def decode(type: t.Type, data: bytes) -> Any:
    """A value with these canonical bytes; rows of tables and what is taken from pools as the values they hold.

    There is one such value, unless it holds prefixes of both families: then it is the first that fits. ValueError if
    the bytes are of no value, TypeError if the type's values have no canonical bytes.
    """
    for value, end in _values(type, data, 0):
        if end == len(data):
            return value
    raise ValueError(f"{data.hex()} are the canonical bytes of no {type}")


def _values(type: t.Type, data: bytes, at: int) -> Iterator[tuple[Any, int]]:
    """The values that can begin at `at`, and where they end; several only where there are prefixes."""
    match type:
        case t.Struct(_, fields):
            yield from _members([member for _, member in fields], data, at)
            return
        case t.Tuple(items):
            yield from _members(items, data, at)
            return
        case t.Ref(_, item) | t.FromPool(_, item):
            yield from _values(item, data, at)
            return
        case t.Prefix():
            yield from _prefixes(data, at)
            return
        case t.ByteString():
            yield data[at:], len(data)
            return
    bits = t.width(type)
    if bits is None:
        raise TypeError(f"a value of type {type} has no canonical bytes")
    end = at + (bits + 7) // 8
    number = int.from_bytes(data[at:end], "big")
    if end <= len(data) and number >> bits == 0:
        yield bool(number) if isinstance(type, t.Bool) else number, end


def _members(types: Sequence[t.Type], data: bytes, at: int) -> Iterator[tuple[tuple[Any, ...], int]]:
    if not types:
        yield (), at
        return
    for first, end in _values(types[0], data, at):
        for rest, last in _members(types[1:], data, end):
            yield (first, *rest), last


def _prefixes(data: bytes, at: int) -> Iterator[tuple[Prefix, int]]:
    for bits in (32, 128):
        end = at + bits // 8
        if end < len(data) and data[end] <= bits:
            prefix = Prefix(bits, int.from_bytes(data[at:end], "big"), data[end])
            if prefix.value & ((1 << (bits - prefix.length)) - 1) == 0:
                yield prefix, end + 1
