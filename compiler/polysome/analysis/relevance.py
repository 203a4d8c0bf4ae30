"""Relevance: which bytes of a packet each parse class needs, and the first line that needs them (DESIGN section 5).

Also checks the contract that `relevant` states (LANGUAGE.md section 6): reading anything not listed is E0805, a
listed byte that nothing reads is W0801.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import PacketRead, reads_of, statement_reads
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span

PAYLOAD = -1  # the "instance" of payload bytes
MOST = 1 << 16  # "to the end" of payload and packet


@dataclass(frozen=True)
class Need:
    """Bytes `low` to `high` (excluded) of a header instance or PAYLOAD, needed first by `reason` at `span`."""

    instance: int
    low: int
    high: int
    reason: str
    span: Span


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
    reads = list(packet_reads(program))
    parser = program.parser
    passing = program.contract.passing if program.contract else parser.all_classes
    whole = 0
    by_needs: dict[tuple[Need, ...], int] = {}
    for c in range(len(parser.classes)):
        if not passing >> c & 1:
            continue
        needs: dict[tuple[int, int], Need] = {}
        for read in reads:
            if read.classes >> c & 1:
                for need in needs_of(read, parser):
                    if need.high >= MOST:
                        whole |= 1 << c
                    needs.setdefault((need.instance, need.low), need)
        order = {i: n for n, i in enumerate(parser.classes[c])}
        key = tuple(sorted(needs.values(), key=lambda n: (order.get(n.instance, MOST), n.low)))
        by_needs[key] = by_needs.get(key, 0) | 1 << c
    return Relevance(tuple(ClassRelevance(m, n) for n, m in by_needs.items()), whole)


def packet_reads(program: ir.Program) -> Iterator[PacketRead]:
    """Every read of the packet by handlers, the schedule's class and its policy."""
    parser = program.parser
    passing = program.contract.passing if program.contract else parser.all_classes
    for handler in program.packet_handlers:
        yield from statement_reads(handler.body, passing, parser)
    schedule = program.schedule
    if schedule.policy != "fifo" or schedule.options:
        yield from reads_of(schedule.cls, passing, parser)  # a plain fifo's class is the switch's business alone
    for e in schedule.args:
        yield from reads_of(e, passing, parser)


def needs_of(read: PacketRead, parser: ir.Parser) -> list[Need]:
    """The bytes of one read."""
    node = read.node
    match node:
        case ir.HeaderField(instance=i, field=index):
            header = parser.instances[i].header
            f = header.fields[index]
            reason = f"{parser.instances[i].name}.{f.name}"
            if read.via:
                reason += f" (for {read.via})"
            return [Need(i, b, b + 1, reason, read.span) for b in range(f.offset // 8, (f.offset + f.width + 7) // 8)]
        case ir.RestBytes(instance=i, field=index, low=low, high=high):
            header = parser.instances[i].header
            reason = f"{parser.instances[i].name}.{header.fields[index].name}"
            if low is None or high is None:
                return [] if node.type == t.BYTES else [Need(i, header.fixed, MOST, reason, read.span)]
            return [Need(i, header.fixed + low, header.fixed + high, reason, read.span)]
        case ir.PayloadBytes(low=low, high=high):
            return [Need(PAYLOAD, low, MOST if high is None else high, "payload", read.span)]
        case ir.PacketFrom(instance=i, limit=limit):
            return [Need(i, 0, limit, f"packet_from({parser.instances[i].name}, {limit}B)", read.span)]
        case _:
            return []  # len, payload.len and the port come with every packet


# ---------------------------------------------------------------- the contract


def always_relevant(parser: ir.Parser) -> set[tuple[int, int]]:
    """Fields that make the class: what the parser selects on, and what says whether and how far a header goes."""
    found: set[tuple[int, int]] = set()
    for node in parser.nodes:
        for e in (*node.keys, *(c for c, _ in node.hooks if c is not None)):
            found |= _fields(e, parser)
    for instance in parser.instances:
        for rule in (instance.header.size, instance.header.valid, instance.header.end):
            if rule is not None:
                found |= _fields(rule, parser)
    return found


def _fields(e: ir.Expr, parser: ir.Parser) -> set[tuple[int, int]]:
    every = (1 << max(1, len(parser.classes))) - 1
    free = ir.Parser(parser.name, parser.instances, (), (), (every,) * len(parser.instances), {}, parser.values)
    return {
        (r.node.instance, r.node.field) for r in reads_of(e, every, free) if isinstance(r.node, ir.HeaderField)
    }


def check_contract(program: ir.Program, report: Report) -> None:
    """E0805 for every read that `relevant` does not list; W0801 for what it lists and nothing reads."""
    contract = program.contract
    if contract is None:
        return
    always = always_relevant(program.parser)
    reads = list(packet_reads(program))
    for read in reads:
        missing = read.classes & ~contract.packet & ~_listed(read, contract, always)
        if missing:
            _not_listed(read, program, report)
    _unread(program, contract, reads, report)


def _listed(read: PacketRead, contract: ir.Contract, always: set[tuple[int, int]]) -> int:
    """The parse classes for which the read is listed."""
    node, found = read.node, 0
    match node:
        case ir.HeaderField(instance=i, field=f) | ir.RestBytes(instance=i, field=f):
            if (i, f) in always or node.type == t.BYTES and isinstance(node, ir.RestBytes):
                return read.classes
            for instance, index, classes, _ in contract.fields:
                if (instance, index) == (i, f):
                    found |= classes
        case ir.PayloadBytes(low=low, high=high):
            last = MOST if high is None else high
            for a, b, classes, _ in contract.payload:
                if a <= low and last <= b:
                    found |= classes
        case ir.PacketFrom(instance=i, limit=limit):
            for instance, a, b, classes, _ in contract.spans:
                if instance == i and a == 0 and limit <= b:
                    found |= classes
        case _:
            return read.classes
    return found


def _not_listed(read: PacketRead, program: ir.Program, report: Report) -> None:
    needs = needs_of(read, program.parser)
    what = needs[0].reason if needs else "this"
    low, high = (needs[0].low, needs[-1].high) if needs else (0, 0)
    where = "the payload" if needs and needs[0].instance == PAYLOAD else program.parser.instances[needs[0].instance].name
    last = "the end" if high >= MOST else str(high - 1)
    span = f"byte {low}" if high - low == 1 else f"bytes {low} to {last}"
    contract = program.contract
    report.add(
        "E0805",
        f"`{what}` is read, but `relevant` does not list it",
        read.span,
        label=f"needs {span} of {where}",
        also=[(contract.span, "the contract")] if contract and contract.span else [],
        why="The NF server receives only what `relevant` lists; every other byte stays parked.",
        mend=f"Add `{what.split(' (')[0]}` to `relevant`, or do not read it.",
    )


def _unread(program: ir.Program, contract: ir.Contract, reads: list[PacketRead], report: Report) -> None:
    """W0801: a listed item of which nothing is read."""
    used = {(n.instance, n.low) for r in reads for n in needs_of(r, program.parser)}
    written = _listed_items(program, contract)
    for span, (name, needed) in written.items():
        if not any(key in used for key in needed):
            report.add(
                "W0801",
                f"`{name}` is declared relevant, but nothing reads it",
                span,
                why="Its bytes would travel to the NF server for nothing.",
                mend="Remove it from `relevant`.",
            )


def _listed_items(program: ir.Program, contract: ir.Contract) -> dict[Span, tuple[str, set[tuple[int, int]]]]:
    """Per item of `relevant`: its text and the bytes it lists."""
    items: dict[Span, tuple[str, set[tuple[int, int]]]] = {}
    for i, f, _, span in contract.fields:
        field = program.parser.instances[i].header.fields[f]
        text = program.sources[span.file].text[span.start : span.end]
        first = field.offset // 8
        keys = {(i, b) for b in range(first, max(first + 1, (field.offset + field.width + 7) // 8))}
        items.setdefault(span, (text, set()))[1].update(keys)
    for low, high, _, span in contract.payload:
        text = program.sources[span.file].text[span.start : span.end]
        items.setdefault(span, (text, set()))[1].update((PAYLOAD, b) for b in range(low, high))
    return items
