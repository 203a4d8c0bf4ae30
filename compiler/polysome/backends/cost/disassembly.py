"""Recorded instructions as assembly text (AT&T syntax), by address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from polysome.backends.cost.tracing import Mapped, Recording, output

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+(\S.*)$", re.MULTILINE)
_FAR = 1 << 12  # bytes between instructions of a library that are disassembled apart
_BEYOND = 16  # the longest instruction has 15 bytes


def disassembled(recording: Recording, addresses: Iterable[int]) -> dict[int, str]:
    """The instructions at these addresses; those that no file holds are not there."""
    wanted = sorted(set(addresses))
    found: dict[int, str] = {}
    for mapped in recording.mapped:
        here = [a for a in wanted if a in mapped.region]
        if not here:
            continue
        if Path(mapped.file) == recording.program:
            found |= _lines(output("llvm-objdump", "-d", "--no-show-raw-insn", mapped.file))
            continue
        shift = mapped.region.start - mapped.offset
        for first, last in _groups(here):
            bounds = (f"--start-address={first - shift}", f"--stop-address={last - shift + _BEYOND}")
            text = output("llvm-objdump", "-d", "--no-show-raw-insn", *bounds, mapped.file)
            found |= {a + shift: line for a, line in _lines(text).items()}
    return {a: found[a] for a in wanted if a in found}


def _groups(addresses: list[int]) -> Iterator[tuple[int, int]]:
    first = last = addresses[0]
    for address in addresses:
        if address - last > _FAR:
            yield first, last
            first = address
        last = address
    yield first, last


def _lines(text: str) -> dict[int, str]:
    """Without comments and names of places."""
    return {int(a, 16): re.sub(r"\s*(#.*|<.*>)\s*$", "", line).replace("\t", " ") for a, line in _LINE.findall(text)}


def mapped_at(recording: Recording, address: int) -> Mapped | None:
    """The file whose bytes are at an address."""
    return next((m for m in recording.mapped if address in m.region), None)
