"""Why packets cannot be spread over cores, and what would mend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polysome.analysis.effects import text
from polysome.analysis.shard_keys import SCHEDULE, Context, Use, key_type, normal_of
from polysome.analysis.shard_words import key_text
from polysome.analysis.symbolic import leaves
from polysome.analysis.words import duration, lines_text, place
from polysome.ir import program as ir
from polysome.ir.walk import walk
from polysome.kinds.policy import POLICIES
from polysome.syntax.spans import Span

OWN_COPY = "`per core` gives each core its own copy, if that is what is wanted"


@dataclass(frozen=True)
class Blocker:
    """What keeps packets on one core: `state` (`schedule`, or `every 1s`, for these), where, why, what mends it.

    `state` is declared at `span`; `reason` is a clause about it that names the lines of its uses.
    """

    state: str
    span: Span
    reason: str
    remedy: str


def timer_blockers(program: ir.Program, timers: Sequence[Context]) -> tuple[Blocker, ...]:
    """Timers would run on every core."""
    found = []
    for context in timers:
        name = _timer_name(program, context)
        for use in {u.state: u for u in context.uses}.values():
            reason = f"is used by {name} ({place(program, use.span)}), which belongs to no packet and so to no core"
            found.append(Blocker(use.state, _declared(program, use.state), reason, OWN_COPY))
        if context.emits is not None and not context.uses and not _reads_own(program, context):
            reason = f"emits a packet ({place(program, context.emits)}), and every core would emit one"
            found.append(Blocker(name, context.span, reason, "on one core, it is emitted once"))
    return tuple(found)


def _timer_name(program: ir.Program, context: Context) -> str:
    timer = next((timer for timer in program.timers if timer.span == context.span), None)
    end = next((e for e in program.end_handlers.values() if e.span == context.span), None)
    return f"every {duration(timer.period)}" if timer is not None else f"on end {end.map if end else ''}"


def _reads_own(program: ir.Program, context: Context) -> bool:
    """Does the timer use `per core` state?"""
    timer = next((timer for timer in program.timers if timer.span == context.span), None)
    names = {name for name, decl in program.state.items() if decl.per_core}
    return timer is not None and any(
        getattr(getattr(node, "place", node), "state", getattr(node, "source", None)) in names
        for node in walk(timer.body)
    )


def blockers_of(program: ir.Program, uses: tuple[Use, ...], works: Callable[[set[str]], bool]) -> tuple[Blocker, ...]:
    """Why these uses have no key in common; `works` says whether those of some states alone have one.

    All states that have no key by themselves, or else the first that has none together with those before it.
    """
    states = list(dict.fromkeys(u.state for u in uses))
    alone = [state for state in states if not works({state})]
    if alone:
        return tuple(_alone(program, state, [u for u in uses if u.state == state]) for state in alone)
    together: list[str] = []
    for state in states:
        if not works({*together, state}):
            break
        together.append(state)
    return (_apart(program, state, together, uses),)


def _declared(program: ir.Program, state: str) -> Span:
    return program.schedule.span if state == SCHEDULE else program.state[state].span


def _alone(program: ir.Program, state: str, uses: list[Use]) -> Blocker:
    reason, remedy = _schedule(program) if state == SCHEDULE else _reason(program, state, uses)
    return Blocker(state, _declared(program, state), reason, remedy)


def _schedule(program: ir.Program) -> tuple[str, str]:
    schedule = program.schedule
    shared = POLICIES[schedule.policy].shared
    if shared:
        return f"has {shared} for all packets", "on one core, it is one"
    if "serve" in schedule.options:
        return f"{schedule.policy} serves each port's packets on one link", "on one core, it sees all of them"
    return f"puts all packets into one class, {text(program, schedule.cls.span)}", "a finer class can be spread"


def _reason(program: ir.Program, state: str, uses: list[Use]) -> tuple[str, str]:
    decl = program.state[state]
    whole = next((u for u in uses if not u.keyed), None)
    if isinstance(decl, ir.KindDecl):
        return f"depends on all that is added to it ({lines_text(program, [u.span for u in uses])})", OWN_COPY
    if isinstance(decl, ir.ScalarDecl):
        return f"is shared by all packets ({lines_text(program, [u.span for u in uses])})", OWN_COPY
    if isinstance(decl, ir.PoolDecl) and decl.per is None:
        return f"hands out each value once among all packets ({lines_text(program, [u.span for u in uses])})", OWN_COPY
    if whole is not None:
        return f"is used as a whole ({place(program, whole.span)})", OWN_COPY
    unknown = next((u for u in uses if all(e is None for e in u.parts)), None)
    if unknown is not None:
        key = f"`{unknown.said}`, which" if unknown.said else "what"
        return f"is keyed by {key} is not computed from the packet alone ({place(program, unknown.span)})", OWN_COPY
    return _contradiction(program, state, uses), OWN_COPY


def _contradiction(program: ir.Program, state: str, uses: list[Use]) -> str:
    """Two uses of one map by different keys."""
    forms = normal_of(program)
    for n, one in enumerate(uses):
        for other in uses[n + 1 :]:
            pairs = list(zip(one.parts, other.parts, strict=True))
            same = [
                a is not None and b is not None and forms.of(a, other.mask) == forms.of(b, other.mask) for a, b in pairs
            ]
            if not any(same):
                words = [f"by {key_text(program, u.parts)} ({place(program, u.span)})" for u in (one, other)]
                return f"is used {words[0]} and {words[1]}: no part of these keys is always the same"
    type = key_type(program, state)
    names = [name or "the key" for _, _, name in leaves(type)] if type is not None else []
    where = lines_text(program, [u.span for u in uses])
    return f"has no part of its key ({', '.join(names)}) that all its uses have in common ({where})"


def _apart(program: ir.Program, state: str, others: list[str], uses: tuple[Use, ...]) -> Blocker:
    used = sorted(uses, key=lambda use: use.by_end)
    mine = next(u for u in used if u.state == state)
    theirs = next(u for u in used if u.state in others)
    words = [f"by {key_text(program, u.parts)} ({place(program, u.span)})" for u in (mine, theirs)]
    reason = f"is used {words[0]}, but `{theirs.state}` {words[1]}: these keys have no part in common"
    return Blocker(state, _declared(program, state), reason, OWN_COPY)
