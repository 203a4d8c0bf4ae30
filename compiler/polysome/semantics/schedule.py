"""The schedule and the declared traffic (LANGUAGE.md section 11, L12.14; SCHEDULE.md)."""

from __future__ import annotations

import re
from typing import Any, cast

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import PolicyKind, Settings, WhenFull
from polysome.semantics.clauses import Clauses
from polysome.semantics.context import Shared
from polysome.semantics.expressions import Expressions
from polysome.semantics.scope import NfScope
from polysome.semantics.state import WHEN_FULL
from polysome.semantics.type_resolver import unusable
from polysome.syntax import ast
from polysome.syntax.spans import Span

_OPTIONS = ("class", "serve", "classes", "idle", "buffer", "queue", "when full")
_TERMS = {"bitrate": t.BITRATE, "packetrate": t.PACKETRATE, "bytes": t.BYTES, "u64": t.U64, "duration": t.DURATION}


def schedule(shared: Shared, scope: NfScope, decl: ast.Schedule | None, nf: Span, passing: int) -> ir.Schedule:
    """The NF's schedule; `fifo` by class `flow` if none is declared. `passing`: the parse classes handlers see."""
    cls = Expressions(shared, scope, frozenset(("packet", "class", "config")))
    cls.mask = passing
    if decl is None:
        default = _default_class(cls, nf)
        shared.order_class = default.type
        return ir.Schedule(policy=ir.DEFAULT_POLICY, cls=default, args=(), options={}, span=nf)
    x = Expressions(shared, scope, frozenset(("packet", "config", "state", "now")))
    x.mask = passing
    before = shared.report.count
    clauses = Clauses(x, decl.clauses, (*_OPTIONS, *POLICIES), "the schedule", decl.span)
    kind = _policy(x, clauses, decl.span)
    class_expr = _class(cls, clauses, decl.span)
    shared.order_class = class_expr.type
    options = _options(clauses)
    args, unit = _args(x, clauses, kind)
    options |= {"unit": unit} if unit == "packets" else {}
    options |= _constants(x, clauses, kind)
    problem = kind.problem(settings(options))
    if problem is not None and shared.report.count == before:  # else a clause may only seem to be missing
        shared.report.add(
            "E0701",
            problem,
            clauses.by_name[kind.name].span if kind.name in clauses else decl.span,
            why="Each policy needs its own limits, and takes no others.",
            mend=_mend_policy(problem),
        )
    return ir.Schedule(policy=kind.name, cls=class_expr, args=args, options=options, span=decl.span)


def mend_second(first: ast.Schedule | ast.Traffic, second: ast.Schedule | ast.Traffic) -> str:
    """What to do about a second `schedule` or `traffic`."""
    here, there = ([clause.name.text for clause in each.clauses] for each in (second, first))
    policies = list(dict.fromkeys(name for name in (*there, *here) if name in POLICIES))
    if len(policies) > 1:
        return f"Remove one: `{policies[0]}` and `{policies[1]}` are two policies, and a schedule has one."
    both = [name for name in here if name in there]
    kept = f", but keep only one {', '.join(f'`{name}`' for name in both)}" if both else ""
    return f"Move the clauses of this one into the first{kept}."


def _mend_policy(problem: str) -> str:
    """What to do about what the policy says is wrong."""
    needs = re.match(r"`\w+` needs `([^`]+)`", problem)
    takes = re.match(r"`\w+` takes no `([^`]+)`", problem)
    if needs:
        return f"Add `{needs[1]}" + ("" if " " in needs[1] else " …") + ";`."
    if takes:
        return f"Remove `{takes[1]}`, or choose another policy."
    return "`polysome explain E0701` lists the policies with their clauses."


def settings(options: Any) -> Settings:
    """A schedule's constants as its policy takes them."""
    return Settings(**dict(options))


def _default_class(x: Expressions, span: Span) -> ir.Expr:
    parser = x.shared.parser
    if parser is not None and "flow" in parser.values:
        return ir.PacketValue(span, parser.values["flow"].for_class.type, "flow", True)
    return ir.Const(span, t.U8, 0)


def _class(x: Expressions, clauses: Clauses, span: Span) -> ir.Expr:
    written = clauses.one("class")
    if written is None:
        return _default_class(x, span)
    found = x.value(written)
    if t.width(found.type) is None and not unusable(found.type):
        x.report.add(
            "E0702",
            f"{found.type} cannot be a class",
            written.span,
            why="The switch hashes the class to choose a queue pair: it must have a fixed number of bits.",
            mend="Use `flow`, fields, or a tuple of these.",
        )
    return found


def _policy(x: Expressions, clauses: Clauses, span: Span) -> PolicyKind:
    chosen = [name for name in clauses.by_name if name in POLICIES]
    if len(chosen) > 1:
        x.report.add(
            "E0703",
            "a schedule has one policy",
            clauses.by_name[chosen[1]].span,
            also=[(clauses.by_name[chosen[0]].span, "first policy here")],
            why="Two policies would have to be put in an order, and each would see what the other left.",
            mend="Remove one.",
        )
    return POLICIES[chosen[0] if chosen else ir.DEFAULT_POLICY]


def _options(clauses: Clauses) -> dict[str, int | str]:
    terms = {"serve": "bitrate", "classes": "count", "idle": "duration", "buffer": "bytes", "queue": "bytes"}
    found: dict[str, int | str] = {}
    for name, term in terms.items():
        value = clauses.constant(name, term)
        if value is not None:
            found[name] = value
    when_full = clauses.when_full(WHEN_FULL, required=False)
    if when_full is not None:
        found["when_full"] = cast(WhenFull, when_full)
    return found


def _args(x: Expressions, clauses: Clauses, kind: PolicyKind) -> tuple[tuple[ir.Expr, ...], str]:
    """The policy's run-time values, and whether they count bytes or packets."""
    if not kind.args:
        if not kind.constants and kind.name in clauses and clauses.by_name[kind.name].args:
            _count(x, clauses.by_name[kind.name], 0)
        return (), "bytes"
    clause = clauses.by_name[kind.name]
    if len(clause.args) != len(kind.args):
        _count(x, clause, len(kind.args))
        return (), "bytes"
    nodes = [a.value for a in clause.args]
    if "|" in kind.args[0][1]:
        rate, burst = x.bucket_args(nodes[0], nodes[1])
        return (rate, burst), "packets" if rate.type == t.PACKETRATE else "bytes"
    return tuple(_number(x, n, _TERMS[term]) for n, (_, term) in zip(nodes, kind.args, strict=True)), "bytes"


def _number(x: Expressions, node: ast.Expr, type: t.Type) -> ir.Expr:
    """A value of the policy; integers of any width and quantities of 64 bits may stand for u64."""
    value = x.typed(node, type)
    if type == t.U64 and isinstance(value.type, (t.Bits, t.Enum)) and value.type != t.U64:
        return ir.Cast(value.span, t.U64, value, False)
    return x.coerce(value, type)


def _count(x: Expressions, clause: ast.Clause, wanted: int) -> None:
    x.report.add(
        "E0704",
        f"`{clause.name.text}` takes {wanted} value{'s' if wanted != 1 else ''}, not {len(clause.args)}",
        clause.span,
        why="A policy has just these values; its other limits are clauses of their own.",
        mend=f"Write `{POLICIES[clause.name.text].form};`.",
    )


def _constants(x: Expressions, clauses: Clauses, kind: PolicyKind) -> dict[str, int | str]:
    if not kind.constants:
        return {}
    clause = clauses.by_name[kind.name]
    if len(clause.args) != len(kind.constants):
        _count(x, clause, len(kind.constants))
        return {name: 1 for name, _ in kind.constants}
    found: dict[str, int | str] = {}
    for arg, (name, term) in zip(clause.args, kind.constants, strict=True):
        value = x.constant(arg.value, t.DURATION if term == "duration" else t.U64)
        found[name] = value if value is not None else 1
    return found


def traffic(shared: Shared, scope: NfScope, decl: ast.Traffic) -> ir.Traffic:
    """`traffic { rate R; mean B; flows N; new N per second; }`."""
    x = Expressions(shared, scope, frozenset())
    clauses = Clauses(x, decl.clauses, ("rate", "mean", "flows", "new"), "traffic", decl.span)
    new = clauses.by_name.get("new")
    if new is not None and not (isinstance(new.per, ast.Name) and new.per.text == "second"):
        shared.report.add(
            "E0705",
            "`new` counts flows `per second`",
            new.span,
            why="A rate needs a time.",
            mend="Write for example `new 3M per second;`.",
        )
    return ir.Traffic(
        clauses.constant("rate", "bitrate"),
        clauses.constant("mean", "bytes"),
        clauses.constant("flows", "count"),
        clauses.constant("new", "count"),
    )
