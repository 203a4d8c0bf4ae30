"""Cache lines that recorded instructions touch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

LINE = 64  # bytes

_NAMES = ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *(f"r{n}" for n in range(8, 16)))
_OPERAND = re.compile(r"(%[fg]s:)?(-?0x[0-9a-f]+|-?\d+)?\((%\w+)?(?:,\s*(%\w+)(?:,\s*(\d))?)?\)")
_VECTORS = {"x": 16, "y": 32, "z": 64}
_SUFFIXES = {"b": 1, "w": 2, "l": 4, "q": 8}

# Values of the 16 registers, as `tracing.Steps` has them, to the first byte that is touched.
Address = Callable[[Sequence[int]], int]


def lines(address: int, size: int) -> range:
    """The numbers of the lines that hold some bytes."""
    return range(address // LINE, (address + size - 1) // LINE + 1)


def fetches(text: str) -> bool:
    """Does an instruction only bring a line into the cache?"""
    return text.startswith("prefetch")


@lru_cache(maxsize=1 << 16)
def operands(text: str) -> tuple[tuple[Address, int], ...]:
    """What of memory an instruction names: addresses, and bytes from there.

    Not the stack that it pushes to, pops from or returns by, nor what is relative to the program or the thread: these
    are no state. Nor the elements of a gather, whose index is a vector.
    """
    mnemonic = text.partition(" ")[0]
    if mnemonic.startswith(("lea", "nop")) and not mnemonic.startswith("leave"):
        return ()
    found = []
    for segment, shift, base, index, scale in _OPERAND.findall(text):
        names = [name[1:] for name in (base, index) if name]
        if segment or any(name not in _NAMES for name in names):
            continue
        numbers = [_NAMES.index(name) for name in names]
        factors = (1, int(scale or "1")) if base else (int(scale or "1"),)
        found.append((_address(int(shift or "0", 0), tuple(zip(numbers, factors, strict=False))), _size(text)))
    return tuple(found)


def _address(shift: int, terms: tuple[tuple[int, int], ...]) -> Address:
    return lambda registers: (shift + sum(registers[n] * factor for n, factor in terms)) % (1 << 64)


def _size(text: str) -> int:
    """Bytes that an instruction moves: by its widest vector register, else the last letter of its name."""
    if fetches(text):
        return 1
    vectors = re.findall(r"%([xyz])mm", text)
    if vectors and not re.search(r"mov[dq]\b|s[sd]\b", text.partition(" ")[0]):
        return max(_VECTORS[v] for v in vectors)
    mnemonic = text.partition(" ")[0]
    extended = re.fullmatch(r"mov[sz]([bwl])[wlq]", mnemonic)
    return 1 if mnemonic.startswith("set") else _SUFFIXES.get(extended[1] if extended else mnemonic[-1], 8)
