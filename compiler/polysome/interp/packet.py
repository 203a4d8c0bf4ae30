"""A packet as the interpreter holds it, and reading and writing of bit fields."""

from __future__ import annotations

from typing import Any

ABSENT = -1


class Packet:
    """One packet from arrival to verdict.

    `offset[i]`, `header_end[i]` and `limit[i]` (byte positions) describe header instance i, ABSENT if it is not valid;
    `limit` is where the headers behind it must end. `end` is where the network packet ends in `data`, `claimed` what
    its header says (None: no header says); `payload` is the position behind the last valid header.
    `edits` maps `instance << 16 | field` to the last value written.
    """

    __slots__ = (
        "claimed", "data", "edits", "end", "header_end", "in_port", "limit", "memo", "now", "offset", "operations",
        "order", "path", "payload", "pos", "room",
    )  # fmt: skip

    def __init__(self, data: bytes, in_port: int, now: int, instances: int, values: int) -> None:
        self.data = data
        self.in_port = in_port
        self.now = now
        self.offset = [ABSENT] * instances
        self.header_end = [ABSENT] * instances
        self.limit = [ABSENT] * instances
        self.path: list[int] = []
        self.pos = 0
        self.room = len(data)
        self.claimed: int | None = None
        self.end = len(data)
        self.payload = 0
        self.memo: list[Any] = [None] * values
        self.edits: dict[int, int] = {}
        self.operations: list[Any] = []
        self.order = 0

    @property
    def length(self) -> int:
        """`len`: as the network header claims it, else the frame's."""
        return self.claimed if self.claimed is not None else len(self.data)

    @property
    def short(self) -> bool:
        """Is the frame shorter than its network header claims?"""
        return self.claimed is not None and self.claimed > len(self.data)


def read_bits(data: bytes | bytearray, bit: int, width: int, end: int) -> int:
    """`width` bits from bit position `bit`, big-endian; bits at or beyond byte `end` read 0."""
    first, last = bit >> 3, (bit + width + 7) >> 3
    chunk = bytes(data[first : min(last, end)]) if first < end else b""
    value = int.from_bytes(chunk.ljust(last - first, b"\0"), "big")
    return (value >> (last * 8 - bit - width)) & ((1 << width) - 1)


def write_bits(data: bytearray, bit: int, width: int, value: int, end: int) -> None:
    """Set `width` bits at bit position `bit`, big-endian; bytes at or beyond `end` stay as they are."""
    first, last = bit >> 3, (bit + width + 7) >> 3
    shift = last * 8 - bit - width
    mask = ((1 << width) - 1) << shift
    old = read_bits(data, first * 8, (last - first) * 8, end)
    new = (old & ~mask) | ((value << shift) & mask)
    stop = min(last, end)
    if stop > first:
        data[first:stop] = new.to_bytes(last - first, "big")[: stop - first]


def slice_bits(data: bytes, low: int, high: int, start: int, end: int) -> int:
    """Bytes `low` to `high` counted from `start` as an integer; bytes at or beyond `end` read 0."""
    chunk = data[start + low : min(start + high, end)] if start + low < end else b""
    return int.from_bytes(chunk.ljust(high - low, b"\0"), "big")
