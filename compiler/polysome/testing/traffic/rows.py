"""Packets that a row of config is about: with all parts of its key at once, which chance seldom draws together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.value_places import members
from polysome.kinds.state import TABLE_KINDS
from polysome.testing.traffic import values
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.constants import FieldKey, Wish, constants
from polysome.testing.traffic.frames import Frame, Layer
from polysome.testing.traffic.world import World, drawn, numbers_of

_MET = 0.4  # share of frames


@dataclass(frozen=True)
class Asked:
    """Config item `name` is looked up by these fields, by part of its key."""

    name: str
    parts: Mapping[int, tuple[FieldKey, ...]]


@lru_cache(maxsize=64)
def asked(program: ir.Program) -> tuple[Asked, ...]:
    """What is looked up by two fields or more."""
    found: dict[str, dict[int, list[FieldKey]]] = {}
    for key, pool in constants(program).fields.items():
        for link in (*pool.links[Wish.WANTED], *pool.links[Wish.OPEN]):
            if link.keys and link.part is not None:
                found.setdefault(link.name, {}).setdefault(link.part, []).append(key)
    return tuple(
        Asked(name, {part: tuple(keys) for part, keys in parts.items()})
        for name, parts in found.items()
        if len(parts) > 1
    )


def meet(program: ir.Program, c: Choices, world: World, frame: Frame) -> None:
    """Some frames get the key of the first row that they can have, from some row on."""
    every = asked(program)
    if not every or not c.chance(_MET):
        return
    one = c.pick(every)
    rows = list(_rows(program.config[one.name].type, world.config[one.name]))
    start = c.below(len(rows)) if rows else 0
    for row in (*rows[start:], *rows[:start]):
        fitting = _fitting(program, frame, one, row)
        if fitting is not None:
            for layer, field, number in fitting:
                layer.values[field] = number
            return


Scalars = list[list[tuple[t.Type, Any]]]  # by part of a key, as `TableTraffic.keys` has them


def _rows(type: t.Type, value: Any) -> Iterator[Scalars]:
    match type:
        case t.SetOf(item):
            parts = members(item)
            for row in sorted(value):
                yield [list(values.leaves(part, row[n])) for n, part in enumerate(parts)]
        case t.Table() if not type.hashed:
            count = len(members(type.key))
            for row in TABLE_KINDS[type.kind].rows(value):
                yield [list(values.traffic_of(type).keys(type, row, part)) for part in range(count)]


def _fitting(program: ir.Program, frame: Frame, one: Asked, row: Scalars) -> list[tuple[Layer, int, int]] | None:
    """The fields with the row's values; None if one cannot have its value, or is not there."""
    found = []
    for part, keys in one.parts.items():
        places = [(layer, f) for layer in frame.layers for name, f in keys if layer.shape.header.name == name]
        if not places:
            return None
        for layer, f in places:
            field = layer.shape.header.fields[f]
            fit = [n for of, value in row[part] for n in numbers_of(of, value, field.type, field.width)]
            free = any(d.field == f for d in drawn(program)[layer.shape.number])
            if not fit or (not free and layer.values[f] not in fit):
                return None
            found += [(layer, f, fit[0])] if free else []
    return found
