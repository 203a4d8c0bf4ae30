"""What `polysome check` found out about a program, as plain data: what `--json` prints, and the text is made from.

Top level: `nf`, `file`, `ports`, `paths`, `reads`, `writes`, `operations`, `layouts`, `state`,
`handlers`, `verdicts`, `emits`, `schedule`.
Sizes are bytes, times nanoseconds; `line` counts from 1, in `file`. Keys are only ever added.

- `paths`: kinds of packets that handlers see, those with equal frames together: `headers` (a pattern), `classes` (how
  many parse classes), `numbers`, `fields_bytes`, `edits_bytes`, `fields_frame`, `edits_frame` (bytes of these frames),
  `fits` (both are of the minimum size), `whole` (null, or `reason`, `file`, `line`).
- `reads`: bytes that reach the NF: `header`, `fields`, `ranges` ([first, last]), `via` (the parser value, or what makes
  the bytes necessary, else ""), `file`, `line`, `text` (of that line): the first line that needs them.
- `writes`: `header`, `field`, `bytes`, `places` (each `file`, `line`); `operations`: pushes, pops and truncations in
  words, with `places`; `emits`: `headers`, `to`, `places`.
- `layouts`: per class number: `number`, `classes` (each a list of headers), `whole`, `fields` (`header` or null for the
  payload, `first`, `length`, `offset`), `edits` (`kind`, `name`, `length`, `offset`), `needs`.
- `state`, `handlers`, `verdicts`, `schedule`: declarations with their memory, effects in program order, verdicts, and
  the policy with `hold` (ns or null) and `formula`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from polysome.analysis.effects import Effects, HandlerEffects, Occurrence, effects, text
from polysome.analysis.layout import WIRE, ClassLayout, Layout, Whole, layout
from polysome.analysis.patterns import patterns, stack_name, wire_order, words
from polysome.analysis.relevance import PAYLOAD, Need, members, packet_reads, passing
from polysome.analysis.sizes import schedule_memory, settings, state_size
from polysome.analysis.words import line, without_comments
from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.kinds.policy import POLICIES
from polysome.syntax.spans import Span

Data = dict[str, Any]


def findings(program: ir.Program) -> Data:
    """All that is known about the program, ready for `json.dumps`."""
    found, done = layout(program), effects(program)
    return {
        "nf": program.name,
        "file": program.file,
        "ports": list(program.ports),
        "paths": _paths(program, found),
        "reads": _reads(program, found),
        "writes": _writes(program, done),
        "operations": _operations(program, done),
        "layouts": [_layout(program, one) for one in found.classes],
        "state": [_state(program, decl) for decl in program.state.values()],
        "handlers": [_handler(program, handler) for handler in done.handlers],
        "verdicts": _verdicts(program, done),
        "emits": _emits(program, done),
        "schedule": _schedule(program),
    }


def _place(program: ir.Program, span: Span) -> Data:
    return {"file": span.file, "line": line(program, span)}


# ---------------------------------------------------------------- packets


def _paths(program: ir.Program, found: Layout) -> list[Data]:
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
                    "edits_frame": WIRE.frame(edits),
                    "fits": whole is None and max(fields, edits) <= WIRE.room,
                    "whole": whole and {"reason": whole.reason, **_place(program, whole.span)},
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


def _layout(program: ir.Program, one: ClassLayout) -> Data:
    parser = program.parser
    return {
        "number": one.number,
        "classes": [[parser.instances[i].name for i in parser.classes[c]] for c in members(one.classes)],
        "whole": one.whole and {"reason": one.whole.reason, **_place(program, one.whole.span)},
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
                **_place(program, need.span),
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


def _reads(program: ir.Program, found: Layout) -> list[Data]:
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
            **_place(program, row.span),
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


def _writes(program: ir.Program, done: Effects) -> list[Data]:
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
        (order[first], {"header": header, "field": name, "bytes": size, "places": [_place(program, s) for s in spans]})
        for (name, size, spans), instances in rows.items()
        for header, first in _together(program, instances)
    ]
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def _operations(program: ir.Program, done: Effects) -> list[Data]:
    """Pushes, pops and truncations, each with its places."""
    places: dict[str, dict[Span, None]] = {}
    for handler in done.handlers:
        for operation in handler.operations:
            places.setdefault(operation.what, {})[operation.span] = None
    return [{"what": what, "places": [_place(program, s) for s in spans]} for what, spans in places.items()]


def _emits(program: ir.Program, done: Effects) -> list[Data]:
    """Packets that the NF makes: headers, port, places."""
    places: dict[tuple[tuple[str, ...], str], dict[Span, None]] = {}
    for handler in done.handlers:
        for emission in handler.emissions:
            places.setdefault((emission.headers, emission.target), {})[emission.span] = None
    return [
        {"headers": list(headers), "to": target, "places": [_place(program, s) for s in spans]}
        for (headers, target), spans in places.items()
    ]


# ---------------------------------------------------------------- state, effects, schedule


def _state(program: ir.Program, decl: ir.AnyState) -> Data:
    size = state_size(decl)
    ends: dict[str, ir.Timeout] = {}
    if isinstance(decl, ir.MapDecl):
        ends = {name: timeout for name, timeout in (("idle", decl.idle), ("age", decl.age)) if timeout is not None}
    return {
        "name": decl.name,
        "kind": _kind(decl),
        "entries": size.entries,
        "per": list(size.per),
        "entry_bytes": size.entry,
        "memory": size.memory,
        "per_core": decl.per_core,
        "ends": {name: timeout.maximum for name, timeout in ends.items()},
        "computed": [name for name, timeout in ends.items() if not isinstance(timeout.value, ir.Const)],
        "when_full": decl.when_full if isinstance(decl, ir.MapDecl) else None,
        "note": size.note,
        **_place(program, decl.span),
    }


def _kind(decl: ir.AnyState) -> str:
    """The type as it would be declared."""
    match decl:
        case ir.MapDecl(key=key, value=value):
            return f"set<{key}>" if value is None else f"map<{key}, {value}>"
        case ir.PoolDecl(item=item):
            return f"pool<{item}>"
        case ir.ArrayDecl(item=item, size=length):
            return f"array<{item}>[{length}]"
        case ir.KindDecl(kind=kind, params=params):
            return f"{kind}<{', '.join(map(str, params))}>"
        case ir.ScalarDecl(type=type):
            return str(type)


def _occurrence(program: ir.Program, o: Occurrence) -> Data:
    return {**_place(program, o.span), "conditional": o.conditional, "times": o.times}


def _handler(program: ir.Program, handler: HandlerEffects) -> Data:
    return {
        "name": handler.name,
        **_place(program, handler.span),
        "accesses": [
            {
                "action": a.action,
                "config" if a.table else "state": a.state,
                "key": a.key,
                "index": a.index,
                "refreshes": a.refreshes,
                **_occurrence(program, a),
            }
            for a in handler.accesses
        ],
        "verdicts": [{"kind": v.kind, "what": v.what, **_occurrence(program, v)} for v in handler.verdicts],
        "emits": [{"headers": list(e.headers), "to": e.target, **_occurrence(program, e)} for e in handler.emissions],
    }


def _verdicts(program: ir.Program, done: Effects) -> list[Data]:
    """Each verdict once, with all its places; sends first. `lacking`: what packets get that handlers do not see."""
    rows: dict[tuple[str, str, bool], list[Data]] = {}
    found = [(v, False) for handler in done.handlers for v in handler.verdicts]
    if done.lacking is not None and passing(program) != program.parser.all_classes:
        found.append((done.lacking, True))
    for verdict, lacking in found:
        places = rows.setdefault((verdict.kind, verdict.what, lacking), [])
        place = _place(program, verdict.span)
        if place not in places:
            places.append(place)
    order = {"send": 0, "bounce": 1, "drop": 2}
    listed = [{"kind": k, "what": w, "lacking": lacking, "places": p} for (k, w, lacking), p in rows.items()]
    return sorted(listed, key=lambda row: order[str(row["kind"])])


def _schedule(program: ir.Program) -> Data:
    schedule = program.schedule
    try:
        args: tuple[int, ...] | None = tuple(int(fold(a)) for a in schedule.args)
    except (NotConstant, Undefined):
        args = None
    hold, formula = POLICIES[schedule.policy].hold_bound(settings(schedule), args)
    return {
        "policy": schedule.policy,
        "class": _class_name(program, schedule.cls),
        "args": [text(program, a.span) for a in schedule.args],
        "options": dict(schedule.options),
        "hold": hold,
        "formula": formula,
        "memory": schedule_memory(schedule),
        **_place(program, schedule.span),
    }


def _class_name(program: ir.Program, cls: ir.Expr) -> str:
    """As the spec says it; the default class stands nowhere in the spec."""
    if isinstance(cls, ir.PacketValue):
        return cls.name
    return "all packets" if isinstance(cls, ir.Const) else text(program, cls.span)
