"""Numbers of a plan, each with what it counts, the formula that gave it, and where its inputs stand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from polysome.analysis.words import duration, size, three_digits


@dataclass(frozen=True)
class Number:
    """`unit`: bytes, ns, bit/s, packets/s, or what is counted. `sources`: where the formula's inputs come from."""

    value: int
    unit: str
    formula: str
    sources: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The value as people write it."""
        return quantity(self.value, self.unit)


Group = tuple[str, list[tuple[str, Number]]]  # of numbers with what each is called


def quantity(value: int, unit: str) -> str:
    match unit:
        case "bytes":
            return binary(value)
        case "ns":
            return duration(value)
        case "bit/s":
            return rate(value)
        case "packets/s":
            return scaled(value, "pps")
        case _:
            return f"{value:,}".replace(",", " ")


def rate(bits: int) -> str:
    """`78.1 Gbps`."""
    return scaled(bits, "bps")


def scaled(value: int, unit: str) -> str:
    for letter, scale in (("G", 10**9), ("M", 10**6), ("K", 10**3)):
        if value >= scale:
            return f"{three_digits(Fraction(value, scale))} {letter}{unit}"
    return f"{value} {unit}"


def binary(n: int) -> str:
    """Bytes: in powers of 1024 where that is exact, else rounded as `check` does."""
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if n >= scale and n % scale == 0:
            return f"{n // scale} {unit}"
    return size(n)


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least this; 1 for 0."""
    return 1 << max(0, least - 1).bit_length()


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)
