"""Symbolic bytes: a frame of which every byte, and the length, may be anything, and windows on such frames.

Places are known numbers: what is proved walks parser paths, on which every header begins at a known byte. Terms are
z3's; integers are big-endian bit vectors, as on the wire.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from polysome import smt

Term = Any  # z3 has no types of its own

LENGTH = 16  # bits of a length in bytes


@dataclass(frozen=True)
class Frame:
    """A frame as it arrives, without FCS. Byte k is the term `{name}[k]`; frames of one name are one frame."""

    name: str = "packet"

    @cached_property
    def length(self) -> Term:
        """How many bytes are there: `LENGTH` bits."""
        return smt.BitVec(f"{self.name}.length", LENGTH)

    def byte(self, k: int) -> Term:
        """Byte k, whether or not it is there."""
        return _byte(self.name, k)

    def content(self, model: smt.Model) -> bytes:
        """The bytes that a model stands for; what it leaves open is 0."""
        size = model.eval(self.length, model_completion=True).as_long()
        return bytes(model.eval(self.byte(k), model_completion=True).as_long() for k in range(size))


@lru_cache(maxsize=4096)
def _byte(name: str, k: int) -> Term:
    return smt.BitVec(f"{name}[{k}]", 8)


@dataclass(frozen=True)
class Window:
    """`prefix` (bytes, as 8-bit terms), then `frame` from its byte `first` on."""

    frame: Frame
    prefix: tuple[Term, ...] = ()
    first: int = 0

    def byte(self, k: int) -> Term:
        return self.prefix[k] if k < len(self.prefix) else self.frame.byte(self.first + k - len(self.prefix))

    @cached_property
    def length(self) -> Term:
        """How many bytes are there: `LENGTH` bits."""
        return smt.simplify(self.frame.length + smt.BitVecVal(len(self.prefix) - self.first, LENGTH))

    @cached_property
    def trimmed(self) -> Window:
        """The same window, with the bytes at its prefix's end that are the frame's own taken as such."""
        kept, first = len(self.prefix), self.first
        while kept and first and self.prefix[kept - 1].eq(self.frame.byte(first - 1)):
            kept, first = kept - 1, first - 1
        return Window(self.frame, self.prefix[:kept], first)

    @cached_property
    def key(self) -> Hashable:
        """Equal for windows that show the same; while this one lives."""
        return self.frame, self.first, *(byte.get_id() for byte in self.prefix)

    def number(self, first: int, count: int) -> Term:
        """`count` bytes from byte `first` on."""
        return smt.Concat(*(self.byte(first + k) for k in range(count))) if count > 1 else self.byte(first)

    def has(self, end: int) -> Term:
        """Are the first `end` bytes there?"""
        behind = self.first + end - len(self.prefix)
        return smt.BoolVal(True) if behind <= 0 else smt.UGE(self.frame.length, smt.BitVecVal(behind, LENGTH))

    def bits(self, at: int, width: int) -> Term:
        """`width` bits from bit `at` on, counted from the most significant one of byte 0."""
        first, last = at // 8, (at + width - 1) // 8
        if width == 8 and at % 8 == 0:
            return self.byte(first)
        parts = [self.byte(k) for k in range(first, last + 1)]
        whole = parts[0] if len(parts) == 1 else smt.Concat(*parts)
        high = 8 * (last + 1) - at - 1
        return smt.simplify(smt.Extract(high, high - width + 1, whole))


def same(one: object, other: object) -> bool:
    """Are both terms, and the same to the eye, or both numbers, and equal?"""
    if isinstance(one, smt.Term) and isinstance(other, smt.Term):
        return one is other or bool(one.eq(other))
    return isinstance(one, int) and isinstance(other, int) and one == other
