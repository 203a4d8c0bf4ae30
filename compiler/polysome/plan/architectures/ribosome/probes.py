"""The packets by which the controller proves a queue pair before traffic is let on it (PROTOCOL.md, rule 14)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import product
from typing import Any

from polysome.ir import program as ir
from polysome.plan.branches import branches
from polysome.plan.conditions import Ahead, Key, bytes_of, width
from polysome.plan.design import Design
from polysome.plan.values import Range
from polysome.plan.way import Step, Way

STATION = 0x02_70_6F_6C_79_06  # to whom probes are addressed: nobody
SUM = 1  # of a checksum over bytes that the controller chooses: a wrong one stays wrong


def probes(design: Design) -> list[dict[str, Any]]:
    """The messages Probe: of each depth of link headers the commonest way, the least, the largest and an odd length.

    None where nothing is split, and where packets have no link header whose source could name a queue pair.
    """
    found: dict[int, Way] = {}
    for way in design.ways:
        within = way.within(design.sizes.least, design.sizes.most)
        if within is not None:
            found.setdefault(way.length_plus, within)
    return [_probe(design, way, length) for way in found.values() for length in lengths(design)]


def lengths(design: Design) -> tuple[int, int, int]:
    """An odd one leaves another remainder by 4 than the others do, so other pads stand before it."""
    least, most = design.sizes.least, min(design.sizes.most, design.site.largest_frame)
    middle = (least + most) // 2
    odd = next(n for n in range(middle | 1, most, 2) if n % 4 not in (least % 4, most % 4))
    return least, most, odd


def _probe(design: Design, way: Way, length: int) -> dict[str, Any]:
    parser = design.program.parser
    fields = [
        {"first": 8 * (way.offset(s.instance, parser) + s.first), "width": 8 * s.length, "bytes": s.length}
        for s in way.layout.fields
    ]
    edits = []
    for edit in way.layout.edits:
        field = parser.instances[edit.instance].header.fields[edit.field]
        first = 8 * way.offset(edit.instance, parser) + field.offset
        edits.append({"first": first, "width": field.width, "bytes": edit.length})
    sums = [
        {"first": 8 * step.offset + field.offset, "width": field.width, "bytes": (field.width + 7) // 8}
        for step in way.steps
        for field in parser.instances[step.instance].header.fields
        if field.checksum is not None
    ]
    return {
        "way": way.number,
        "headers": base64.b64encode(headers(way, parser, length)).decode(),
        "length": length,
        "number": way.tag,
        "fields": fields,
        "edits": edits,
        "sums": sums,
    }


def headers(way: Way, parser: ir.Parser, length: int) -> bytes:
    """Those of a packet of the way that claims `length` bytes, from and to addresses of nobody."""
    size = way.header_bytes(parser)
    packet = bytearray(size)
    for step in way.steps:
        for first, bits, value in _values(way, step, parser, length):
            _put(packet, first, bits, value)
    if way.steps[0].offset == 0:
        _put(packet, 0, 48, STATION)
    for step in way.steps:
        _sum(packet, step, parser)
    return bytes(packet)


def _values(way: Way, step: Step, parser: ir.Parser, length: int) -> Iterator[tuple[int, int, int]]:
    """Bits of the frame, and what they are: as the way asks, else what the protocol usually has."""
    header = parser.instances[step.instance].header
    asked: dict[Key, Range] = {c.field: (c.low, c.high) for c in step.conditions}
    asked |= {key: (value, value) for key, value in _choice(parser, step, asked).items()}
    if way.length_field[0] == step.instance:
        asked[way.length_field[1]] = (length - way.length_plus,) * 2
    if step.options is not None:
        asked[step.options.field] = (step.options.least,) * 2
    for key, (low, _) in asked.items():
        if isinstance(key, Ahead):
            yield 8 * (step.offset + bytes_of(key, header).start) + key.first % 8, key.width, low
    for f, field in enumerate(header.fields):
        usual = SUM if field.checksum is not None else field.default or 0
        low, high = asked.get(f, (usual, usual))
        if field.width:
            yield 8 * step.offset + field.offset, field.width, min(max(usual, low), high)


def _choice(parser: ir.Parser, step: Step, asked: dict[Key, Range]) -> dict[Key, int]:
    """Values within what is asked that lead to the way's next node: no earlier branch takes them."""
    choices = branches(parser, step.node, frozenset({step.target}))
    ends: dict[Key, list[int]] = {}
    for branch in choices:
        for key, (low, high) in branch.box:
            ends.setdefault(key, [0]).extend((low, high + 1, low - 1))
    header = parser.instances[step.instance].header
    allowed = {key: asked.get(key, (0, (1 << width(key, header)) - 1)) for key in ends}
    tried = [
        sorted({n for n in (*allowed[k], *found) if allowed[k][0] <= n <= allowed[k][1]}) for k, found in ends.items()
    ]
    for values in product(*tried):
        chosen = dict(zip(ends, values, strict=True))
        if next(b.target for b in choices if all(r[0] <= chosen[key] <= r[1] for key, r in b.box)) == step.target:
            return chosen
    raise AssertionError("a way goes on where a packet can")


def _sum(packet: bytearray, step: Step, parser: ir.Parser) -> None:
    """A checksum over the header alone."""
    header = parser.instances[step.instance].header
    for field in header.fields:
        if field.checksum is not None and field.checksum.parts == ("header",):
            _put(packet, 8 * step.offset + field.offset, 16, 0)
            words = packet[step.offset : step.offset + header.fixed]
            total = sum(int.from_bytes(words[i : i + 2], "big") for i in range(0, len(words), 2))
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            _put(packet, 8 * step.offset + field.offset, 16, 0xFFFF - total)


def _put(packet: bytearray, first: int, size: int, value: int) -> None:
    """Bits beyond the headers are anything."""
    whole, bits = int.from_bytes(packet, "big"), 8 * len(packet)
    if first + size > bits:
        return
    shift = bits - first - size
    mask = (1 << size) - 1 << shift
    packet[:] = (whole & ~mask | value << shift).to_bytes(len(packet), "big")
