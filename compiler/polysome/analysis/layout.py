"""The frames between switch and NF that follow from relevance and effects: per parse class, the fields and the edits
packed to bytes (DESIGN section 6).

A class is split unless all of it is needed; split classes are numbered from 1 (the tag has 8 bits; 0 is for frames
that belong to no class), one number for all classes that nothing in the program tells apart.

A frame may also carry all headers, as Ribosome's do (`carry="headers"`): then classes with different headers have
different numbers, and what a header may be cut to (a quote in an ICMP error) goes whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from polysome.analysis.paths import FieldKey, Operation, Sending, distinguishing, popped, sending
from polysome.analysis.payload_sums import needs_payload
from polysome.analysis.relevance import (
    MOST,
    ByteTable,
    Need,
    field_bytes,
    fields_of,
    joined,
    members,
    packet_reads,
    partition,
    passing,
)
from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.syntax.spans import Span
from polysome_protocol import CLASSES, ETHERNET, FRAMES, TAG

# What a fields frame has: the bytes that `decide` needs, or those and every header's fixed part.
Carry = Literal["fields", "headers"]


@dataclass(frozen=True)
class Wire:
    """The constants of the frames between switch and NF (runtime/PROTOCOL.md), in bytes."""

    link_header: int = ETHERNET.size
    tag: int = TAG.size
    minimum: int = FRAMES.smallest
    class_numbers: int = CLASSES  # from 1

    @property
    def overhead(self) -> int:
        return self.link_header + self.tag

    @property
    def room(self) -> int:
        """Bytes of fields or edits that ride in a minimum-size frame."""
        return self.minimum - self.overhead

    def frame(self, content: int) -> int:
        """Bytes of a frame with that many bytes of fields or edits."""
        return max(self.minimum, self.overhead + content)


WIRE = Wire()


@dataclass(frozen=True)
class Slice:
    """`length` bytes from byte `first` of a header instance (or PAYLOAD), at `offset` of the fields."""

    instance: int
    first: int
    length: int
    offset: int


@dataclass(frozen=True)
class Edit:
    """`length` bytes at `offset` of the edits, the value right-aligned.

    `kind` is `field` (of `instance`), `shape` (which of the class's sequences of pushes, pops and truncations),
    `push` (a field of the header that operation `operation` pushes) or `truncate` (the size).
    """

    kind: str
    name: str
    length: int
    offset: int
    instance: int = -1
    field: int = -1
    operation: int = -1


@dataclass(frozen=True)
class Whole:
    """Why packets of a class go to the NF whole, and the line that causes it."""

    reason: str
    span: Span


@dataclass(frozen=True)
class ClassLayout:
    """The frames of the parse classes `classes` (a mask); `number` is None if they go whole.

    `kept` are the needs that no read causes, but edits that some sending path does not make, and lengths that the
    schedule must know; they are part of `needs`.
    `shapes`: the sequences of operations, as indices into `operations`, in the order that the shape byte counts.
    """

    classes: int
    number: int | None
    whole: Whole | None
    needs: tuple[Need, ...]
    kept: tuple[Need, ...]
    fields: tuple[Slice, ...]
    edits: tuple[Edit, ...]
    operations: tuple[Operation, ...]
    shapes: tuple[tuple[int, ...], ...]

    @property
    def fields_size(self) -> int:
        return sum(s.length for s in self.fields)

    @property
    def edits_size(self) -> int:
        return sum(e.length for e in self.edits)


@dataclass(frozen=True)
class Layout:
    """The layouts of all classes that handlers see, by first class; `numbers`: how many class numbers are needed."""

    classes: tuple[ClassLayout, ...]

    @property
    def numbers(self) -> int:
        return sum(c.number is not None for c in self.classes)


@lru_cache(maxsize=2)  # the checks and what is printed ask for the same
def layout(program: ir.Program, carry: Carry = "fields") -> Layout:
    """The frames of every parse class; numbers go on beyond 255 if there are more, which `analyse` reports.

    With all headers there may be more for a program that is fine: then those with the most headers go whole.
    """
    table = ByteTable(program.parser)
    whole: dict[int, Whole] = {}
    for read in packet_reads(program):
        before = table.whole
        table.add(read)
        for c in members(table.whole & ~before):
            whole[c] = Whole("all of its bytes are needed", read.span)
    _declared_whole(program, whole)
    if carry == "headers":
        _cut_whole(program, whole)
    found: list[ClassLayout] = []
    parts = partition(passing(program), [*distinguishing(program), *dict.fromkeys(m for m, _ in table.needs)])
    for part in parts:
        found += _layouts(program, part, table, whole, carry)
    if carry == "headers":
        found = _fewest_headers(program, found)
    numbered = 0
    for i, one in enumerate(found):
        if one.whole is None:
            numbered += 1
            found[i] = replace(one, number=numbered)
    return Layout(tuple(found))


def _fewest_headers(program: ir.Program, found: list[ClassLayout]) -> list[ClassLayout]:
    """As many classes stay split as there are numbers."""
    classes = program.parser.classes
    split = sorted((len(classes[next(members(c.classes))]), i) for i, c in enumerate(found) if c.whole is None)
    why = Whole("there are more classes than numbers for them", program.span)
    for _, i in split[WIRE.class_numbers :]:
        found[i] = replace(found[i], whole=why, fields=(), edits=())
    return sorted(found, key=lambda c: c.classes & -c.classes)


def _cut_whole(program: ir.Program, whole: dict[int, Whole]) -> None:
    """A cut header has no fixed part that is surely there."""
    for n, instance in enumerate(program.parser.instances):
        if instance.cut is not None:
            for c in members(program.parser.having[n] & passing(program)):
                whole.setdefault(c, Whole(f"{instance.name} may be cut", program.span))


def _declared_whole(program: ir.Program, whole: dict[int, Whole]) -> None:
    contract = program.contract
    if contract is not None and contract.span is not None:
        for c in members(contract.packet & contract.passing):
            whole[c] = Whole("`relevant packet`", contract.span)


def _layouts(
    program: ir.Program, part: int, table: ByteTable, whole: dict[int, Whole], carry: Carry
) -> list[ClassLayout]:
    """The layout of the classes in `part`, and apart from it those of which some, but not all, go whole."""
    paths = sending(program, part)
    groups: dict[tuple[Whole | None, tuple[int, ...]], int] = {}
    for c in members(part):
        path = program.parser.classes[c]
        reason = whole.get(c) or _whole_for_edits(program, path, paths)
        carried = path if carry == "headers" and reason is None else ()
        groups[reason, carried] = groups.get((reason, carried), 0) | 1 << c
    return [_class_layout(program, mask, reason, table, paths, carried) for (reason, carried), mask in groups.items()]


def _whole_for_edits(program: ir.Program, path: tuple[int, ...], paths: Sending) -> Whole | None:
    if paths.looped is not None:
        return Whole("headers come or go in a loop", paths.looped.span)
    for operations in paths.operations:
        for operation in operations:
            reason = needs_payload(operation, path, program.parser, program.headers)
            if reason:
                return Whole(reason, operation.span)
    return None


def _class_layout(
    program: ir.Program, mask: int, whole: Whole | None, table: ByteTable, paths: Sending, carried: tuple[int, ...]
) -> ClassLayout:
    """`carried`: headers whose fixed parts are fields, needed or not."""
    parser = program.parser
    bytes_needed = {(n.instance, n.low): n for m, n in table.needs if m & mask}
    path = parser.classes[next(members(mask))]
    operations = tuple(dict.fromkeys(o for sequence in paths.operations for o in sequence))
    kept = [*_kept(paths, bytes_needed, parser), *_resizing(program, operations, path, bytes_needed)]
    every = [*bytes_needed.values(), *kept]
    headers = [
        Need(i, b, b + 1, "", "", program.span) for i in carried for b in range(parser.instances[i].header.fixed)
    ]
    return ClassLayout(
        classes=mask,
        number=None,
        whole=whole,
        needs=joined(every, parser, mask),
        kept=joined(kept, parser, mask),
        fields=() if whole else packed([*every, *headers], path),
        edits=() if whole else _edits(paths, operations, path, program),
        operations=operations,
        shapes=tuple(tuple(operations.index(o) for o in sequence) for sequence in paths.operations),
    )


def _kept(paths: Sending, needed: dict[tuple[int, int], Need], parser: ir.Parser) -> list[Need]:
    """Edits are always complete: a field that a sending path leaves alone is sent back as it came, so it must come."""
    found: dict[tuple[int, int], Need] = {}
    for (i, f), write in paths.written.items():
        if (i, f) not in paths.always:
            for need in field_bytes(i, f, parser, write.span):
                if (i, need.low) not in needed:
                    found.setdefault((i, need.low), replace(need, via="kept where not written"))
    return list(found.values())


def _resizing(
    program: ir.Program, operations: tuple[Operation, ...], path: tuple[int, ...], needed: dict[tuple[int, int], Need]
) -> list[Need]:
    """What says how long a packet leaves, which a schedule that counts bytes must know (L11.2): sizes of headers."""
    schedule, parser = program.schedule, program.parser
    if schedule.plain:
        return []
    found: dict[tuple[int, int], Need] = {}
    for operation in operations:
        if isinstance(operation, ir.Push):
            continue
        for i in popped(operation, path) if isinstance(operation, ir.Pop) else path:
            size = parser.instances[i].header.size
            for _, index in sorted(fields_of(size, parser)) if size is not None else ():
                for need in field_bytes(i, index, parser, operation.span):
                    if (i, need.low) not in needed:
                        found.setdefault((i, need.low), replace(need, via="the length it leaves with"))
    return list(found.values())


def packed(needs: Iterable[Need], path: tuple[int, ...]) -> tuple[Slice, ...]:
    """The needed bytes in wire order, without gaps."""
    order = {i: n for n, i in enumerate(path)}
    places = sorted({(order.get(n.instance, MOST), n.low, n.instance) for n in needs})
    slices: list[Slice] = []
    for offset, (_, byte, instance) in enumerate(places):
        last = slices[-1] if slices else None
        if last is not None and last.instance == instance and last.first + last.length == byte:
            slices[-1] = replace(last, length=last.length + 1)
        else:
            slices.append(Slice(instance, byte, 1, offset))
    return tuple(slices)


# ---------------------------------------------------------------- edits


def _edits(
    paths: Sending, operations: tuple[Operation, ...], path: tuple[int, ...], program: ir.Program
) -> tuple[Edit, ...]:
    """Which operations, if there is a choice; then fields in wire order; then what operations bring along."""
    parser = program.parser
    found = [Edit("shape", "shape", 1, 0)] if len(paths.operations) > 1 else []
    order = {i: n for n, i in enumerate(path)}
    keys: list[FieldKey] = sorted((k for k in paths.written if k[0] in order), key=lambda k: (order[k[0]], k[1]))
    for i, f in keys:
        instance = parser.instances[i]
        field = instance.header.fields[f]
        found.append(Edit("field", f"{instance.name}.{field.name}", (field.width + 7) // 8, 0, instance=i, field=f))
    for number, operation in enumerate(operations):
        found += _operands(number, operation, program)
    offset = 0
    for n, edit in enumerate(found):
        found[n] = replace(edit, offset=offset)
        offset += edit.length
    return tuple(found)


def _operands(number: int, operation: Operation, program: ir.Program) -> list[Edit]:
    """The values of an operation that are not known when the NF is compiled."""
    match operation:
        case ir.Push(header=header, fields=fields):
            shape = program.headers[header].fields
            return [
                Edit(
                    "push",
                    f"{header}.{shape[f].name} (pushed)",
                    (shape[f].width + 7) // 8,
                    0,
                    field=f,
                    operation=number,
                )
                for f, e in sorted(fields, key=lambda given: given[0])
                if not _constant(e)
            ]
        case ir.Truncate(size=size) if not _constant(size):
            return [Edit("truncate", "truncate", 2, 0, operation=number)]
    return []


def _constant(e: ir.Expr) -> bool:
    try:
        fold(e)
    except (NotConstant, Undefined):
        return False
    return True
