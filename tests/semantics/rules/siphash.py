"""SipHash-2-4 straight from the paper (Aumasson and Bernstein, INDOCRYPT'12, section 2), apart from the compiler's."""

from __future__ import annotations

MASK = 2**64 - 1


def siphash(key: bytes, data: bytes) -> int:
    k0, k1 = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D, k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]
    padded = data + b"\0" * (7 - len(data) % 8) + bytes([len(data) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= word
        _rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    _rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def _rounds(v: list[int], count: int) -> None:
    for _ in range(count):
        for a, b, left, turn in ((0, 1, 13, True), (2, 3, 16, False), (0, 3, 21, False), (2, 1, 17, True)):
            v[a] = (v[a] + v[b]) & MASK
            v[b] = _rotated(v[b], left) ^ v[a]
            if turn:
                v[a] = _rotated(v[a], 32)


def _rotated(x: int, left: int) -> int:
    return (x << left | x >> (64 - left)) & MASK
