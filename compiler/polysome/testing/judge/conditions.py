"""Conditions taken apart: conjuncts, alternatives, and the names that an expression depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t

MOST = 12  # alternatives that a condition is taken apart into
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", "<=": ">", ">": "<="}
SWAPPED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def children(node: ir.Node) -> Iterator[ir.Node]:
    """The nodes directly inside a node."""
    for name in _names(node):
        yield from _nodes(getattr(node, name))


def _nodes(value: Any) -> Iterator[ir.Node]:
    if isinstance(value, ir.Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)


_NAMES: dict[str, tuple[str, ...]] = {}  # of the members of each class of nodes


def _names(node: ir.Node) -> tuple[str, ...]:
    found = _NAMES.get(type(node).__name__)
    if found is None:
        members = fields(node)
        found = _NAMES[type(node).__name__] = tuple(f.name for f in members if f.name not in ("span", "type"))
    return found


def free(e: ir.Node) -> frozenset[int]:
    """The slots that the value of `e` depends on. What is said inside `Seen` is about its packet only."""
    match e:
        case ir.Local(slot=slot):
            return frozenset((slot,))
        case pr.Seen(packet=packet):
            return free(packet)
        case ir.LetIn(slot=slot, value=value, body=body):
            return free(value) | free(body) - {slot}
        case pr.Quantified(slot=slot, domain=domain, condition=condition):
            return free(domain) | free(condition) - {slot}
        case pr.Aggregate(slot=slot, domain=domain, where=where, value=value):
            inside = frozenset().union(*(free(part) for part in (where, value) if part is not None))
            return free(domain) | inside - {slot}
        case _:
            return frozenset().union(*map(free, children(e)))


def conjuncts(e: ir.Expr | None, negated: bool = False) -> list[ir.Expr]:
    """Conditions that together are `e`, or with `negated` `not e`; an undefined condition is false."""
    match e:
        case None:
            return []
        case ir.Const(value=value):
            return [] if bool(value) != negated else [e if not negated else replace(e, value=False)]
        case ir.Binary(op=("and" | "or") as op, left=left, right=right) if (op == "or") == negated:
            return [*conjuncts(left, negated), *conjuncts(right, negated)]
        case ir.Unary(op="not", operand=operand):
            return conjuncts(operand, not negated)
        case pr.Quantified() if negated and e.kind == "forall":
            turned = ir.Unary(e.span, t.BOOL, "not", e.condition)
            return [replace(e, kind="exists", condition=turned)]
        case _:
            return [opposite(e) if negated else e]


def alternatives(e: ir.Expr, negated: bool = False) -> list[list[ir.Expr]]:
    """Lists of conjuncts, one of which holds if and only if `e` (or `not e`) does."""
    found: list[list[ir.Expr]] = [[]]
    for one in conjuncts(e, negated):
        parts = _either(one)
        if len(parts) * len(found) > MOST:
            parts = [[one]]
        found = [[*a, *b] for a in found for b in parts]
    return found


def _either(e: ir.Expr) -> list[list[ir.Expr]]:
    """The alternatives of one conjunct."""
    match e:
        case ir.Binary(op="or", left=left, right=right):
            return [*alternatives(left), *alternatives(right)]
        case ir.Unary(op="not", operand=ir.Binary(op="and", left=left, right=right)):
            return [*alternatives(left, True), *alternatives(right, True)]
        case _:
            return [[e]]


def opposite(e: ir.Expr) -> ir.Expr:
    """`not e`; as a comparison the other way round where neither side can be undefined."""
    if isinstance(e, ir.Binary) and e.op in _OPPOSITE and always(e.left) and always(e.right):
        return replace(e, op=_OPPOSITE[e.op])
    return ir.Unary(e.span, t.BOOL, "not", e)


def always(e: ir.Expr) -> bool:
    """Is it known that `e` is defined? Only what orders packets is looked at."""
    match e:
        case ir.Const():
            return not isinstance(e.type, pr.Outputs)
        case pr.Attribute(packet=ir.Local(), name="at" | "number" | "sent" | "dropped" | "held"):
            return True
        case ir.Local(type=pr.Packet()):
            return True
        case ir.Binary(op="+" | "-", left=left, right=right):
            return always(left) and always(right)
        case _:
            return False


def parts(e: ir.Expr) -> Iterator[ir.Expr]:
    """The expressions directly inside `e` that are about the same names: not those of a quantifier, `let` or packet."""
    match e:
        case pr.Seen() | ir.Local() | ir.Const():
            return
        case ir.LetIn(value=value):
            yield value
        case pr.Quantified(domain=domain) | pr.Aggregate(domain=domain):
            if domain.source is not None:
                yield domain.source
        case pr.Snapshot(read=read):
            yield from (child for child in children(read) if isinstance(child, ir.Expr))
        case _:
            for child in children(e):
                if isinstance(child, ir.Expr):
                    yield child
                else:
                    yield from (inner for inner in children(child) if isinstance(inner, ir.Expr))
