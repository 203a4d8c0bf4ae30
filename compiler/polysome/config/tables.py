"""The current configuration, as the NF reads it, and how it changes (LANGUAGE.md L8.2 to L8.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.base import TableContext
from polysome.kinds.hashing import key_of_seed, siphash
from polysome.kinds.state import TABLE_KINDS
from polysome.kinds.values import Row


@dataclass(frozen=True)
class _Change:
    """What a new value of one item will do."""

    name: str
    value: Any  # as it stands in `Tables.current`
    rows: tuple[Row, ...]  # those of a list, or of a table whose rows have identities
    updates: tuple[tuple[Row, Any], ...] = ()  # rows that a key keeps, with their new values


class Tables:
    """The current value of each config item.

    | type             | given to `replace`, from load_config     | in `current`                         |
    |------------------|------------------------------------------|--------------------------------------|
    | list<T>          | `tuple` of values                        | `tuple` of Row                       |
    | set<T>           | `frozenset`                              | the same                             |
    | a table          | `together` of its kind (`TableKind`)     | what the kind's `make` makes         |
    | others           | as `ir.types` says; lists inside: `tuple`| the same                             |

    `current` is one dict for good, by full names. A value in it does not change, except that a Row that a key keeps
    gets the key's new value, and that a Row that has gone is `live = False` for good.
    """

    def __init__(self, program: ir.Program, values: Mapping[str, Any]) -> None:
        """`values` has all config items of the program."""
        self._decls = program.config
        self._key = key_of_seed(program.params["seed"][1])
        self.current: dict[str, Any] = {}
        self._rows: dict[str, tuple[Row, ...]] = {}
        missing = [name for name in program.config if name not in values]
        if missing:
            raise KeyError(f"no value for config {', '.join(missing)}")
        self.replace(values)

    def replace(self, values: Mapping[str, Any]) -> None:
        """Gives items new values, all at one instant.

        KeyError if a name is unknown, ValueError if values make no table; then nothing has changed.
        """
        changes = [self._change(self._decls[name], value) for name, value in values.items()]
        for change in changes:
            staying = set(map(id, change.rows))
            for row in self._rows.get(change.name, ()):
                row.live = id(row) in staying
            for row, value in change.updates:
                row.value = value
            self.current[change.name] = change.value
            self._rows[change.name] = change.rows

    def _change(self, decl: ir.ConfigDecl, value: Any) -> _Change:
        match decl.type:
            case t.ListOf():
                rows = self._same_or_new(decl.name, value)
                return _Change(decl.name, rows, rows)
            case t.Table():
                return self._table(decl, decl.type, value)
            case _:
                return _Change(decl.name, value, ())

    def _same_or_new(self, name: str, values: Iterable[Any]) -> tuple[Row, ...]:
        """A row for each value, one and the same for equal ones: that which is there now, if there is one."""
        present = {row.value: row for row in self._rows.get(name, ())}
        rows: dict[Any, Row] = {}
        return tuple(rows.setdefault(value, present.get(value) or Row(value)) for value in values)

    def _table(self, decl: ir.ConfigDecl, type: t.Table, value: Any) -> _Change:
        kind = TABLE_KINDS[type.kind]
        given = kind.rows(value)
        values = [kind.value(row) for row in given]
        rows: tuple[Row, ...] = ()
        updates: tuple[tuple[Row, Any], ...] = ()
        if kind.identity == "value":
            rows = self._same_or_new(decl.name, values)
        elif kind.identity == "key":
            present = self.current.get(decl.name, {})
            rows = tuple(present.get(key) or Row(item) for key, item in given)
            updates = tuple(zip(rows, values, strict=True))
        if kind.identity is not None:
            given = [kind.with_value(old, row) for old, row in zip(given, rows, strict=True)]
        made = kind.make(given, TableContext(decl.name, type, decl.options, self._hash64))
        return _Change(decl.name, made, rows, updates)

    def _hash64(self, data: bytes) -> int:
        return siphash(self._key, data)
