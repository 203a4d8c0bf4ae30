"""What `polysome check` found out about a program, as plain data: what `--json` prints, and the text is made from.

Top level: `nf`, `file`, `ports`, `paths`, `reads`, `writes`, `operations`, `layouts`, `state`,
`handlers`, `verdicts`, `emits`, `schedule`, `cores`.
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
  the policy with `hold` (ns or null) and `formula`. `memory` and `entry_bytes` (null: not whole bytes, or not entries)
  of state are what a native NF takes when it is full, with all that finding and ending entries needs.
- `cores`: `spreads` (several have work), `ports` (each `port`, `key` in words, null: core 0), `per_core` (state),
  `blockers` (each `state`, `reason`, `remedy`, `file`, `line`), `explanation` (sentences).
"""

from __future__ import annotations

from typing import Any

from polysome.analysis.effects import Effects, HandlerEffects, Occurrence, effects, text
from polysome.analysis.layout import layout
from polysome.analysis.relevance import passing
from polysome.analysis.shard_words import expression_text
from polysome.analysis.sharding import sharding
from polysome.analysis.sharding_text import handled, reasons
from polysome.analysis.sizes import schedule_memory, settings
from polysome.backends.nf_cpp.memory import state_size
from polysome.cli import packet_findings as packets
from polysome.cli.packet_findings import place_of
from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined, fold
from polysome.kinds.policy import POLICIES

Data = dict[str, Any]


def findings(program: ir.Program) -> Data:
    """All that is known about the program, ready for `json.dumps`."""
    found, done = layout(program), effects(program)
    return {
        "nf": program.name,
        "file": program.file,
        "ports": list(program.ports),
        "paths": packets.paths(program, found),
        "reads": packets.reads(program, found),
        "writes": packets.writes(program, done),
        "operations": packets.operations(program, done),
        "layouts": [packets.layout(program, one) for one in found.classes],
        "state": [_state(program, decl) for decl in program.state.values()],
        "handlers": [_handler(program, handler) for handler in done.handlers],
        "verdicts": _verdicts(program, done),
        "emits": packets.emits(program, done),
        "schedule": _schedule(program),
        "cores": _cores(program),
    }


def _state(program: ir.Program, decl: ir.AnyState) -> Data:
    size = state_size(program, decl)
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
        "ipv6_bytes": size.ipv6,
        "per_core": decl.per_core,
        "ends": {name: timeout.maximum for name, timeout in ends.items()},
        "computed": [name for name, timeout in ends.items() if not isinstance(timeout.value, ir.Const)],
        "when_full": decl.when_full if isinstance(decl, ir.MapDecl) else None,
        "note": size.note,
        **place_of(program, decl.span),
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
    return {**place_of(program, o.span), "conditional": o.conditional, "times": o.times}


def _handler(program: ir.Program, handler: HandlerEffects) -> Data:
    return {
        "name": handler.name,
        **place_of(program, handler.span),
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
        place = place_of(program, verdict.span)
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
        **place_of(program, schedule.span),
    }


def _class_name(program: ir.Program, cls: ir.Expr) -> str:
    """As the spec says it; the default class stands nowhere in the spec."""
    if isinstance(cls, ir.PacketValue):
        return cls.name
    return "all packets" if isinstance(cls, ir.Const) else text(program, cls.span)


def _cores(program: ir.Program) -> Data:
    found = sharding(program)
    return {
        "spreads": found.spreads,
        "ports": [
            {"port": program.ports[port], "key": None if key is None else expression_text(program, key)}
            for port in handled(program)
            for key in [found.keys[port]]
        ],
        "per_core": list(found.own),
        "blockers": [
            {"state": b.state, "reason": b.reason, "remedy": b.remedy, **place_of(program, b.span)}
            for b in found.blockers
        ],
        "explanation": reasons(program),
    }
