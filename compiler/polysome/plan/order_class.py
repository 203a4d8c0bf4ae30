"""What a switch knows of the order class of packets on a way, and must assume for that (PROTOCOL.md, rule 9)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from polysome.analysis.symbolic import Normal
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.plan.values import FieldKey, Known


def order_key(program: ir.Program, parse_class: int, known: Known) -> tuple[FieldKey, ...]:
    """Fields that packets of one order class have in common; none if the switch cannot say.

    Conditions on fields that the class depends on are made false (no fragments) and `known` narrowed to that: those of
    the parse class itself, and, on its own headers, those of parse classes that go on where it ends. So a first
    fragment and the later ones, which have fewer headers and the same order class, all go whole.
    """
    normal, classes = _normal(program), program.parser.classes
    own = classes[parse_class]
    for number, longer in enumerate(classes):
        if longer[: len(own)] == own and number != parse_class:
            _no_choices(normal.of(program.schedule.cls, 1 << number), known, set(own))
    e = _no_choices(normal.of(program.schedule.cls, 1 << parse_class), known, None)
    if isinstance(e, ir.Choose):
        return ()
    found: list[FieldKey] = []
    for leaf in _components(e):
        while isinstance(leaf, ir.Cast) and _keeps(leaf):
            leaf = leaf.value
        if isinstance(leaf, ir.HeaderField):
            found.append((leaf.instance, leaf.field))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=2)
def _normal(program: ir.Program) -> Normal:
    """One for all ways of a program: what it found out once it knows."""
    return Normal(program)


def _no_choices(e: ir.Expr, known: Known, instances: set[int] | None) -> ir.Expr:
    """`e` behind the choices that can be made false; `known` is narrowed on these instances (None: on all)."""
    while isinstance(e, ir.Choose):
        trial = known.copy()
        if not trial.assume(e.condition, False, -1):
            return e
        for key, (low, high) in trial.ranges.items():
            if instances is None or key[0] in instances:
                known.narrow(key, low, high)
        e = e.orelse
    return e


def _keeps(cast: ir.Cast) -> bool:
    """Does a cast keep different values apart?"""
    if isinstance(cast.type, t.Bits) and isinstance(cast.value.type, t.Bits):
        return cast.type.width >= cast.value.type.width
    return cast.mapped


def _components(e: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(e, ir.Make) and members(e.type):
        for item in e.items:
            yield from _components(item)
    else:
        yield e
