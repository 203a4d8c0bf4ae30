"""Packets whose headers come and go: push, pop, truncate, and packets made by `emit` (LANGUAGE.md L9.7, section 10).

A packet is a chain of segments, one per header, and the payload. Next fields, lengths and checksums are set from the
chain; those of a surviving header change by as much as what they say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polysome.interp.packet import Packet, read_bits, write_bits
from polysome.ir import program as ir
from polysome.ir.checksum import updated, whole, word_sum
from polysome.ir.operators import arithmetic


@dataclass(eq=False)
class Segment:
    """A header in the chain.

    `instance` is None for a new one. `room` is how many of the payload's bytes belong to it: up to the innermost `end`
    in force. A `quote` is what is left of another packet, so only field writes change it (L10.3).
    """

    header: ir.Header
    data: bytearray
    instance: int | None
    room: int
    quote: bool = False
    popped: bool = False

    def get(self, f: ir.Field) -> int:
        return read_bits(self.data, f.offset, f.width, len(self.data))

    def set(self, f: ir.Field, value: int) -> None:
        write_bits(self.data, f.offset, f.width, value & ((1 << f.width) - 1), len(self.data))

    @property
    def next(self) -> ir.Field | None:
        return next((f for f in self.header.fields if f.next is not None), None)


@dataclass(frozen=True)
class Chain:
    """Headers and payload, as they are or were."""

    segments: Sequence[Segment]
    payload: bytes

    def rest(self, position: int) -> bytes:
        """What belongs to the header at `position` behind it."""
        behind = b"".join(bytes(s.data) for s in self.segments[position + 1 :])
        return behind + self.payload[: self.segments[position].room]

    def behind(self, position: int) -> int:
        """How many bytes that is."""
        headers = sum(len(s.data) for s in self.segments[position + 1 :])
        return headers + min(len(self.payload), self.segments[position].room)

    def enclosing(self, position: int) -> int | None:
        """The nearest header before that lists a pseudo header."""
        return next((i for i in range(position - 1, -1, -1) if self.segments[i].header.pseudo), None)

    def join(self) -> bytes:
        return b"".join(bytes(s.data) for s in self.segments) + self.payload


def fresh(header: ir.Header, given: Mapping[int, int], room: int) -> Segment:
    """A new header with the given fields, defaults elsewhere, zero in marked fields."""
    bits = 0
    for index, f in enumerate(header.fields):
        bits = bits << f.width | (given.get(index, f.default or 0) & ((1 << f.width) - 1))
    return Segment(header, bytearray(bits.to_bytes(header.fixed, "big")), None, room)


def rebuild(program: ir.Program, p: Packet, buffer: bytearray) -> bytes:
    """The packet in `buffer` (fields and checksums already updated) after its pops, pushes and truncation."""
    arrived = _arrived(program.parser, p, buffer)
    places, limit = _edited(program, p, list(arrived.segments), len(arrived.payload))
    # What survives is changed in place, so what it was is kept beside it.
    old = Chain([_copy(s) for s in arrived.segments], arrived.payload)
    before = dict(zip(arrived.segments, range(len(old.segments)), strict=True))
    remaining = [s for s in places if not s.popped]
    _give_room(remaining, len(old.payload))
    payload = old.payload
    if limit is not None:
        payload = payload[: max(0, limit - sum(len(s.data) for s in remaining))]
    new = Chain(remaining, payload)
    _next_fields(new, old, before)
    _lengths(new, old, before)
    _checksums(new, old, before)
    return new.join()


def make(program: ir.Program, headers: tuple[tuple[str, Mapping[int, int]], ...], payload: bytes) -> bytes:
    """A packet made by `emit`: every marked field is computed."""
    new = Chain([fresh(program.headers[name], given, len(payload)) for name, given in headers], payload)
    old = Chain([], b"")
    _next_fields(new, old, {})
    _lengths(new, old, {})
    for position in range(len(new.segments) - 1, -1, -1):
        for f in new.segments[position].header.fields:
            if f.checksum is not None:
                value = whole(_covered(new, position, f, f.checksum))
                new.segments[position].set(f, 0xFFFF if f.checksum.zero_is_none and value == 0 else value)
    return new.join()


def _arrived(parser: ir.Parser, p: Packet, buffer: bytearray) -> Chain:
    segments = []
    for i in p.path:
        instance = parser.instances[i]
        room = max(0, min(p.limit[i], p.end) - p.payload)
        segments.append(
            Segment(instance.header, buffer[p.offset[i] : p.header_end[i]], i, room, instance.cut is not None)
        )
    return Chain(segments, bytes(buffer[p.payload : p.end]))


def _copy(s: Segment) -> Segment:
    return Segment(s.header, bytearray(s.data), s.instance, s.room, s.quote)


def _edited(program: ir.Program, p: Packet, old: list[Segment], payload: int) -> tuple[list[Segment], int | None]:
    """All headers, popped ones marked, new ones in their places; and the bytes that the packet may have."""
    chain, limit = list(old), None
    anchors = {s.instance: s for s in old}
    for operation in p.operations:
        match operation:
            case ("pop", first, last):
                for segment in old[old.index(anchors[first]) : old.index(anchors[last]) + 1]:
                    segment.popped = True
            case ("push", name, given, before):
                place = len(chain) if before is None else chain.index(anchors[before])
                chain.insert(place, fresh(program.headers[name], given, payload))
            case ("truncate", size):
                limit = size if limit is None else min(limit, size)
    return chain, limit


def _give_room(chain: list[Segment], room: int) -> None:
    """A new header ends where the nearest header before it does that came with the packet."""
    for segment in chain:
        if segment.instance is None:
            segment.room = room
        room = segment.room


# ---------------------------------------------------------------- next fields


def _next_fields(new: Chain, old: Chain, before: dict[Segment, int]) -> None:
    """What was said about the header that follows, where it came from; else the member named like it (L10.5)."""
    for position, segment in enumerate(new.segments):
        f = segment.next
        if f is None or f.next is None or segment.quote:
            continue
        follower = new.segments[position + 1] if position + 1 < len(new.segments) else None
        came_behind = before.get(follower, 0) - 1 if follower is not None else len(old.segments) - 1
        number = None
        if came_behind >= 0:
            said = old.segments[came_behind].next
            number = old.segments[came_behind].get(said) if said is not None and said.next == f.next else None
        if number is None and follower is not None:
            number = f.next.number(follower.header.name)
        if number is not None:
            segment.set(f, number)


# ---------------------------------------------------------------- lengths


def _lengths(new: Chain, old: Chain, before: dict[Segment, int]) -> None:
    """Length fields of new headers; others change by as much as what they say.

    So one that said more than there is (a first fragment) still does, unless `truncate` cut what it speaks of.
    """
    for position, segment in enumerate(new.segments):
        rest = new.behind(position)
        was = old.behind(before[segment]) if segment in before else None
        if segment.quote or was == rest:
            continue
        for f in segment.header.fields:
            if f.length is not None:
                value = actual = _length(f.length, len(segment.data), rest)
                if was is not None:
                    value = segment.get(f) + actual - _length(f.length, len(segment.data), was)
                cut = len(new.payload) < min(segment.room, len(old.payload))
                segment.set(f, min(value, actual) if cut else value)


def _length(e: ir.Expr, header: int, rest: int) -> int:
    """A `length(…)` expression with exact integers."""
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


def _checksums(new: Chain, old: Chain, before: dict[Segment, int]) -> None:
    """Innermost first: new headers' computed (or none), others' updated by what changed under them."""
    same = _same_from(new, old, before)
    for position in range(len(new.segments) - 1, -1, -1):
        segment = new.segments[position]
        for f in segment.header.fields:
            if f.checksum is None or segment.quote:
                continue
            if segment not in before and f.checksum.zero_is_none:
                segment.set(f, 0)
                continue
            first = new.enclosing(position) if "pseudo" in f.checksum.parts else position
            if first is not None and first >= same:
                continue
            now = _covered(new, position, f, f.checksum)
            if segment not in before:
                segment.set(f, whole(now))
                continue
            was = _covered(old, before[segment], f, f.checksum)
            value = segment.get(f)
            if was == now or (f.checksum.zero_is_none and value == 0):
                continue
            value = updated(value, word_sum(now, 0, len(now)) - word_sum(was, 0, len(was)))
            segment.set(f, 0xFFFF if f.checksum.never_zero and value == 0 else value)


def _same_from(new: Chain, old: Chain, before: dict[Segment, int]) -> int:
    """The position from which on all headers and the payload are what they were."""
    position, was = len(new.segments), len(old.segments)
    if new.payload != old.payload:
        return position
    while position and was and before.get(new.segments[position - 1]) == was - 1:
        if new.segments[position - 1].data != old.segments[was - 1].data:
            break
        position, was = position - 1, was - 1
    return position


def _covered(chain: Chain, position: int, own: ir.Field, checksum: ir.Checksum) -> bytes:
    """What the checksum is the sum of, its own field zero: pseudo header, header, rest."""
    segment = chain.segments[position]
    rest = chain.rest(position)
    found = b""
    if "pseudo" in checksum.parts:
        found += _pseudo(chain, position, len(segment.data) + len(rest))
    if "header" in checksum.parts:
        data = bytearray(segment.data)
        write_bits(data, own.offset, own.width, 0, len(data))
        found += bytes(data)
    return found + rest if "rest" in checksum.parts else found


def _pseudo(chain: Chain, position: int, length: int) -> bytes:
    """The pseudo header of the nearest enclosing header that lists one, with protocol and length; else nothing."""
    place = chain.enclosing(position)
    if place is None:
        return b""
    enclosing = chain.segments[place]
    listed = [enclosing.header.fields[index] for index in enclosing.header.pseudo]
    found = b"".join(enclosing.get(f).to_bytes((f.width + 15) // 16 * 2, "big") for f in listed)
    said = chain.segments[position - 1].next
    number = chain.segments[position - 1].get(said) if said is not None else 0
    return found + number.to_bytes(16, "big") + length.to_bytes(8, "big")
