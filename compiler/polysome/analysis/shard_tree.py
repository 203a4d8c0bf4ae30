"""Shard keys: one expression of a packet's uses of state, with conditions where they depend on the packet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polysome.analysis.shard_keys import Guard, Use, normal_of
from polysome.analysis.shard_words import shortest
from polysome.analysis.symbolic import rebuilt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.classes import split
from polysome.ir.fold import zero


def key_tree(program: ir.Program, uses: Sequence[Use], members: Mapping[str, tuple[int, ...]]) -> ir.Expr | None:
    """The tuple that all uses of a packet have at `members` of their keys; None if two that a packet may make differ.

    Where uses under contrary conditions differ, the condition is in the key, and what it chooses from may have
    different types (`mixed`). Every part at `members` is known.
    """
    forms = normal_of(program)

    def values(use: Use) -> tuple[ir.Expr, ...]:
        found = tuple(use.parts[i] for i in members[use.state])
        assert all(e is not None for e in found)
        return found  # type: ignore[return-value]

    def alike(key: Use, other: Use) -> bool:
        """Is the key of `key` that of `other` too, for all packets that get to `other`?"""
        pairs = zip(values(key), values(other), strict=True)
        return all(a == b or forms.of(a, other.mask) == forms.of(b, other.mask) for a, b in pairs)

    def tree(left: list[Use]) -> ir.Expr | None:
        for candidate in left:
            if all(alike(candidate, other) for other in left):
                return _tuple(program, candidate, values(candidate))
        guard = _dividing(left, alike)
        if guard is None:
            return None
        then, orelse = tree(_where(left, guard, True)), tree(_where(left, guard, False))
        if then is None or orelse is None:
            return None
        return ir.Choose(then.span, then.type, guard.condition, then, orelse)

    return tree(list(uses))


def _dividing(uses: list[Use], alike: object) -> Guard | None:
    """A condition that keeps two uses that differ apart; None if two may happen together."""
    assert callable(alike)
    found = None
    for n, one in enumerate(uses):
        for other in uses[n + 1 :]:
            if alike(one, other) or alike(other, one):
                continue
            contrary = {(g.normal, not g.holds) for g in other.guards}
            guard = next((g for g in one.guards if (g.normal, g.holds) in contrary), None)
            if guard is None:
                return None
            found = found or guard
    return found


def _where(uses: list[Use], guard: Guard, holds: bool) -> list[Use]:
    """The uses that may happen where the guard's condition comes out so."""
    return [u for u in uses if not any(g.normal == guard.normal and g.holds != holds for g in u.guards)]


def _tuple(program: ir.Program, use: Use, parts: tuple[ir.Expr, ...]) -> ir.Expr:
    kept = shortest(program, parts)
    return ir.Make(use.span, t.Tuple(tuple(e.type for e in kept)), kept)


def mixed(key: ir.Expr) -> bool:
    """Do packets have keys of different types, by its conditions?"""
    if not isinstance(key, ir.Choose):
        return False
    return key.then.type != key.orelse.type or mixed(key.then) or mixed(key.orelse)


def hashed(key: ir.Expr) -> ir.Expr:
    """A number in the place of each tuple: equal tuples have equal ones, and all have one type."""
    if isinstance(key, ir.Choose):
        then, orelse = hashed(key.then), hashed(key.orelse)
        return replace(key, type=then.type, then=then, orelse=orelse)
    assert isinstance(key, ir.Make)
    return ir.Make(key.span, t.Tuple((t.U64,)), (ir.Hash(key.span, t.U64, key.items),))


def total(e: ir.Expr, parser: ir.Parser) -> ir.Expr:
    """`e` for every packet: a field of a header that may be missing counts as zero there."""
    return _total(e, parser.all_classes, parser)


def _total(e: ir.Expr, mask: int, parser: ir.Parser) -> ir.Expr:
    match e:
        case ir.HeaderField(instance=i) | ir.RestBytes(instance=i) if mask & ~parser.having[i]:
            return ir.Choose(e.span, e.type, ir.Valid(e.span, t.BOOL, i), e, ir.Const(e.span, e.type, zero(e.type)))
        case ir.Choose(condition=condition, then=then, orelse=orelse):
            yes, no = split(condition, mask, parser)
            first = _total(condition, mask, parser)
            return ir.Choose(e.span, e.type, first, _total(then, yes, parser), _total(orelse, no, parser))
        case ir.Binary(op="and" | "or", left=left, right=right):
            yes, no = split(left, mask, parser)
            second = _total(right, yes if e.op == "and" else no, parser)
            return ir.Binary(e.span, e.type, e.op, _total(left, mask, parser), second)
        case _:
            return rebuilt(e, lambda child: _total(child, mask, parser))
