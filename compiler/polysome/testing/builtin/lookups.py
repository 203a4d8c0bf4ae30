"""Lookups in config tables against what the definition of their kind says, told a second time in its `lookup.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.analysis.values_text import text
from polysome.engines.history import Lookup
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import brought
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
class Lookups(Invariant):
    """A lookup in a config table finds the right row, from the moment of a config change on in the new table: in an lpm
    the longest prefix that contains the address, in an acl the first row that matches by priority and then by order, in
    a maglev the row of the hash's place. (All places of a large maglev table are filled anew for one trace in 16; for
    the others only that its row is there, with a weight, and the same for the same place.)
    """

    name: ClassVar[str] = NAME
    place: ClassVar[int] = 8

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(d.type, t.Table) and d.type.kind in brought("lookup") for d in program.config.values())

    def check(self, record: Record) -> int:
        history = history_of(record)
        configs = Configs(record)
        seen: dict[Any, Any] = {}
        for look in history.lookups:
            version = configs.number(look.stamp, look.time)
            decl = record.program.config[look.config]
            assert isinstance(decl.type, t.Table)
            asked = Asked(record, decl, look, configs.versions[version][look.config], version, seen)
            expected = brought("lookup")[decl.type.kind](asked)
            if look.result != expected:
                raise _broken(record, look, decl.type.value, expected)
        return len(history.lookups)


def _broken(record: Record, look: Lookup, type: t.Type, expected: Any) -> Broken:
    program = record.program

    def shown(value: Any) -> str:
        return "no row" if value is None else text(value, type, program)

    key = look.args[0]
    decl = program.config[look.config].type
    assert isinstance(decl, t.Table)
    # An acl with a single component is asked for a tuple of one.
    as_written = isinstance(key, tuple) == isinstance(decl.key, (t.Struct, t.Tuple))
    named = text(key, decl.key, program) if as_written else str(key)
    return Broken(
        around(record, look.stamp),
        f"{occasion(record, look.stamp, look.time)}: `{look.config}` was asked for {named}",
        f"expected: {shown(expected)}",
        f"found:    {shown(look.result)}",
    )


PROPERTY = Lookups()
