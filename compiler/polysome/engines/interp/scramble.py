"""Bytes that cannot matter: everything that neither makes the parse class nor is in the class's fields frame.

The seam of the design (section 2) as a function: what `decide` is given of a packet are the bytes at `kept`.
"""

from __future__ import annotations

import random
from functools import lru_cache

from polysome.analysis.contract import always_relevant
from polysome.analysis.layout import ClassLayout, layout
from polysome.analysis.relevance import PAYLOAD, members, passing
from polysome.interp.packet import Packet
from polysome.ir import program as ir


@lru_cache(maxsize=64)
def _layouts(program: ir.Program) -> dict[tuple[int, ...], ClassLayout]:
    """By path, for the classes that are split."""
    found = {c: one for one in layout(program).classes for c in members(one.classes)}
    classes = program.parser.classes
    return {classes[c]: one for c, one in found.items() if passing(program) >> c & 1 and one.whole is None}


@lru_cache(maxsize=64)
def _selecting(program: ir.Program) -> tuple[tuple[int, int, int], ...]:
    """(instance, first, last) bytes that make the class."""
    found = []
    for i, f in always_relevant(program.parser):
        shape = program.parser.instances[i].header.fields[f]
        found.append((i, shape.offset // 8, (shape.offset + shape.width + 7) // 8))
    return tuple(found)


@lru_cache(maxsize=64)
def _peeked(program: ir.Program) -> dict[int, int]:
    """Bytes behind an instance that the parser looks at before it goes on."""
    found: dict[int, int] = {}
    for node in program.parser.nodes:
        bits = max((key.bits for key in node.keys if isinstance(key, ir.Peek)), default=0)
        if node.instance is not None and bits:
            found[node.instance] = max(found.get(node.instance, 0), (bits + 7) // 8)
    return found


def kept(program: ir.Program, packet: Packet) -> set[int] | None:
    """Positions of the bytes of a parsed packet that `decide` may depend on; None if all: its class is not split."""
    one = _layouts(program).get(tuple(packet.path))
    if one is None:
        return None
    found: set[int] = set()
    for i, first, last in _selecting(program):
        if packet.offset[i] >= 0:
            found |= set(range(packet.offset[i] + first, packet.offset[i] + last))
    for i, count in _peeked(program).items():
        if packet.offset[i] >= 0:
            found |= set(range(packet.header_end[i], packet.header_end[i] + count))
    for s in one.fields:
        start = packet.payload if s.instance == PAYLOAD else packet.offset[s.instance]
        found |= set(range(start + s.first, start + s.first + s.length))
    return found


def scrambled(program: ir.Program, packet: Packet, rng: random.Random | None) -> bytes:
    """The frame with every other byte replaced by a random one, or by zero if `rng` is None."""
    stay = kept(program, packet)
    if stay is None:
        return packet.data
    other = rng.randbytes(len(packet.data)) if rng is not None else bytes(len(packet.data))
    return bytes(b if n in stay else o for n, (b, o) in enumerate(zip(packet.data, other, strict=True)))
