"""Expressions of the NF's C++ that read a fields frame, as terms: the subset that its text has, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from polysome import smt
from polysome.prove.window import Term

WIDE = 256  # bits in which nothing that is read, shifted or masked is lost
_TOKEN = re.compile(r"\s*(0x[0-9a-fA-F]+u?|\d+u?|[A-Za-z_][\w.]*|>>|==|!=|\S)")
_BITS = {"uint8_t": 8, "uint16_t": 16, "uint32_t": 32, "uint64_t": 64, "u128": 128, "bool": 1}


class NotRead(Exception):
    """The text is none that is understood: what it says, in words."""


def evaluate(text: str, data: Sequence[Term], names: Mapping[str, int], has: Callable[[int], bool]) -> Term:
    """The value, of WIDE bits: of a number, or of a truth value 0 or 1.

    `data`: the bytes that `h.data` points to; `names`: variables that are known; `has`: is that header there? Raises
    NotRead.
    """
    reading = _Reading(text, data, names, has)
    value = reading.choice()
    if reading.next:
        raise NotRead(f"`{text}` goes on with `{reading.next}`")
    return smt.simplify(value)


class _Reading:
    """C++'s order: a choice, `&`, comparisons, shifts, what is in parentheses."""

    def __init__(self, text: str, data: Sequence[Term], names: Mapping[str, int], has: Callable[[int], bool]) -> None:
        self.text, self.data, self.names, self.has = text, data, names, has
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> bool:
        """Steps over the tokens if they come next."""
        if tuple(self.tokens[self.at : self.at + len(wanted)]) != wanted:
            return False
        self.at += len(wanted)
        return True

    def expect(self, *wanted: str) -> None:
        if not self.take(*wanted):
            raise NotRead(f"`{self.text}` has `{self.next}` where `{''.join(wanted)}` is expected")

    def number(self) -> int:
        token = self.next.removesuffix("u")
        if not re.fullmatch(r"0x[0-9a-fA-F]+|\d+", token):
            raise NotRead(f"`{self.text}` has `{self.next}` where a number is expected")
        self.at += 1
        return int(token, 0)

    def choice(self) -> Term:
        value = self.masked()
        if not self.take("?"):
            return value
        yes = self.choice()
        self.expect(":")
        return smt.If(value != 0, yes, self.choice())

    def masked(self) -> Term:
        value = self.compared()
        while self.take("&"):
            value = value & self.compared()
        return value

    def compared(self) -> Term:
        value = self.shifted()
        while self.next in ("==", "!="):
            equal = self.take("==") or not self.take("!=")
            same = value == self.shifted()
            value = _truth(same if equal else smt.Not(same))
        return value

    def shifted(self) -> Term:
        value = self.single()
        while self.take(">>"):
            value = smt.LShR(value, self.single())
        return value

    def single(self) -> Term:
        token = self.next
        if self.take("("):
            value = self.choice()
            self.expect(")")
            return value
        if self.take("static_cast", "<"):
            bits = self.type()
            self.expect(">", "(")
            value = self.choice()
            self.expect(")")
            return _truth(value != 0) if bits == 1 else _wide(smt.Extract(bits - 1, 0, value))
        if self.take("load_bytes", "<"):
            return self.loaded()
        if self.take("read_bits", "("):
            return self.bits()
        if self.take("has", "("):
            there = self.has(self.number())
            self.expect(")")
            return _number(int(there))
        if token in _BITS:
            bits = self.type()
            self.expect("{")
            value = 0 if self.next == "}" else self.number()
            self.expect("}")
            return _number(value & (1 << bits) - 1)
        if token in self.names:
            self.at += 1
            return _number(self.names[token])
        return _number(self.number())

    def type(self) -> int:
        if self.next not in _BITS:
            raise NotRead(f"`{self.text}` has `{self.next}` where a type is expected")
        self.at += 1
        return _BITS[self.tokens[self.at - 1]]

    def loaded(self) -> Term:
        """`load_bytes<T, N>(h.data + K)`: N bytes, big-endian."""
        bits = self.type()
        self.expect(",")
        count = self.number()
        self.expect(">", "(", "h.data", "+")
        first = self.number()
        self.expect(")")
        if 8 * count > bits or not 0 < count <= len(self.data) - first:
            raise NotRead(f"`{self.text}` loads {count} bytes at {first}: more than there are, or than the type holds")
        return _joined(self.data[first : first + count])

    def bits(self) -> Term:
        """`read_bits(h.data, at, width, end)`: zeros from byte `end` on."""
        self.expect("h.data")
        numbers = []
        for _ in range(3):
            self.expect(",")
            numbers.append(self.number())
        self.expect(")")
        at, width, end = numbers
        last = (at + width + 7) // 8
        if not width or last > len(self.data):
            raise NotRead(f"`{self.text}` reads up to byte {last}: more than there are")
        octets = [self.data[k] if k < end else smt.BitVecVal(0, 8) for k in range(at // 8, last)]
        high = 8 * last - at - 1
        return _wide(smt.Extract(high, high - width + 1, _joined(octets)))


def _joined(octets: Sequence[Term]) -> Term:
    return _wide(smt.Concat(*octets) if len(octets) > 1 else octets[0])


def _wide(value: Term) -> Term:
    return smt.ZeroExt(WIDE - value.size(), value)


def _number(value: int) -> Term:
    return smt.BitVecVal(value, WIDE)


def _truth(value: Term) -> Term:
    return smt.If(value, _number(1), _number(0))
