"""Config values that are simple: defaults, small numbers, short lists inside rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.testing.counterexample.parts import Shrinking, with_change, with_config
from polysome.testing.traffic.values import traffic_of


def simplify(search: Shrinking) -> None:
    """Every item, at the start and in changes: the first simpler value that still breaks the property, repeatedly."""
    for name, decl in search.program.config.items():
        if decl.default is not None and not isinstance(decl.type, (t.ListOf, t.SetOf, t.Table)):
            search.fails(with_config(search.best, name, decl.default))
        while any(
            search.fails(with_config(search.best, name, v)) for v in simpler(search.best.config[name], decl.type)
        ):
            pass
    for number, change in enumerate(search.best.changes):
        for name in change.values:
            _simplify_change(search, number, name)


def _simplify_change(search: Shrinking, number: int, name: str) -> None:
    type = search.program.config[name].type
    while True:
        values = search.best.changes[number].values
        tried = (with_change(search.best, number, {**values, name: v}) for v in simpler(values[name], type))
        if not any(map(search.fails, tried)):
            return


def simpler(value: Any, type: t.Type) -> Iterator[Any]:
    """Values a step simpler, the simplest first; each chain of steps ends. Addresses and keys stay."""
    match type:
        case t.Bool():
            yield from [False] if value else []
        case t.Port():
            yield from range(value)
        case t.Enum(_, members):
            yield from (number for _, number in members if number < value)
        case t.Bits() | t.Quantity():
            yield from smaller(value)
        case t.Struct(_, fields):
            yield from _members(value, [f for _, f in fields])
        case t.Tuple(items):
            yield from _members(value, items)
        case t.ListOf(item):
            yield from _members(value, [item] * len(value))
        case t.Table():
            yield from _rows(value, type)


def smaller(value: int) -> Iterator[int]:
    """Numbers below one, the least first."""
    tried = [0, *(10**n for n in range(20)), value // 2]
    yield from (v for v in sorted(tried) if v < value)


def _members(value: tuple[Any, ...], types: Any) -> Iterator[tuple[Any, ...]]:
    for i, (member, type) in enumerate(zip(value, types, strict=True)):
        yield from ((*value[:i], v, *value[i + 1 :]) for v in simpler(member, type))


def _rows(value: Any, type: t.Table) -> Iterator[Any]:
    kind = TABLE_KINDS[type.kind]
    rows = kind.rows(value)
    for i, row in enumerate(rows):
        tried = traffic_of(type).simpler(row, type, simpler)
        yield from (kind.together([*rows[:i], new, *rows[i + 1 :]]) for new in tried)


# ---------------------------------------------------------------- addresses


def exchanged(value: Any, type: t.Type, new: Mapping[tuple[str, int], int]) -> Any:
    """The value of an item with addresses exchanged, by (name of their type, old value). Prefixes stay."""

    def inside(member: Any, of: t.Type) -> Any:
        return exchanged(member, of, new)

    match type:
        case t.Address(name):
            return new.get((name, value), value)
        case t.Struct(_, fields):
            return tuple(inside(v, f) for v, (_, f) in zip(value, fields, strict=True))
        case t.Tuple(items):
            return tuple(map(inside, value, items))
        case t.ListOf(item):
            return tuple(inside(v, item) for v in value)
        case t.SetOf(item):
            return frozenset(inside(v, item) for v in value)
        case t.Table(kind):
            rows = TABLE_KINDS[kind].rows(value)
            return TABLE_KINDS[kind].together(traffic_of(type).exchanged(row, type, inside) for row in rows)
        case _:
            return value


def addresses(value: Any, type: t.Type) -> list[tuple[str, int]]:
    """The addresses in the value of an item that `exchanged` would exchange, by (name of their type, value)."""
    asked = _Asked()
    exchanged(value, type, asked)
    return asked.names


class _Asked(dict[tuple[str, int], int]):
    """Exchanges nothing and remembers what it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[tuple[str, int]] = []

    def get(self, name: tuple[str, int], otherwise: Any = None) -> Any:
        self.names.append(name)
        return otherwise
