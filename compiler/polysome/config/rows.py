"""How rows of config tables stand in files (LANGUAGE.md L8.1), as far as kinds of tables have it in common.

A kind of table says in its folder's `rows.py` how its own do: its `ROWS` is a `TableRows`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from polysome.config.convert import Converter, Members
from polysome.config.items import Item, collect
from polysome.config.shapes import fields_of, inlined, sample
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS, brought
from polysome.syntax.diagnostics import Report

Form = Any  # str, int, bool, list or dict of these by name: what TOML and JSON both hold
Write = Callable[[Any, t.Type], Form]


class TableRows:
    """The rows of a kind of table in files. Those of this one are (key, value): `config map`.

    `names`: what a row has besides its value, the one for its key first and last what may stand for it. `by_key`: the
    table may also be given as a table whose names are the keys.
    """

    names: tuple[str, ...] = ("key",)
    by_key = True

    def check(self, decl: ir.ConfigDecl, report: Report) -> None:
        """Reports what is wrong with a declaration's type and options: E1015, E1016."""

    def read(self, c: Converter, item: Item, type: t.Table) -> Any:
        """A whole table, in the form of `TableKind.together`. Reports, and raises Rejected, as `Converter` does."""
        if isinstance(item.value, dict):
            found = collect(partial(self._named, c, row, name, type) for name, row in item.value.items())
        else:
            rows = c.rows(item, type, "an array of rows, or a table by keys,")
            found = collect(partial(self._row, c, row, type) for row in rows)
        c.no_twice([(key, place) for key, _, place in found], self.names[0])
        return TABLE_KINDS[type.kind].together((key, value) for key, value, _ in found)

    def example(self, type: t.Table, ports: Sequence[str]) -> Any:
        """A row as messages show it, as numbers, strings, dicts, lists and tuples."""
        return self.example_of({self.names[0]: self.key_example(type.key, ports)}, type, ports)

    def written(self, row: Any, type: t.Table, write: Write) -> Form:
        """A row as a file gives it: what `read` makes that row of."""
        return self.written_of({self.names[0]: self.key_written(row[0], type.key, write)}, row[1], type, write)

    # ------------------------------------------------------------ keys, for rows that are (key, value)

    def key(self, c: Converter, item: Item, type: t.Type) -> Any:
        """What an item gives as a key."""
        return c.value(item, type)

    def key_example(self, type: t.Type, ports: Sequence[str]) -> Any:
        return sample(type, ports)

    def key_written(self, key: Any, type: t.Type, write: Write) -> Form:
        return write(key, type)

    # ------------------------------------------------------------ parts that kinds share

    def members(
        self, c: Converter, row: Item, own: Sequence[str], optional: Sequence[str], type: t.Table
    ) -> tuple[Members, Callable[[], Any]]:
        """A row's members, and what converts its value: the member `value`, or where that may be, members inline."""
        if inlined(type.value, [*self.names, *optional]) and not has(row, "value"):
            members = c.members(row, [*own, *fields_of(type.value)], optional, type)
            return members, lambda: c.struct(members, type.value)
        members = c.members(row, [*own, "value"], optional, type)
        return members, lambda: c.value(members["value"], type.value)

    def example_of(self, own: dict[str, Any], type: t.Table, ports: Sequence[str]) -> dict[str, Any]:
        """An example of a row of `own` members and a value."""
        value = sample(type.value, ports)
        return own | (value if inlined(type.value, [*self.names, *own]) else {"value": value})

    def written_of(
        self, own: dict[str, Form], value: Any, type: t.Table, write: Write, taken: Sequence[str] = ()
    ) -> dict[str, Form]:
        """A row of `own` members and its value: as members of the row where `members` reads them so."""
        form = write(value, type.value)
        return own | (form if inlined(type.value, [*self.names, *taken]) else {"value": form})

    def _named(self, c: Converter, row: Item, name: str, type: t.Table) -> tuple[Any, Any, Item]:
        """A row whose key is the name under which it stands."""
        assert row.name is not None
        key = Item(name, row.name, cell=True)
        found = collect((partial(self.key, c, key, type.key), partial(c.value, row, type.value)))
        return found[0], found[1], key

    def _row(self, c: Converter, row: Item, type: t.Table) -> tuple[Any, Any, Item]:
        name = next((name for name in reversed(self.names) if has(row, name)), self.names[0])
        members, read = self.members(c, row, [name], (), type)
        key, value = collect((lambda: self.key(c, members[name], type.key), read))
        return key, value, members[name]


def has(row: Item, name: str) -> bool:
    """Does a row name this member?"""
    return isinstance(row.value, dict) and name in row.value


def rows_of(type: t.Table) -> TableRows:
    """How the rows of a kind of table stand in files."""
    found: TableRows = brought("rows")[type.kind]
    return found


def read_item(c: Converter, item: Item) -> Any:
    """The whole value of the converter's config item, of any type; reports, and raises Rejected, like `Converter`."""
    type = c.decl.type
    return rows_of(type).read(c, item, type) if isinstance(type, t.Table) else c.value(item, type)
