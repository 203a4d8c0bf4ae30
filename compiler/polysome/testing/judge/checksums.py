"""`checksums_valid`: every checksum that the spec's parser finds, computed in full (RFC 1071), and what the RFCs find.

This shares nothing with how the interpreter updates checksums: it goes from the bytes of the frame and the header
declarations (LANGUAGE.md L4.5) to a sum. Beside it `testing.wire` judges the same frame without the spec, so that an
own header whose checksum was not declared is noticed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from polysome.interp.expression_code import ExpressionCode
from polysome.interp.packet import Packet, read_bits
from polysome.ir import program as ir
from polysome.testing import wire
from polysome.testing.judge.parsing import spec_functions

FRAGMENT_FIELDS = ("more_fragments", "fragment_offset")  # a header with such a field that is not 0 holds a fragment


def right(program: ir.Program, frame: bytes | None, p: Packet | None) -> bool:
    """Are all checksums right that the frame alone can show? False without a frame."""
    return frame is not None and p is not None and not wrong(program, frame, p)


def wrong(program: ir.Program, frame: bytes, p: Packet) -> list[str]:
    """The wrong ones: `ipv4.checksum` of the spec's parser, then those that only the RFCs see."""
    found = [
        f"{program.parser.instances[p.path[n]].name}.{f.name}"
        for n in range(len(p.path))
        for f in program.parser.instances[p.path[n]].header.fields
        if f.checksum is not None and not _right(program, p, n, f, f.checksum)
    ]
    return found or [f"{name} (by the RFCs)" for name in wire.wrong_checksums(frame)]


def _right(program: ir.Program, p: Packet, position: int, f: ir.Field, checksum: ir.Checksum) -> bool:
    i = p.path[position]
    start, stop = p.offset[i], p.header_end[i]
    said = read_bits(p.data, start * 8 + f.offset, f.width, stop)
    if _cut(program, p, i) or (checksum.zero_is_none and said == 0):
        return True
    end: int | None = stop
    if "rest" in checksum.parts:
        end = None if _fragment(program, p, position) else _end(program, p, position)
    if end is None:
        return True
    # The field itself is part of the sum: as part of the header, else beside it.
    total = _sum(p.data[start:end]) if "header" in checksum.parts else said + _sum(p.data[stop:end])
    if "pseudo" in checksum.parts:
        total += _pseudo(program, p, position, end - start)
    return total > 0 and total % 0xFFFF == 0  # of nothing but zeros 0 is not the checksum


def _sum(data: bytes) -> int:
    """Of the 16-bit words, an odd last byte padded with zero; not folded."""
    data += b"\0" * (len(data) % 2)
    return sum(data[0::2]) * 256 + sum(data[1::2])


def _pseudo(program: ir.Program, p: Packet, position: int, length: int) -> int:
    """The sum of the pseudo header: what the nearest enclosing header lists, what names the next header, the length."""
    instances = program.parser.instances
    enclosing = next((n for n in range(position - 1, -1, -1) if instances[p.path[n]].header.pseudo), None)
    if enclosing is None:
        return 0
    i = p.path[enclosing]
    header = instances[i].header
    numbers = [_field(p, i, header.fields[index]) for index in header.pseudo]
    directly = instances[p.path[position - 1]].header
    numbers += [_field(p, p.path[position - 1], f) for f in directly.fields if f.next is not None]
    return sum(_words(number) for number in (*numbers, length))


def _field(p: Packet, i: int, f: ir.Field) -> int:
    return read_bits(p.data, p.offset[i] * 8 + f.offset, f.width, p.header_end[i])


def _words(number: int) -> int:
    """The sum of a number's 16-bit words."""
    total = 0
    while number:
        total, number = total + (number & 0xFFFF), number >> 16
    return total


def _end(program: ir.Program, p: Packet, position: int) -> int | None:
    """Where what belongs to this header ends; None if not all of it is there."""
    functions, quoted, others = _functions(program), list[int](), list[int]()
    for i in p.path[: position + 1]:
        end = functions[i][1]
        if end is not None:
            (others if program.parser.instances[i].cut is None else quoted).append(p.offset[i] + end(p))
    room = min([*others, p.end]) if quoted else p.end
    end = min(quoted or others, default=room)
    return end if end <= room else None


def _cut(program: ir.Program, p: Packet, i: int) -> bool:
    """Is only the beginning of this header there?"""
    there, header = p.header_end[i] - p.offset[i], program.parser.instances[i].header
    size = _functions(program)[i][0]
    return there < header.fixed or (size is not None and size(p) > there)


def _fragment(program: ir.Program, p: Packet, position: int) -> bool:
    """Is what follows one of the headers before this one only a part?"""
    for i in p.path[:position]:
        for f in program.parser.instances[i].header.fields:
            if f.name in FRAGMENT_FIELDS and _field(p, i, f):
                return True
    return False


@lru_cache(maxsize=64)
def _functions(program: ir.Program) -> list[tuple[Any, Any]]:
    """Per instance: its `size` and its `end` as functions of a parsed packet, None where it has none."""
    c = ExpressionCode(program)
    c.arrival = True
    headers = [instance.header for instance in program.parser.instances]
    texts = [[None if e is None else c.code(e) for e in (header.size, header.end)] for header in headers]
    values = spec_functions(program) | c.constants
    made = [
        [None if text is None else eval(f"lambda p: (lambda d, o: {text})(p.data, p.offset)", values) for text in pair]
        for pair in texts
    ]
    return [(size, end) for size, end in made]
