"""Relevance: which bytes of a packet each parse class needs, and the first line that needs them (DESIGN section 5).

Bytes are counted from the first byte of a header instance, or of the payload. Whether the program keeps the contract
that `relevant` states is `analysis.contract`'s to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import PacketRead, reads_of, statement_reads
from polysome.syntax.spans import Span

PAYLOAD = -1  # the "instance" of payload bytes
MOST = 1 << 16  # "to the end" of payload and packet


@dataclass(frozen=True)
class Need:
    """Bytes `low` to `high` (excluded) of a header instance or PAYLOAD, needed first for `what` at `span`.

    `via` says why if the line does not name `what` itself: a parser value, or what depends on it.
    """

    instance: int
    low: int
    high: int
    what: str
    via: str
    span: Span

    @property
    def reason(self) -> str:
        return f"{self.what} (for {self.via})" if self.via else self.what


@dataclass(frozen=True)
class ClassRelevance:
    """What packets of some parse classes need: the same needs for all of `classes` (a mask), in wire order."""

    classes: int
    needs: tuple[Need, ...]


@dataclass(frozen=True)
class Relevance:
    """The classes that handlers see, grouped by what they need; `whole`: those of which every byte is needed."""

    groups: tuple[ClassRelevance, ...]
    whole: int


def relevance(program: ir.Program) -> Relevance:
    """The needs of every parse class that reaches a handler."""
    table = ByteTable(program.parser)
    for read in packet_reads(program):
        table.add(read)
    groups = []
    for mask in partition(passing(program), {mask for mask, _ in table.needs}):
        needs = [n for m, n in table.needs if m & mask]
        groups.append(ClassRelevance(mask, joined(needs, program.parser, mask)))
    return Relevance(tuple(groups), table.whole)


def passing(program: ir.Program) -> int:
    """The parse classes that handlers see."""
    return program.contract.passing if program.contract else program.parser.all_classes


def packet_reads(program: ir.Program) -> Iterator[PacketRead]:
    """Every read of the packet by handlers, the schedule's class and its policy."""
    parser = program.parser
    for handler in program.packet_handlers:
        yield from statement_reads(handler.body, passing(program), parser)
    for e in scheduled(program):
        yield from reads_of(e, passing(program), parser)


def scheduled(program: ir.Program) -> list[ir.Expr]:
    """What the schedule computes where `decide` runs; a plain fifo's class is the switch's business alone."""
    schedule = program.schedule
    return [*([] if schedule.plain else [schedule.cls]), *schedule.args]


# ---------------------------------------------------------------- from reads to bytes


@dataclass
class ByteTable:
    """Collects needs in program order, byte by byte: of each byte and class only the first is kept.

    `needs` holds (classes, need) of single bytes; `whole` the classes of which all bytes are needed.
    """

    parser: ir.Parser
    needs: list[tuple[int, Need]] = field(default_factory=list)
    whole: int = 0
    _taken: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(self, read: PacketRead) -> None:
        for mask, need in self._with_sizes(read):
            for part_mask, part in _behind(need, mask, self.parser):
                self._add(part_mask, part)

    def _add(self, mask: int, need: Need) -> None:
        if need.high >= MOST:
            self.whole |= mask
        last = need.low + 1 if need.high >= MOST else need.high
        for byte in range(need.low, last):
            taken = self._taken.get((need.instance, byte), 0)
            if mask & ~taken:
                self._taken[need.instance, byte] = taken | mask
                high = need.high if need.high >= MOST else byte + 1
                self.needs.append((mask & ~taken, replace(need, low=byte, high=high)))

    def _with_sizes(self, read: PacketRead) -> Iterator[tuple[int, Need]]:
        """The bytes read, and what tells where they are: reads beyond an end are 0, so the end must be known."""
        needs = needs_of(read, self.parser)
        for need in needs:
            yield read.classes, need
        node, what = read.node, needs[0].what if needs else "the payload"
        match node:
            case ir.PayloadBytes() | ir.PayloadLen():
                yield from self._sizes(None, read, what)
            case ir.RestBytes(instance=i):
                yield from self._size(
                    i, read.classes, read, what if needs else f"the end of {self.parser.instances[i].name}"
                )
            case ir.PacketFrom(instance=i):
                yield from self._sizes(i, read, what)
            case ir.HeaderField(instance=i, field=f):
                cut = self.parser.instances[i].cut
                shape = self.parser.instances[i].header.fields[f]
                if cut is not None and shape.offset + shape.width > cut * 8:
                    yield from self._sizes(i, read, what)

    def _sizes(self, before: int | None, read: PacketRead, what: str) -> Iterator[tuple[int, Need]]:
        """The fields that say how long the headers before an instance (None: before the payload) are."""
        for i in range(len(self.parser.instances)):
            mask = read.classes & self.parser.having[i]
            if mask and before is not None:
                paths = ((c, self.parser.classes[c]) for c in members(mask & self.parser.having[before]))
                mask = sum(1 << c for c, path in paths if path.index(i) < path.index(before))
            yield from self._size(i, mask, read, what)

    def _size(self, instance: int, mask: int, read: PacketRead, what: str) -> Iterator[tuple[int, Need]]:
        size = self.parser.instances[instance].header.size
        if size is not None and mask:
            for i, index in sorted(fields_of(size, self.parser)):
                found = field_bytes(i, index, self.parser, read.span)
                yield from ((mask, replace(n, via=f"where {what} is")) for n in found)


def needs_of(read: PacketRead, parser: ir.Parser) -> list[Need]:
    """The bytes that a read names, without what tells where they are."""
    node = read.node
    match node:
        case ir.HeaderField(instance=i, field=index):
            return [replace(n, via=read.via) for n in field_bytes(i, index, parser, read.span)]
        case ir.RestBytes(instance=i, field=index, low=low, high=high):
            header = parser.instances[i].header
            what = f"{parser.instances[i].name}.{header.fields[index].name}"
            if low is None or high is None:
                return [] if node.type == t.BYTES else [Need(i, header.fixed, MOST, what, read.via, read.span)]
            return [Need(i, header.fixed + low, header.fixed + high, what, read.via, read.span)]
        case ir.PayloadBytes(low=low, high=high):
            return [Need(PAYLOAD, low, MOST if high is None else high, "payload", read.via, read.span)]
        case ir.PacketFrom(instance=i, limit=limit):
            return [Need(i, 0, limit, f"packet_from({parser.instances[i].name}, {limit}B)", read.via, read.span)]
        case _:
            return []  # len and the port come with every packet


def field_bytes(instance: int, index: int, parser: ir.Parser, span: Span) -> list[Need]:
    """The bytes in which a field has bits, one need for each."""
    f = parser.instances[instance].header.fields[index]
    what = f"{parser.instances[instance].name}.{f.name}"
    return [Need(instance, b, b + 1, what, "", span) for b in range(f.offset // 8, (f.offset + f.width + 7) // 8)]


def fields_of(e: ir.Expr, parser: ir.Parser) -> set[tuple[int, int]]:
    """The header fields, as (instance, field), that an expression of the parser reads."""
    every = (1 << max(1, len(parser.classes))) - 1
    free = ir.Parser(parser.name, parser.instances, (), (), (every,) * len(parser.instances), {}, parser.values)
    return {(r.node.instance, r.node.field) for r in reads_of(e, every, free) if isinstance(r.node, ir.HeaderField)}


def _behind(need: Need, mask: int, parser: ir.Parser) -> Iterator[tuple[int, Need]]:
    """Bytes behind the end of a header of fixed size are bytes of what follows it in each class."""
    if need.instance == PAYLOAD or need.high >= MOST:
        yield mask, need
        return
    header = parser.instances[need.instance].header
    if header.size is not None or need.high <= header.fixed:
        yield mask, need
        return
    if need.low < header.fixed:
        yield mask, replace(need, high=header.fixed)
    rest = replace(need, low=max(need.low, header.fixed) - header.fixed, high=need.high - header.fixed)
    for follower, classes in followers(need.instance, mask, parser).items():
        yield from _behind(replace(rest, instance=follower), classes, parser)


def followers(instance: int, mask: int, parser: ir.Parser) -> dict[int, int]:
    """What comes directly after a header, with the classes of `mask` for which it does."""
    found: dict[int, int] = {}
    for c in members(mask):
        path = parser.classes[c]
        place = path.index(instance) + 1
        follower = path[place] if place < len(path) else PAYLOAD
        found[follower] = found.get(follower, 0) | 1 << c
    return found


# ---------------------------------------------------------------- classes


def members(mask: int) -> Iterator[int]:
    """The numbers of the classes in a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def partition(mask: int, by: Iterable[int]) -> list[int]:
    """`mask` divided so that each part lies in or outside of every mask of `by`, ordered by first class."""
    parts = [mask] if mask else []
    for divider in by:
        parts = [p for part in parts for p in (part & divider, part & ~divider) if p]
    return sorted(parts, key=lambda part: part & -part)


def joined(needs: Iterable[Need], parser: ir.Parser, mask: int) -> tuple[Need, ...]:
    """Single bytes as runs that have one reason, in the wire order of the classes in `mask`."""
    path = parser.classes[(mask & -mask).bit_length() - 1]
    order = {i: n for n, i in enumerate(path)}
    runs: list[Need] = []
    for need in sorted(needs, key=lambda n: (order.get(n.instance, MOST), n.low)):
        last = runs[-1] if runs else None
        if last is not None and last.high == need.low and replace(last, low=need.low, high=need.high) == need:
            runs[-1] = replace(last, high=need.high)
        else:
            runs.append(need)
    return tuple(runs)
