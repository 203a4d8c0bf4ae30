"""Keyed hashing and canonical bytes: what `hash(…)`, the sketches and Maglev hash (STATE.md, section 5).

SipHash-2-4 with a 64-bit result: Aumasson and Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT'12), section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from siphash24 import siphash24  # type: ignore[import-not-found, unused-ignore]

from polysome.ir import types
from polysome.kinds.values import Prefix

MASK64 = (1 << 64) - 1


def key_of_seed(seed: int) -> bytes:
    """The 16 key bytes of the 128-bit `param seed`, little-endian: k0 is seed mod 2^64, k1 the rest."""
    return seed.to_bytes(16, "little")


def siphash(key16: bytes, data: bytes) -> int:
    """SipHash-2-4 of `data` as an unsigned 64-bit number."""
    digest: int = siphash24(data, key=key16).intdigest()
    return digest & MASK64


def positions(hashed: int, count: int, size: int) -> Iterator[int]:
    """`count` numbers below `size` from one 64-bit hash, by double hashing (S5.5).

    The i-th is floor(x·size / 2^64) with x = (hash + i·step) mod 2^64, where step is the hash with its halves
    exchanged and its lowest bit set. Kirsch and Mitzenmacher, "Less Hashing, Same Performance" (ESA'06), section 2.
    """
    step = ((hashed << 32 | hashed >> 32) & MASK64) | 1
    for _ in range(count):
        yield hashed * size >> 64
        hashed = (hashed + step) & MASK64


def encoder(t: types.Type) -> Callable[[Any], bytes]:
    """The function that builds the canonical bytes of a value of type `t` (S5.3).

    Every member is big-endian, padded with zero bits in front to whole bytes; members follow one another without gaps.
    Raises TypeError for a type whose values have no canonical bytes (lists, tables, buckets).
    """
    match t:
        case types.Struct(_, fields):
            return _joined([encoder(member) for _, member in fields])
        case types.Tuple(items):
            return _joined([encoder(member) for member in items])
        case types.Ref(_, row):
            inner = encoder(row)
            return lambda value: inner(value.value)
        case types.FromPool(_, item):
            inner = encoder(item)
            return lambda value: inner(value.value)
        case types.ByteString():
            return bytes
        case types.Prefix():
            return _prefix
    bits = types.width(t)
    if bits is None:
        raise TypeError(f"a value of type {t} has no canonical bytes")
    size = (bits + 7) // 8
    return lambda value: int(value).to_bytes(size, "big")


def _prefix(prefix: Prefix) -> bytes:
    return prefix.value.to_bytes(prefix.bits // 8, "big") + bytes([prefix.length])


def _joined(members: list[Callable[[Any], bytes]]) -> Callable[[Any], bytes]:
    return lambda value: b"".join([encode(member) for encode, member in zip(members, value, strict=True)])
