"""The contract that `relevant` states (LANGUAGE.md section 6), checked against what the program reads.

Reading anything not listed is E0805; a listed byte that nothing reads is W0801.
"""

from __future__ import annotations

from polysome.analysis.relevance import MOST, PAYLOAD, fields_of, needs_of, packet_reads
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.reads import PacketRead
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span


def always_relevant(parser: ir.Parser) -> set[tuple[int, int]]:
    """Fields that make the class: what the parser selects on, and what says whether and how far a header goes."""
    found: set[tuple[int, int]] = set()
    for node in parser.nodes:
        for e in (*node.keys, *(c for c, _ in node.hooks if c is not None)):
            found |= fields_of(e, parser)
    for instance in parser.instances:
        for rule in (instance.header.size, instance.header.valid, instance.header.end):
            if rule is not None:
                found |= fields_of(rule, parser)
    return found


def check_contract(program: ir.Program, report: Report) -> None:
    """E0805 for every read that `relevant` does not list; W0801 for what it lists and nothing reads."""
    contract = program.contract
    if contract is None:
        return
    always = always_relevant(program.parser)
    reads = list(packet_reads(program))
    for read in reads:
        missing = read.classes & ~contract.packet & ~_listed(read, contract, program.parser, always)
        if missing:
            _not_listed(read, program, report)
    _unread(program, contract, reads, report)


def _listed(read: PacketRead, contract: ir.Contract, parser: ir.Parser, always: set[tuple[int, int]]) -> int:
    """The parse classes for which the read is listed."""
    node, found = read.node, 0
    match node:
        case ir.HeaderField(instance=i, field=f) | ir.RestBytes(instance=i, field=f):
            if (i, f) in always or (node.type == t.BYTES and isinstance(node, ir.RestBytes)):
                return read.classes
            for instance, index, classes, _ in contract.fields:
                if (instance, index) == (i, f):
                    found |= classes
            needs = needs_of(read, parser)
            return found | (_covered(contract, i, needs[0].low, needs[-1].high) if needs else 0)
        case ir.PayloadBytes(low=low, high=high):
            ranges = [(a, b, classes) for a, b, classes, _ in contract.payload]
            return _covering(ranges, low, MOST if high is None else high)
        case ir.PacketFrom(instance=i, limit=limit):
            return _covered(contract, i, 0, limit)
        case _:
            return read.classes


def _covered(contract: ir.Contract, instance: int, low: int, high: int) -> int:
    """The classes for which items `h[a..b]` list all of the bytes `low` to `high` from the beginning of header h."""
    return _covering([(a, b, classes) for i, a, b, classes, _ in contract.spans if i == instance], low, high)


def _covering(ranges: list[tuple[int, int, int]], low: int, high: int) -> int:
    """The classes for which ranges (from, to, classes) together cover the bytes `low` to `high`."""
    edges = sorted({low, *(e for a, b, _ in ranges for e in (a, b) if low < e < high)})
    found = -1
    for edge in edges:
        here = 0
        for a, b, classes in ranges:
            if a <= edge < b:
                here |= classes
        found &= here
    return found


def _not_listed(read: PacketRead, program: ir.Program, report: Report) -> None:
    needs = needs_of(read, program.parser)
    what = needs[0].reason if needs else "this"
    low, high = (needs[0].low, needs[-1].high) if needs else (0, 0)
    where = (
        "the payload" if needs and needs[0].instance == PAYLOAD else program.parser.instances[needs[0].instance].name
    )
    last = "the end" if high >= MOST else str(high - 1)
    span = f"byte {low}" if high - low == 1 else f"bytes {low} to {last}"
    field, _, value = what.partition(" (for ")
    item = value.removesuffix(")") or field
    if needs and needs[0].instance == PAYLOAD:
        item = f"payload[{low}..{high}]" if high < MOST else "packet"
    contract = program.contract
    report.add(
        "E0805",
        f"`{item}` reads `{field}`, but `relevant` does not list it"
        if value
        else f"`{what}` is read, but `relevant` does not list it",
        read.span,
        label=f"needs {span} of {where}",
        also=[(contract.span, "the contract")] if contract and contract.span else [],
        why="The NF server receives only what `relevant` lists; every other byte stays parked.",
        mend=f"Add `{item}` to `relevant`, or do not read it.",
    )


def _unread(program: ir.Program, contract: ir.Contract, reads: list[PacketRead], report: Report) -> None:
    """W0801: a listed item of which nothing is read."""
    used = {(n.instance, b) for r in reads for n in needs_of(r, program.parser) for b in range(n.low, n.high)}
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
    for i, low, high, _, span in contract.spans:
        text = program.sources[span.file].text[span.start : span.end]
        items.setdefault(span, (text, set()))[1].update((i, b) for b in range(low, high))
    return items
