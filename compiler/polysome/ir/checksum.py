"""The Internet checksum (RFC 1071), whole and incremental (RFC 1624, equation 3; LANGUAGE.md L10.2)."""

from __future__ import annotations


def word_sum(data: bytes | bytearray, start: int, end: int) -> int:
    """Sum of the big-endian 16-bit words from `start` to `end`; an odd last byte is padded with zero. Not folded."""
    chunk = bytes(data[start:end])
    if len(chunk) & 1:
        chunk += b"\0"
    # A number is congruent to the sum of its 16-bit digits modulo 2^16 - 1.
    return int.from_bytes(chunk, "big") % 0xFFFF


def whole(data: bytes) -> int:
    """The checksum of `data` (RFC 1071): the complement of its sum, which is 0 only if all of it is."""
    total = word_sum(data, 0, len(data))
    return 0xFFFF - (total or (0xFFFF if any(data) else 0))


def updated(old: int, difference: int) -> int:
    """The checksum `old` after the covered words changed by `difference` (new minus old, modulo 65535).

    65535 - acc with acc congruent to (65535 - old) + difference and 1 <= acc <= 65535, so never ffff.
    """
    return 0xFFFF - (((0xFFFF - old + difference) % 0xFFFF) or 0xFFFF)
