"""The results of the analyses as text, one thing per line: what `--print-after` shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from polysome.analysis.effects import Access, HandlerEffects, Occurrence, effects
from polysome.analysis.layout import ClassLayout, layout
from polysome.analysis.patterns import patterns, words
from polysome.analysis.relevance import MOST, PAYLOAD, Need, passing, relevance
from polysome.analysis.words import place
from polysome.ir import program as ir


def show_relevance(program: ir.Program) -> str:
    """Per group of parse classes its needs, each with the line and the reason."""
    found = relevance(program)
    lines: list[str] = []
    for group in found.groups:
        lines += _classes(program, group.classes)
        lines += [f"  {_need(program, need)}" for need in group.needs]
    if found.whole:
        lines += ["whole:", *(f"  {line}" for line in _classes(program, found.whole))]
    return "\n".join(lines) + "\n"


def show_effects(program: ir.Program) -> str:
    """Per handler what it does to state, then its verdicts and the rest, each in program order."""
    found = effects(program)
    lines: list[str] = []
    for handler in found.handlers:
        lines += _handler(program, handler)
    if found.lacking is not None:
        what = f"{found.lacking.kind} {found.lacking.what}".strip()
        lines.append(f"packets that handlers do not see: {what}, {place(program, found.lacking.span)}")
    return "\n".join(lines) + "\n"


def show_layout(program: ir.Program) -> str:
    """Per class number the parse classes and the two frames, byte by byte."""
    lines: list[str] = []
    for one in layout(program).classes:
        lines += _layout(program, one)
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- parts


def _classes(program: ir.Program, mask: int) -> list[str]:
    """Patterns, and how many classes there are."""
    shown = [words(p, program.parser) for p in patterns(mask, passing(program), program.parser)]
    count = mask.bit_count()
    return [*shown[:-1], f"{shown[-1]}: {count} class{'es' if count > 1 else ''}"]


def _header(program: ir.Program, instance: int) -> str:
    return "payload" if instance == PAYLOAD else program.parser.instances[instance].name


def _bytes(first: int, end: int) -> str:
    if end >= MOST:
        return f"{first}..."
    return str(first) if end - first == 1 else f"{first}-{end - 1}"


def _need(program: ir.Program, need: Need) -> str:
    return (
        f"{_header(program, need.instance)} {_bytes(need.low, need.high)}: {need.reason}, {place(program, need.span)}"
    )


def _handler(program: ir.Program, handler: HandlerEffects) -> Iterator[str]:
    yield f"{handler.name}:"
    for access in handler.accesses:
        yield f"  {_access(access)}{_how(program, access)}"
    for emission in handler.emissions:
        yield f"  emit {', '.join(emission.headers)} to {emission.target}{_how(program, emission)}"
    for write in handler.writes:
        header = program.parser.instances[write.instance]
        yield f"  write {header.name}.{header.header.fields[write.field].name}{_how(program, write)}"
    for operation in handler.operations:
        yield f"  {operation.what}{_how(program, operation)}"
    for verdict in handler.verdicts:
        yield f"  {verdict.kind} {verdict.what}".rstrip() + _how(program, verdict)


def _access(access: Access) -> str:
    where = f"{access.state}.{access.index}" if access.index else access.state
    key = f"[{access.key}]" if access.key else ""
    return (
        f"{access.action} {'config ' if access.table else ''}{where}{key}{' and refresh' if access.refreshes else ''}"
    )


def _how(program: ir.Program, what: Occurrence) -> str:
    times = "" if what.times == 1 else ", any number of times" if what.times is None else f", {what.times} times"
    return f": {place(program, what.span)}{', conditional' if what.conditional else ''}{times}"


def _layout(program: ir.Program, one: ClassLayout) -> Iterable[str]:
    yield f"{'whole' if one.number is None else f'class {one.number}'}:"
    for line in _classes(program, one.classes):
        yield f"  {line}"
    if one.whole is not None:
        yield f"  {one.whole.reason}, {place(program, one.whole.span)}"
        return
    yield f"  fields, {one.fields_size} B"
    for s in one.fields:
        yield f"    {s.offset}: {_header(program, s.instance)} {_bytes(s.first, s.first + s.length)}"
    yield f"  edits, {one.edits_size} B"
    for edit in one.edits:
        yield f"    {edit.offset}: {edit.name}, {edit.length} B"
    if len(one.shapes) > 1:
        for number, shape in enumerate(one.shapes):
            yield f"  shape {number}: operations {', '.join(map(str, shape)) or 'none'}"
