"""Config of every shape, and how it changes while a program runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import part_changed, row, traffic_of, value


def config(program: ir.Program, c: Choices, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """A value for every config item: `given`'s where it has one."""
    found: dict[str, Any] = {}
    for name, decl in program.config.items():
        if given is not None and name in given:
            found[name] = given[name]
        elif decl.default is not None and _scalar(decl.type) and not c.chance(0.5):
            found[name] = decl.default
        else:
            found[name] = value(program, c, decl.type)
    return found


def changed(program: ir.Program, c: Choices, name: str, old: Any) -> Any:
    """A new value for a config item: rows come, go, change places or values."""
    type = program.config[name].type
    if _scalar(type):
        return part_changed(program, c, type, old)
    if isinstance(type, t.Table) and not traffic_of(type).drawn:
        return old
    rows = _rows(type, old)
    kind = c.below(8)
    if kind <= 1 and rows:
        del rows[c.below(len(rows))]
    elif kind <= 3:
        rows.insert(c.below(len(rows) + 1), row(program, c, type))
    elif kind == 4 and rows:
        at = c.below(len(rows))
        rows[at] = _row_changed(program, c, type, rows[at])
    elif kind == 5:
        rows.reverse()
    elif kind == 6:
        rows = []
    else:
        return value(program, c, type)
    return _whole(type, rows)


def _scalar(type: t.Type) -> bool:
    return not isinstance(type, (t.ListOf, t.SetOf, t.Table))


def _rows(type: t.Type, old: Any) -> list[Any]:
    if isinstance(type, t.Table):
        return TABLE_KINDS[type.kind].rows(old)
    return sorted(old) if isinstance(old, frozenset) else list(old)


def _whole(type: t.Type, rows: list[Any]) -> Any:
    """A table of rows; of rows with the same key the last one counts."""
    match type:
        case t.SetOf():
            return frozenset(rows)
        case t.Table(kind):
            return TABLE_KINDS[kind].together(rows)
        case _:
            return tuple(rows)


def _row_changed(program: ir.Program, c: Choices, type: t.Type, old: Any) -> Any:
    """A row with another value, its key the same."""
    match type:
        case t.Table():
            return traffic_of(type).changed(program, c, type, old)
        case t.ListOf(item):
            return part_changed(program, c, item, old)
        case _:
            return row(program, c, type)
