"""Packets whose headers come and go: push, pop, truncate, and packets made by `emit` (LANGUAGE.md L9.7, L10.1, L10.4, L10.5).

A packet is a chain of segments, one per header, and the payload. Lengths, next fields and checksums are set from the
chain; a surviving checksum is updated by the difference of what it covered and covers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome.interp.checksum import updated, whole, word_sum
from polysome.interp.packet import Packet, read_bits, write_bits
from polysome.ir import program as ir


@dataclass(eq=False)
class Segment:
    """A header in the chain. `instance` is None for a new one, whose checksums are computed; `cut` ones keep lengths."""

    header: ir.Header
    data: bytearray
    instance: int | None
    cut: bool = False
    popped: bool = False
    old: bytes = field(default=b"")

    def get(self, f: ir.Field) -> int:
        return read_bits(self.data, f.offset, f.width, len(self.data))

    def set(self, f: ir.Field, value: int) -> None:
        write_bits(self.data, f.offset, f.width, value & ((1 << f.width) - 1), len(self.data))


def fresh(header: ir.Header, given: dict[int, int]) -> Segment:
    """A new header with the given fields, defaults elsewhere, zero in marked fields."""
    bits = 0
    for index, f in enumerate(header.fields):
        bits = bits << f.width | (given.get(index, f.default or 0) & ((1 << f.width) - 1))
    return Segment(header, bytearray(bits.to_bytes(header.fixed, "big")), None)


def rebuild(program: ir.Program, p: Packet, buffer: bytearray) -> bytes:
    """The packet in `buffer` (fields and checksums already updated) after its pops, pushes and truncation."""
    old = _chain(program.parser, p, buffer)
    payload = bytes(buffer[p.payload : p.end])
    chain, anchors = list(old), {s.instance: s for s in old}
    limit: int | None = None
    for operation in p.operations:
        match operation:
            case ("pop", first, last):
                start, end = old.index(anchors[first]), old.index(anchors[last])
                for segment in old[start : end + 1]:
                    segment.popped = True
            case ("push", name, given, before):
                place = len(chain) if before is None else chain.index(anchors[before])
                chain.insert(place, fresh(program.headers[name], given))
            case ("truncate", size):
                limit = size if limit is None else min(limit, size)
    remaining = [s for s in chain if not s.popped]
    cut = payload
    if limit is not None:
        room = max(0, limit - sum(len(s.data) for s in remaining))
        cut = payload[:room]
    _next_fields(chain, remaining)
    _lengths(remaining, cut, old, payload, limit is not None)
    _checksums(remaining, cut, old, payload)
    return b"".join(bytes(s.data) for s in remaining) + cut


def make(program: ir.Program, headers: tuple[tuple[str, dict[int, int]], ...], payload: bytes) -> bytes:
    """A packet made by `emit`: every marked field is computed."""
    chain = [fresh(program.headers[name], given) for name, given in headers]
    _next_fields(chain, chain)
    _lengths(chain, payload, [], b"", False)
    for position in range(len(chain) - 1, -1, -1):
        for f in chain[position].header.fields:
            if f.checksum is not None:
                value = whole(_sum(chain, position, payload, f, f.checksum))
                chain[position].set(f, 0xFFFF if f.checksum.zero_is_none and value == 0 else value)
    return b"".join(bytes(s.data) for s in chain) + payload


def _chain(parser: ir.Parser, p: Packet, buffer: bytearray) -> list[Segment]:
    segments = []
    for i in p.path:
        data = buffer[p.offset[i] : p.header_end[i]]
        instance = parser.instances[i]
        segments.append(Segment(instance.header, data, i, cut=instance.cut is not None, old=bytes(data)))
    return segments


# ---------------------------------------------------------------- next fields


def _next_fields(chain: list[Segment], remaining: list[Segment]) -> None:
    """Where the following header changed: the enum's member named like it; else what the replaced header said (L10.5)."""
    for position, segment in enumerate(remaining):
        f = next((f for f in segment.header.fields if f.next is not None), None)
        if f is None:
            continue
        follower = remaining[position + 1] if position + 1 < len(remaining) else None
        place = chain.index(segment)
        before = chain[place + 1] if place + 1 < len(chain) else None
        if segment.instance is not None and before is follower:
            continue
        number = f.next.number(follower.header.name) if follower is not None and f.next is not None else None
        if number is None:
            number = _inherited(chain, segment, follower, f)
        if number is not None:
            segment.set(f, number)


def _inherited(chain: list[Segment], segment: Segment, follower: Segment | None, f: ir.Field) -> int | None:
    """What the neighbour whose place the follower keeps said about it: a popped header behind, or the one before."""
    start = chain.index(segment) + 1
    stop = chain.index(follower) if follower is not None else len(chain)
    popped = [s for s in chain[start:stop] if s.popped]
    neighbours = list(reversed(popped)) or [s for s in reversed(chain[: start - 1]) if s.instance is not None][:1]
    for neighbour in neighbours:
        for g in neighbour.header.fields:
            if g.next == f.next and neighbour.old:
                return read_bits(neighbour.old, g.offset, g.width, len(neighbour.old))
    return None


# ---------------------------------------------------------------- lengths


def _lengths(chain: list[Segment], payload: bytes, old: list[Segment], old_payload: bytes, truncated: bool) -> None:
    """Length fields of new headers, and of those behind which the number of bytes changed.

    A surviving field changes by as much as what it says, so one that was less (bytes behind a UDP datagram) or more (a
    first fragment) stays so; after `truncate` it never says more than there is.
    """
    rest = len(payload)
    for segment in reversed(chain):
        if segment.instance is None or (not segment.cut and _old_rest(segment, old, old_payload) != rest):
            for f in segment.header.fields:
                if f.length is not None:
                    value = actual = _length(f.length, len(segment.data), rest)
                    if segment.instance is not None:
                        before = _length(f.length, len(segment.old), _old_rest(segment, old, old_payload))
                        value = segment.get(f) + actual - before
                    segment.set(f, min(value, actual) if truncated else value)
        rest += len(segment.data)


def _old_rest(segment: Segment, old: list[Segment], payload: bytes) -> int:
    return sum(len(s.old) for s in old[old.index(segment) + 1 :]) + len(payload)


def _length(e: ir.Expr, header: int, rest: int) -> int:
    """A `length(…)` expression with exact integers."""
    from polysome.ir.fold import arithmetic

    match e:
        case ir.HeaderBytes(rest=is_rest):
            return rest if is_rest else header
        case ir.Const(value=v):
            return int(v)
        case ir.Cast(value=v):
            return _length(v, header, rest)
        case ir.Binary(op=op, left=a, right=b):
            return arithmetic(op, _length(a, header, rest), _length(b, header, rest), 64)
        case _:
            raise AssertionError(f"{type(e).__name__} in a length")


# ---------------------------------------------------------------- checksums


def _checksums(chain: list[Segment], payload: bytes, old: list[Segment], old_payload: bytes) -> None:
    """Innermost first: new headers' computed (or none), others' updated by what changed under them."""
    before = [Segment(s.header, bytearray(s.old), s.instance, s.cut, False, s.old) for s in old]
    for position in range(len(chain) - 1, -1, -1):
        segment = chain[position]
        for f in segment.header.fields:
            if f.checksum is None or (f.offset + f.width) // 8 > len(segment.data):
                continue
            if segment.instance is None:
                if not f.checksum.zero_is_none:
                    segment.set(f, whole(_sum(chain, position, payload, f, f.checksum)))
                continue
            value = segment.get(f)
            if f.checksum.zero_is_none and value == 0:
                continue
            was = _sum(before, old.index(segment), old_payload, f, f.checksum)
            now = _sum(chain, position, payload, f, f.checksum)
            if was != now:
                value = updated(value, now - was)
                segment.set(f, 0xFFFF if f.checksum.zero_is_none and value == 0 else value)


def _sum(chain: list[Segment], position: int, payload: bytes, own: ir.Field, checksum: ir.Checksum) -> int:
    """The sum (mod 65535) of what the checksum covers, its own field left out."""
    segment = chain[position]
    total = word_sum(segment.data, 0, len(segment.data)) - segment.get(own) if "header" in checksum.parts else 0
    rest = b"".join(bytes(s.data) for s in chain[position + 1 :]) + payload
    if "rest" in checksum.parts:
        joined = bytes(segment.data) + rest
        total = word_sum(joined, 0, len(joined)) - segment.get(own)
    if "pseudo" in checksum.parts:
        total += _pseudo(chain, position, len(segment.data) + len(rest))
    return total % 0xFFFF


def _pseudo(chain: list[Segment], position: int, length: int) -> int:
    """The pseudo header of the nearest enclosing header that lists one, with protocol and length."""
    total = 0
    for g in chain[position - 1].header.fields if position else ():
        if g.next is not None:
            total += chain[position - 1].get(g)
    for enclosing in reversed(chain[:position]):
        if enclosing.header.pseudo:
            for index in enclosing.header.pseudo:
                f = enclosing.header.fields[index]
                start = f.offset >> 3
                total += word_sum(enclosing.data, start, start + (f.width >> 3))
            return total + length
    return total


