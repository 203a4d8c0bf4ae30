"""What is allowed, but hardly meant."""

from __future__ import annotations

import re

from polysome.analysis.effects import Effects
from polysome.analysis.words import duration, exact_duration, without_comments
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.kinds.state.token_bucket import SCALE
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span


def warn(program: ir.Program, effects: Effects, report: Report) -> None:
    """Add all warnings on a program that has no errors."""
    _unused_names(program, report)
    _unused_state(program, effects, report)
    _short_idle(program, report)


# ---------------------------------------------------------------- W0201, W0501


def _unused_names(program: ir.Program, report: Report) -> None:
    """W0201: a param or config item that the NF's own file never mentions again.

    Params are constants in the typed program, so the words of the file are looked at: this may miss one whose name has
    another meaning too, but never warns about one that is used. A block may have taken its value (L1.10).
    """
    taken = {name.rpartition(".")[2] for name in program.params if "." in name}
    source = without_comments(program.sources[program.file].text, strings=False)
    declared = re.compile(r"\b(param|config)\s+([A-Za-z_]\w*)\s*:")
    for found in declared.finditer(source, program.span.start, program.span.end):
        kind, name = found[1], found[2]
        if len(re.findall(rf"\b{name}\b", source)) == 1 and name not in {"seed", *taken}:
            report.add(
                "W0201",
                f"{kind} `{name}` is never used",
                Span(program.file, found.start(2), found.end(2)),
                why="Who deploys the NF would give a value that changes nothing.",
                mend="Remove it, or use it.",
            )


def _unused_state(program: ir.Program, effects: Effects, report: Report) -> None:
    """W0501. State of a block is left out: who uses a block need not use all of it."""
    used = {access.state for handler in effects.handlers for access in handler.accesses if not access.table}
    for name, decl in program.state.items():
        if name not in used and "." not in name:
            report.add(
                "W0501",
                f"state `{name}` is never used",
                Span(decl.span.file, decl.span.start, decl.span.start + len(name)),  # it begins with its name
                why="No handler, and no action that a handler calls, reads or writes it, but its memory is reserved.",
                mend="Remove it.",
            )


# ---------------------------------------------------------------- W0701


def _short_idle(program: ir.Program, report: Report) -> None:
    """W0701: what a token bucket belongs to is forgotten before the bucket could be full again."""
    schedule = program.schedule
    idle = schedule.options.get("idle")
    if isinstance(idle, int) and len(schedule.args) == 2:
        fill = _fill_time(schedule.args[0], schedule.args[1], str(schedule.options.get("unit", "bytes")))
        if fill is not None and idle < fill:
            _too_short(report, schedule.span, "a class", idle, fill)
    for decl in program.state.values():
        if isinstance(decl, ir.MapDecl) and decl.idle is not None and decl.value is not None:
            idle = _constant(decl.idle.value)
            fill = max((_fill_time(b.rate, b.burst, b.unit) or 0 for b in _buckets(decl.value)), default=0)
            if idle is not None and idle < fill:
                _too_short(report, decl.span, f"an entry of `{decl.name}`", idle, fill)


def _too_short(report: Report, span: Span, what: str, idle: int, fill: int) -> None:
    report.add(
        "W0701",
        f"`idle` is {exact_duration(idle)}, but a bucket takes {duration(fill)} to fill",
        span,
        why=f"If {what} is forgotten before its bucket is full, its next packet finds a new one, which is full: "
        "pausing gives more than the rate allows.",
        mend=f"Let `idle` be at least burst / rate: `idle {_rounded_up(fill)};`.",
    )


def _rounded_up(ns: int) -> str:
    for unit, scale in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if ns >= scale:
            return f"{-(-ns // scale)}{unit}"
    return f"{ns}ns"


def _fill_time(rate: object, burst: object, unit: str) -> int | None:
    """ns until an empty bucket is full; None if that is only known at run time."""
    amount, per_second = _constant(burst), _constant(rate)
    return -(-amount * SCALE[unit] // per_second) if amount is not None and per_second else None


def _constant(e: object) -> int | None:
    try:
        return int(fold(e)) if isinstance(e, ir.Expr) else None
    except (NotConstant, Undefined):
        return None


def _buckets(type: t.Type) -> list[t.Bucket]:
    match type:
        case t.Bucket():
            return [type]
        case t.Struct(_, fields):
            return [b for _, f in fields for b in _buckets(f)]
        case t.Tuple(items):
            return [b for i in items for b in _buckets(i)]
        case _:
            return []
