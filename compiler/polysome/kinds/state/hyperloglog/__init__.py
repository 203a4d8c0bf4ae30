"""`hyperloglog<K>`: how many different keys were added? (STATE.md, section 8)

Registers: Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog" (AofA'07), figure 3, with a 64-bit hash. Estimate: the
improved raw estimator of Ertl, "New cardinality estimation methods for HyperLogLog sketches" (arXiv:1706.07290),
which needs neither tables nor a case for small numbers; here in fixed point. Its tau term is left out: it is zero
until a register is saturated, which takes about 2^60 keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polysome.kinds.base import Method, NativeState, Option, StateKind
from polysome.kinds.hashing import MASK64

MILLION = 10**6
LEAST, MOST = 4, 18  # bits of the register's number
ALPHA = 3098164009  # round(2^32 / (2 ln 2))


class HyperLogLog:
    """2^bits registers of 6 bits; `add` is O(1), the rest O(registers)."""

    def __init__(self, bits: int, hash_key: Callable[[Any], int]) -> None:
        self.bits = bits
        self._hash_key = hash_key
        self.clear()

    def add(self, key: Any) -> None:
        """One more key, unless it was added before."""
        hashed = self._hash_key(key)
        rest_bits = 64 - self.bits
        register, rest = hashed >> rest_bits, hashed & ((1 << rest_bits) - 1)
        rank = rest_bits - rest.bit_length() + 1  # the place of the first 1 from the left, counted from 1
        self._registers[register] = max(self._registers[register], rank)

    def estimate(self) -> int:
        """About how many different keys were added: exactly the integer that S8.3 defines."""
        m = 1 << self.bits
        zeros = self._registers.count(0)
        if zeros == m:
            return 0
        total = sum(self._registers.count(rank) << (63 - rank) for rank in range(1, 66 - self.bits))
        total += sigma(zeros << (63 - self.bits)) << self.bits
        return min(((ALPHA << (2 * self.bits + 31)) + total // 2) // total, MASK64)

    def clear(self) -> None:
        """Forgets everything."""
        self._registers = bytearray(1 << self.bits)


def sigma(x: int) -> int:
    """x + sum over k ≥ 1 of x^(2^k) · 2^(k-1), for 0 ≤ x < 1 in units of 2^-63, each square rounded down."""
    result, k = x, 1
    while x > 0:
        x = x * x >> 63
        result += x << (k - 1)
        k += 1
    return result


def bits(error: int) -> int:
    """The least b with 1.04 / sqrt(2^b) ≤ error, for an error in ppm (S8.1). ValueError if it is not in 4..18."""
    b = LEAST
    while error**2 * 10**4 << b < 10816 * MILLION**2 and b <= MOST:
        b += 1
    if b > MOST or error >= MILLION:
        raise ValueError("the error of a hyperloglog is at least 0.2032 % and less than 100 %")
    return b


KIND = StateKind(
    name="hyperloglog",
    params=("K",),
    options=(Option("error", "percent", required=True, why="the standard error of the estimate sizes the registers"),),
    methods=(
        Method("add", ("K",), None, writes=True),
        Method("estimate", (), "u64", writes=False),
        Method("clear", (), None, writes=True),
    ),
    make=lambda options, ctx: HyperLogLog(bits(options["error"]), lambda key: ctx.hash64(ctx.encode(key))),
    memory=lambda options, key_bits, value_bits: 1 << bits(options["error"]),
    note=lambda options: f"{1 << bits(options['error'])} registers",
    native=NativeState("HyperLogLog", lambda options: (bits(options["error"]),), "static_cast<unsigned>({sizes})"),
)
