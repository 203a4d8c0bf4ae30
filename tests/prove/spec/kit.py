"""Packets, what the interpreter finds in them, and what symbolic outcomes say of them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.semantics.test_damage import damaged
from tests.testing.traffic import kit
from tests.testing.traffic.test_frames import made

from polysome import smt
from polysome.captures.read import open_capture
from polysome.interp.machine import Machine
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.prove.ones import Word
from polysome.prove.spec.packet import FAR, Parsed
from polysome.prove.window import Frame, Term
from polysome.testing.spec import Spec
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.frames import encode
from polysome.testing.traffic.world import World

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/*.nf"))
KNOWN = 220  # bytes of a packet that are told to the solver


@dataclass(frozen=True)
class Constant(Frame):
    """A frame whose bytes are known: every term on it is a constant."""

    data: bytes = b""

    @property
    def length(self) -> Term:
        return smt.BitVecVal(len(self.data), 16)

    def byte(self, k: int) -> Term:
        # What is behind the end must not matter.
        return smt.BitVecVal(self.data[k] if k < len(self.data) else (37 * k + 11) % 256, 8)


def known(frame: Frame, data: bytes) -> list[Term]:
    """That a frame begins like `data`, and is as long."""
    return [frame.length == len(data), *(frame.byte(k) == byte for k, byte in enumerate(data[:KNOWN]))]


@lru_cache(maxsize=32)
def example(name: str) -> Spec:
    return kit.example(name)


@lru_cache(maxsize=32)
def interpreter(spec: Spec) -> Machine:
    return kit.machine(spec, World(spec.program, Choices(b""), None).config)


@lru_cache(maxsize=32)
def captured() -> tuple[tuple[str, tuple[bytes, ...]], ...]:
    """By example, the frames of its captures."""
    return tuple(
        (name, tuple(c.data for path in sorted((EXAMPLES / name).glob("*.pcap")) for c in open_capture(path)))
        for name in NAMES
    )


def packets(spec: Spec, count: int, seed: str) -> list[bytes]:
    """Captured ones, ones made for every parse class, and damaged ones of both."""
    rng = random.Random(seed)
    own = [data for name, frames in captured() if name == spec.program.name for data in frames]
    others = [data for _, frames in captured() for data in frames]
    classes = range(len(spec.program.parser.classes))
    found = [b"", b"\x08", *rng.sample(own, min(len(own), count // 8)), *rng.sample(others, count // 8)]
    for number in rng.sample(classes, min(len(classes), count // 4)):
        found.append(encode(spec.program, made(spec, number, rng, simple=rng.random() < 0.3)))
    whole = [data for data in found if data]
    while len(found) < count:
        data = damaged(rng.choice(whole), rng)
        found.append(damaged(data, rng) if data and rng.random() < 0.2 else data)
    return [data[:1600] for data in found]


# ---------------------------------------------------------------- what terms say


def number(term: Term) -> int:
    """A constant term's value."""
    term = smt.simplify(term)
    if smt.is_bool(term):
        assert smt.is_true(term) or smt.is_false(term), term
        return int(smt.is_true(term))
    assert smt.is_bv_value(term), term
    return int(term.as_long())


def holds(condition: Term, data: bytes, frame: Frame) -> bool:
    """Does a condition on a free frame hold for a packet?"""
    known = [(frame.byte(k), smt.BitVecVal(byte, 8)) for k, byte in enumerate(data[:KNOWN].ljust(64, b"\x5a"))]
    return bool(number(smt.substitute(condition, (frame.length, smt.BitVecVal(len(data), 16)), *known)))


def held(word: Word) -> int:
    """The number that a word of constants holds."""
    total = word.sum.constant
    for (name, bit), coefficient in word.sum.bits.items():
        total += coefficient * (number(word.sum.terms[name]) >> bit & 1)
    return total % 0xFFFF or (0xFFFF if number(word.ones) else 0)


def plain(type: t.Type, value: Any) -> Any:
    """A value of constants as the interpreter represents it."""
    match type:
        case t.Bool():
            return bool(number(value))
        case t.Struct(_, fields):
            return tuple(plain(f, v) for (_, f), v in zip(fields, value, strict=True))
        case t.Tuple(items):
            return tuple(plain(i, v) for i, v in zip(items, value, strict=True))
        case _:
            return number(value)


# ---------------------------------------------------------------- the two side by side


def shape(p: Packet) -> tuple[Any, ...]:
    """What parsing decides: which headers are where, and how long."""
    return tuple((i, p.offset[i], p.header_end[i] - p.offset[i]) for i in p.path)


def fits(p: Packet, parsed: Parsed) -> bool:
    """Has the packet the headers of the outcome, where that has them, and as long (if it says so)?"""
    return len(p.path) == len(parsed.headers) and all(
        (h.instance, h.offset) == (i, at) and h.size in (None, size)
        for h, (i, at, size) in zip(parsed.headers, shape(p), strict=True)
    )


def assert_same(p: Packet, parsed: Parsed, program: ir.Program) -> None:
    """Everything that an outcome on a frame of constants says is what the interpreter found."""
    assert fits(p, parsed), (p.path, shape(p), parsed.headers)
    assert parsed.number == program.parser.classes.index(tuple(p.path))
    assert number(parsed.end) == p.end
    assert number(parsed.start) == p.payload
    length = number(parsed.length)
    assert length == p.length or (length >= FAR and p.length >= FAR)
    assert bool(number(parsed.short)) == p.short
    assert number(parsed.payload_length) == p.end - p.payload
    assert number(parsed.room.least) == p.room
    assert (parsed.claimed is None) == (p.claimed is None)
    for header in parsed.headers:
        i = header.instance
        assert number(header.end) == p.header_end[i]
        assert number(header.room.least) == p.limit[i]


def every_field(program: ir.Program, p: Packet) -> Iterator[tuple[int, int]]:
    """The fields of fixed width of the headers that are there."""
    for i in p.path:
        for f, shape in enumerate(program.parser.instances[i].header.fields):
            if shape.width:
                yield i, f
