"""Config values as files that give them: the inverse of `config.load` and `config.events`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from polysome.analysis.values_text import text
from polysome.config.rows import Form, rows_of
from polysome.config.shapes import written
from polysome.engines.trace import Change
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS


def config_text(program: ir.Program, values: Mapping[str, Any]) -> str:
    """TOML that gives these items (by name, as `config.load.load_config` returns them) exactly these values.

    A row of a table has a line of its own.
    """
    lines = []
    for name, form in config_form(program, values).items():
        rows = isinstance(form, list) and isinstance(program.config[name].type, (t.ListOf, t.SetOf, t.Table))
        if rows and form:
            lines += [f"{name} = [", *(f"  {written(row, 'toml')}," for row in form), "]"]
        else:
            lines.append(f"{name} = {written(form, 'toml')}")
    return "".join(f"{line}\n" for line in lines)


def events_text(program: ir.Program, changes: Sequence[Change]) -> str:
    """The changes as an event file (JSON lines), their times in ns since 1970."""
    lines = [json.dumps({"at": c.time, "set": config_form(program, c.values)}) for c in changes]
    return "".join(f"{line}\n" for line in lines)


def config_form(program: ir.Program, values: Mapping[str, Any]) -> dict[str, Form]:
    """The values as a file's names, numbers, texts, arrays and tables."""
    writer = _Writer(program)
    return {name: writer.item(value, program.config[name].type) for name, value in values.items()}


class _Writer:
    """Values of one program's types, whose ports have names."""

    def __init__(self, program: ir.Program) -> None:
        self.program = program

    def item(self, value: Any, type: t.Type) -> Form:
        """The value of a whole config item."""
        if not isinstance(type, t.Table):
            return self.value(value, type)
        return [rows_of(type).written(row, type, self.value) for row in TABLE_KINDS[type.kind].rows(value)]

    def value(self, value: Any, type: t.Type) -> Form:
        """A value that is not a table with a lookup."""
        match type:
            case t.Struct(_, fields):
                return {name: self.value(v, f) for (name, f), v in zip(fields, value, strict=True)}
            case t.Tuple(items):
                return [self.value(v, i) for i, v in zip(items, value, strict=True)]
            case t.ListOf(item):
                return [self.value(v, item) for v in value]
            case t.SetOf(item):
                return [self.value(v, item) for v in sorted(value, key=_order)]
            case t.Bits() | t.Bool() | t.Quantity("time"):
                return value
            case t.Enum(_, members):
                return next(name for name, number in members if number == value)
            case _:
                return text(value, type, self.program)


def _order(value: Any) -> Any:
    """A total order among values of one type, so that a set is always written in the same way."""
    if isinstance(value, frozenset):
        return sorted(map(_order, value))
    return tuple(map(_order, value)) if isinstance(value, tuple) else value
