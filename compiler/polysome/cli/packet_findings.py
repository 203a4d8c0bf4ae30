"""What `polysome check` found out about packets: paths, bytes read, fields written, layouts (see `cli.findings`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from polysome.analysis.effects import Effects
from polysome.analysis.framed import edits_frame
from polysome.analysis.layout import WIRE, ClassLayout, Layout, Whole
from polysome.analysis.patterns import patterns, stack_name, wire_order, words
from polysome.analysis.relevance import PAYLOAD, Need, members, packet_reads, passing
from polysome.analysis.words import line, without_comments
from polysome.ir import program as ir
from polysome.syntax.spans import Span

Data = dict[str, Any]


def place_of(program: ir.Program, span: Span) -> Data:
    """`file` and `line`, as every place is given."""
    return {"file": span.file, "line": line(program, span)}


def paths(program: ir.Program, found: Layout) -> list[Data]:
    """Kinds of packets that handlers see: patterns of headers, those with equal frames together."""
    back = edits_frame(program)
    same: dict[tuple[int, int, Whole | None], list[ClassLayout]] = {}
    for one in found.classes:
        same.setdefault((one.fields_size, one.edits_size, one.whole), []).append(one)
    rows: dict[tuple[str, int, int, Whole | None], Data] = {}
    for (fields, edits, whole), layouts in same.items():
        mask = sum(one.classes for one in layouts)
        plain = _without_bytes(program, layouts)
        for pattern in patterns(mask, passing(program), program.parser):
            headers = words(pattern, program.parser, plain)
            row = rows.setdefault(
                (headers, fields, edits, whole),
                {
                    "headers": headers,
                    "classes": 0,
                    "numbers": [],
                    "fields_bytes": fields,
                    "edits_bytes": edits,
                    "fields_frame": WIRE.frame(fields),
                    "edits_frame": back if whole is None else WIRE.frame(edits),
                    "fits": whole is None and max(fields, edits) <= WIRE.room,
                    "whole": whole and {"reason": whole.reason, **place_of(program, whole.span)},
                },
            )
            row["classes"] += pattern.classes.bit_count()
            numbers = {one.number for one in layouts if one.number is not None and one.classes & pattern.classes}
            row["numbers"] = sorted({*row["numbers"], *numbers})
    return sorted(rows.values(), key=lambda row: (row["fields_bytes"] + row["edits_bytes"] == 0, bool(row["whole"])))


def _without_bytes(program: ir.Program, layouts: Iterable[ClassLayout]) -> frozenset[int]:
    """The instances that neither bring bytes nor take edits in any of the layouts."""
    used = {s.instance for one in layouts for s in one.fields} | {e.instance for one in layouts for e in one.edits}
    return frozenset(range(len(program.parser.instances))) - used


def layout(program: ir.Program, one: ClassLayout) -> Data:
    """The frames of one class number, byte by byte."""
    parser = program.parser
    return {
        "number": one.number,
        "classes": [[parser.instances[i].name for i in parser.classes[c]] for c in members(one.classes)],
        "whole": one.whole and {"reason": one.whole.reason, **place_of(program, one.whole.span)},
        "fields": [
            {"header": _header(program, s.instance), "first": s.first, "length": s.length, "offset": s.offset}
            for s in one.fields
        ],
        "edits": [{"kind": e.kind, "name": e.name, "length": e.length, "offset": e.offset} for e in one.edits],
        "needs": [
            {
                "header": _header(program, need.instance),
                "first": need.low,
                "last": need.high - 1,
                "what": need.what,
                "via": need.via,
                **place_of(program, need.span),
            }
            for need in one.needs
        ],
    }


def _header(program: ir.Program, instance: int) -> str | None:
    return None if instance == PAYLOAD else program.parser.instances[instance].name


# ---------------------------------------------------------------- what is read and written


@dataclass(frozen=True)
class _Row:
    """Bytes of one header that the same line needs for the same reason."""

    fields: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    via: str
    span: Span


def reads(program: ir.Program, found: Layout) -> list[Data]:
    """Each needed byte once, with the line nearest to the top of the NF's own file that needs it."""
    first: dict[tuple[int, int], Need] = {}
    for one in found.classes:
        for need in () if one.whole else one.needs:
            for byte in range(need.low, need.high):
                known = first.setdefault((need.instance, byte), need)
                if _order(program, need) < _order(program, known):
                    first[need.instance, byte] = need
    by_line: dict[tuple[int, str, str, Span], list[int]] = {}
    for (instance, byte), need in sorted(first.items()):
        by_line.setdefault((instance, _not_a_field(program, need), need.via, need.span), []).append(byte)
    read = {(r.node.instance, r.node.field) for r in packet_reads(program) if isinstance(r.node, ir.HeaderField)}
    rows: dict[_Row, list[int]] = {}
    for (instance, what, via, span), numbers in by_line.items():
        named = {first[instance, byte].what for byte in numbers}
        names = (what,) if what else _field_names(program, instance, numbers, read, named)
        rows.setdefault(_Row(names, _ranges(numbers), via, span), []).append(instance)
    order = wire_order(program.parser)
    cells = [(row, header, group) for row, instances in rows.items() for header, group in _together(program, instances)]
    cells.sort(key=lambda cell: (order[cell[2]] if cell[2] != PAYLOAD else len(order) + 1, cell[0].ranges))
    return [
        {
            "header": header,
            "fields": list(row.fields),
            "ranges": [list(r) for r in row.ranges],
            "via": row.via,
            **place_of(program, row.span),
            "text": without_comments(program.sources[row.span.file].line(line(program, row.span))).strip(),
        }
        for row, header, _ in cells
    ]


def _order(program: ir.Program, need: Need) -> tuple[bool, int]:
    return need.span.file != program.file, need.span.start


def _not_a_field(program: ir.Program, need: Need) -> str:
    """What the bytes are needed for, if that is not a field of their header: `payload`, `packet_from(…)`."""
    header = _header(program, need.instance)
    return "" if header is not None and need.what.startswith(f"{header}.") else need.what


def _ranges(numbers: list[int]) -> tuple[tuple[int, int], ...]:
    """Ascending numbers as (first, last) of the runs in them."""
    runs: list[tuple[int, int]] = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1] = (runs[-1][0], n)
        else:
            runs.append((n, n))
    return tuple(runs)


def _field_names(
    program: ir.Program, instance: int, numbers: list[int], read: set[tuple[int, int]], named: set[str]
) -> tuple[str, ...]:
    """The fields that have bits in these bytes and are needed: read somewhere, or named by the needs."""
    held = set(numbers)
    header = program.parser.instances[instance]
    return tuple(
        f.name
        for index, f in enumerate(header.header.fields)
        if ((instance, index) in read or f"{header.name}.{f.name}" in named) and held & set(_bytes_of(f, max(held)))
    )


def _bytes_of(f: ir.Field, last: int) -> range:
    return range(f.offset // 8, last + 1 if f.rest else (f.offset + f.width + 7) // 8)


def _together(program: ir.Program, instances: list[int]) -> list[tuple[str | None, int]]:
    """Names for instances about which the same is said: members of a group, places of a stack; and the first one."""
    names = {i: _header(program, i) for i in instances}
    found: list[tuple[str | None, int]] = []
    left = list(instances)
    for name, group in program.parser.groups.items():
        if set(group) <= set(left):
            found.append((name, group[0]))
            left = [i for i in left if i not in group]
    stacks: dict[str, list[int]] = {}
    for i in left:
        stacks.setdefault(stack_name(names[i] or "") or f"#{i}", []).append(i)
    for stack, places in stacks.items():
        several = names[places[0]]
        if len(places) > 1:
            ends = [(names[i] or "").rpartition("[")[2].rstrip("]") for i in (places[0], places[-1])]
            several = f"{stack}[{ends[0]}..{int(ends[1]) + 1}]"
        found.append((several, places[0]))
    return found


def writes(program: ir.Program, done: Effects) -> list[Data]:
    """Fields that handlers write, with all places; groups' members together."""
    places: dict[tuple[int, int], dict[Span, None]] = {}
    for handler in done.handlers:
        for write in handler.writes:
            places.setdefault((write.instance, write.field), {})[write.span] = None
    rows: dict[tuple[str, int, tuple[Span, ...]], list[int]] = {}
    for (instance, index), spans in places.items():
        f = program.parser.instances[instance].header.fields[index]
        rows.setdefault((f.name, (f.width + 7) // 8, tuple(sorted(spans, key=lambda s: s.start))), []).append(instance)
    order = wire_order(program.parser)
    found = [
        (
            order[first],
            {"header": header, "field": name, "bytes": size, "places": [place_of(program, s) for s in spans]},
        )
        for (name, size, spans), instances in rows.items()
        for header, first in _together(program, instances)
    ]
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def operations(program: ir.Program, done: Effects) -> list[Data]:
    """Pushes, pops and truncations, each with its places."""
    places: dict[str, dict[Span, None]] = {}
    for handler in done.handlers:
        for operation in handler.operations:
            places.setdefault(operation.what, {})[operation.span] = None
    return [{"what": what, "places": [place_of(program, s) for s in spans]} for what, spans in places.items()]


def emits(program: ir.Program, done: Effects) -> list[Data]:
    """Packets that the NF makes: headers, port, places."""
    places: dict[tuple[tuple[str, ...], str], dict[Span, None]] = {}
    for handler in done.handlers:
        for emission in handler.emissions:
            places.setdefault((emission.headers, emission.target), {})[emission.span] = None
    return [
        {"headers": list(headers), "to": target, "places": [place_of(program, s) for s in spans]}
        for (headers, target), spans in places.items()
    ]
