"""Lookups in config tables against what the definition of their kind says, told a second time in its `lookup.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.analysis.values_text import text
from polysome.engines.history import Lookup
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS, brought
from polysome.testing.builtin.base import Broken, Invariant, around, history_of, occasion
from polysome.testing.builtin.configs import Configs

NAME = "table lookups"


@dataclass(frozen=True)
class Asked:
    """A lookup in a table that has these `rows`, in the config's version of this number; `seen`: whatever was noted."""

    record: Record
    decl: ir.ConfigDecl
    look: Lookup
    rows: Any
    version: int
    seen: dict[Any, Any]


@dataclass(frozen=True)
class Definition:
    """The row that a kind of table must find (None if none), and what that is in words; `note`: what is not tested."""

    found: Callable[[Asked], Any]
    finds: str
    note: str = ""


@dataclass(frozen=True)
class Lookups(Invariant):
    """A lookup in a config table finds the right row, from the moment of a config change on in the new table"""

    name: ClassVar[str] = NAME
    place: ClassVar[int] = 8

    @property
    def doc(self) -> str:
        """With what that is for each kind."""
        told = [brought("lookup")[name] for name in TABLE_KINDS if name in brought("lookup")]
        notes = [f" ({each.note})" for each in told if each.note]
        return f"{super().doc}: {', '.join(each.finds for each in told)}.{''.join(notes)}"

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(d.type, t.Table) and d.type.kind in brought("lookup") for d in program.config.values())

    def check(self, record: Record) -> int:
        history = history_of(record)
        configs = Configs(record)
        seen: dict[Any, Any] = {}
        cases = 0
        for look in history.lookups:
            version = configs.number(look.stamp, look.time)
            decl = record.program.config[look.config]
            assert isinstance(decl.type, t.Table)
            definition: Definition | None = brought("lookup").get(decl.type.kind)
            if definition is None:
                continue
            cases += 1
            asked = Asked(record, decl, look, configs.versions[version][look.config], version, seen)
            expected = definition.found(asked)
            if look.result != expected:
                raise _broken(record, look, decl.type.value, expected)
        return cases


def _broken(record: Record, look: Lookup, type: t.Type, expected: Any) -> Broken:
    program = record.program

    def shown(value: Any) -> str:
        return "no row" if value is None else text(value, type, program)

    key = look.args[0]
    decl = program.config[look.config].type
    assert isinstance(decl, t.Table)
    named = text(key, decl.key, program)
    return Broken(
        around(record, look.stamp),
        f"{occasion(record, look.stamp, look.time)}: `{look.config}` was asked for {named}",
        f"expected: {shown(expected)}",
        f"found:    {shown(look.result)}",
    )


PROPERTY = Lookups()
