"""Run-time values that are more than a number: prefixes, config rows, what is taken from pools, what is absent."""

from __future__ import annotations

from typing import Any, Final, NamedTuple


class Prefix(NamedTuple):
    """An IP prefix: `value` has `bits` (32 or 128) bits, those beyond `length` are zero."""

    bits: int
    value: int
    length: int

    def contains(self, address: int, bits: int) -> bool:
        """Is the `bits`-wide `address` inside? An address of the other family never is."""
        return bits == self.bits and (address ^ self.value) >> (self.bits - self.length) == 0


class Row:
    """One row of a config table, by identity.

    A reload keeps the Row object of every row that is equal to one already there; a row that left is
    marked `live = False` for good, so state that refers to it reads as absent.
    """

    __slots__ = ("live", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.live = True

    def __repr__(self) -> str:
        return f"Row({self.value!r}{'' if self.live else ', gone'})"


class Taken(NamedTuple):
    """A value taken from a pool, with the partition (`per`) that it goes back to."""

    value: Any
    partition: Any


class Absent:
    """Nothing is there."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


def plain(value: Any) -> Any:
    """The value without identities: rows and what is taken from pools as what they hold."""
    match value:
        case Row():
            return plain(value.value)
        case Taken():
            return plain(value.value)
        case tuple() if type(value) is tuple:
            return tuple(map(plain, value))
        case _:
            return value
