"""Layouts of headers: fields in wire order, big-endian, and how their values are read and written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """`bits` bits behind the header's first `first` ones, of which the first `spare` are always 0.

    It fills whole bytes, or is part of one. `title`, `about`: for who reads a table; `note`: beside its declaration.
    """

    name: str
    bits: int
    first: int
    spare: int = 0
    title: str = ""
    about: str = ""
    note: str = ""

    @property
    def at(self) -> int:
        """The byte of the header where it begins."""
        return self.first // 8

    @property
    def size(self) -> int:
        """Bytes that it fills, or of which it is a part."""
        return (self.bits + 7) // 8

    @property
    def end(self) -> int:
        """Bits of the header up to its last one."""
        return self.first + self.bits

    @property
    def most(self) -> int:
        return (1 << self.bits - self.spare) - 1

    def read(self, data: bytes, start: int = 0) -> int:
        """Its value in a header that begins at byte `start`. IndexError if it is not there."""
        at = start + self.at
        if len(data) < at + self.size:
            raise IndexError(f"{self.name} ends at byte {at + self.size}, the data at {len(data)}")
        whole = int.from_bytes(data[at : at + self.size], "big")
        return whole >> -self.end % 8 & ((1 << self.bits) - 1)


@dataclass(frozen=True)
class Header:
    name: str
    fields: tuple[Field, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return self.fields[-1].end // 8

    def __getitem__(self, name: str) -> Field:
        """KeyError if it has no such field."""
        for field in self.fields:
            if field.name == name:
                return field
        raise KeyError(f"{self.name} has no field `{name}`")

    def pack(self, **values: int) -> bytes:
        """The header with these values; 0 where none is given. ValueError for one that is too large, KeyError for one
        that has no field."""
        whole = 0
        for name, value in values.items():
            field = self[name]
            if not 0 <= value <= field.most:
                raise ValueError(f"{self.name}.{name} is 0 to {field.most:#x}, not {value:#x}")
            whole |= value << 8 * self.size - field.end
        return whole.to_bytes(self.size, "big")

    def unpack(self, data: bytes, start: int = 0) -> dict[str, int]:
        """All values of a header that begins at byte `start`. IndexError if it is not all there."""
        return {field.name: field.read(data, start) for field in self.fields}


def header(name: str, fields: Iterable[Mapping[str, Any]]) -> Header:
    """ValueError if a field neither fills whole bytes nor is part of one."""
    found: list[Field] = []
    first = 0
    for told in fields:
        field = Field(first=first, **told)
        if field.bits < 1 or ((field.first % 8 or field.bits % 8) and field.first % 8 + field.bits > 8):
            raise ValueError(f"{name}.{field.name} fills no whole bytes, and is part of more than one")
        found.append(field)
        first = field.end
    if first == 0 or first % 8:
        raise ValueError(f"{name} has {first} bits, and must have whole bytes")
    return Header(name, tuple(found))
