"""The rows of config tables: map, lpm, acl, maglev (LANGUAGE.md L8.1; STATE.md, sections 10 to 12).

`Table.read` returns what `config.tables` builds a table from:

| type        | value                                      |
|-------------|--------------------------------------------|
| map<K, V>   | `dict`                                     |
| lpm<K, V>   | `tuple` of (Prefix, value), in file order  |
| acl<K, V>   | `tuple` of AclRow, in file order           |
| maglev<V>   | `tuple` of (value, weight), in file order  |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from polysome.config.convert import Converter, Members
from polysome.config.items import Item, collect
from polysome.config.scalars import Wrong, prefix
from polysome.config.shapes import KEY_NAMES, fields_of, inlined
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.state.maglev import SIZE
from polysome.kinds.values import Prefix

_PRIORITY = t.Bits(32)
_BETWEEN = re.compile(r"\s*([^\s-]+)\s*-\s*([^\s-]+)\s*")  # no value that may stand in a range holds a hyphen


class Table(Converter):
    """Converts the value of a config item of any type."""

    def read(self, item: Item) -> Any:
        """The item's whole value; reports, and raises Rejected, like `Converter`."""
        type = self.decl.type
        match type:
            case t.Table("map"):
                return self._map(item, type)
            case t.Table("lpm"):
                return self._lpm(item, type)
            case t.Table("acl"):
                return tuple(collect(partial(self._rule, row, type) for row in self.rows(item, type)))
            case t.Table("maglev"):
                return self._maglev(item, type)
            case _:
                return self.value(item, type)

    def _row(
        self, row: Item, own: Sequence[str], optional: Sequence[str], type: t.Table
    ) -> tuple[Members, Callable[[], Any]]:
        """A row's members, and what converts its value: the member `value`, or where that may be, members inline."""
        if inlined(type.value, [*KEY_NAMES[type.kind], *optional]) and not _has(row, "value"):
            members = self.members(row, [*own, *fields_of(type.value)], optional, type)
            return members, lambda: self.struct(members, type.value)
        members = self.members(row, [*own, "value"], optional, type)
        return members, lambda: self.value(members["value"], type.value)

    # ------------------------------------------------------------ map and lpm

    def _map(self, item: Item, type: t.Table) -> dict[Any, Any]:
        return dict(self._pairs(item, type, self._entry, "key"))

    def _lpm(self, item: Item, type: t.Table) -> tuple[tuple[Prefix, Any], ...]:
        return tuple(self._pairs(item, type, self._route, "prefix"))

    def _pairs(
        self, item: Item, type: t.Table, read: Callable[[Item, t.Table], tuple[Any, Any, Item]], what: str
    ) -> list[tuple[Any, Any]]:
        """Keys and values: of an array, whose rows `read` takes apart, or of a table whose names are the keys."""
        if isinstance(item.value, dict):
            found = collect(partial(self._named, row, name, type) for name, row in item.value.items())
        else:
            rows = self.rows(item, type, "an array of rows, or a table by keys,")
            found = collect(partial(read, row, type) for row in rows)
        self.no_twice([(key, place) for key, _, place in found], what)
        return [(key, value) for key, value, _ in found]

    def _named(self, row: Item, name: str, type: t.Table) -> tuple[Any, Any, Item]:
        """A row whose key is the name under which it stands."""
        assert row.name is not None
        key = Item(name, row.name, cell=True)
        read = self._prefix if type.kind == "lpm" else self.value
        found = collect((partial(read, key, type.key), partial(self.value, row, type.value)))
        return found[0], found[1], key

    def _entry(self, row: Item, type: t.Table) -> tuple[Any, Any, Item]:
        members, read = self._row(row, ["key"], (), type)
        key, value = collect((lambda: self.value(members["key"], type.key), read))
        return key, value, members["key"]

    def _route(self, row: Item, type: t.Table) -> tuple[Any, Any, Item]:
        name = "key" if _has(row, "key") else "prefix"
        members, read = self._row(row, [name], (), type)
        key, value = collect((lambda: self._prefix(members[name], type.key), read))
        return key, value, members[name]

    def _prefix(self, item: Item, type: t.Type) -> Prefix:
        """A prefix of the family of addresses of `type`."""
        if not isinstance(item.value, str):
            self.wrong_shape(item, self.decl.type, "a prefix in quotes")
        try:
            return prefix(item.value, type.width if isinstance(type, t.Address) else None)
        except Wrong as wrong:
            mend = wrong.mend or f"Write for example {self.example(self.decl.type)}"
            self.reject(wrong.code, wrong.message, item.span, wrong.why, mend)

    # ------------------------------------------------------------ maglev

    def _maglev(self, item: Item, type: t.Table) -> tuple[tuple[Any, int], ...]:
        rows = tuple(collect(partial(self._backend, row, type) for row in self.rows(item, type)))
        size, total = self.decl.options.get("size", SIZE), sum(weight for _, weight in rows)
        if total > size:
            why = f"Each of the table's {size} places belongs to one row; a row has at least as many as its weight."
            mend = f"Divide all weights, or declare a `size` (a prime) above {total}."
            self.report.add("E1015", f"the weights add up to {total}, more than {size}", item.span, why=why, mend=mend)
        return rows

    def _backend(self, row: Item, type: t.Table) -> tuple[Any, int]:
        plain = not isinstance(row.value, dict) and row.header is None
        if plain and not isinstance(type.value, t.Struct):
            return self.value(row, type.value), 1
        members, read = self._row(row, (), ["weight"], type)
        jobs = [read]
        if "weight" in members:
            jobs.append(lambda: self.value(members["weight"], t.U64))
        value, *weight = collect(jobs)
        return value, weight[0] if weight else 1

    # ------------------------------------------------------------ acl

    def _rule(self, row: Item, type: t.Table) -> AclRow:
        key_inline = inlined(type.key, KEY_NAMES["acl"]) and not _has(row, "match")
        match = fields_of(type.key) if key_inline else ("match",)
        members, read = self._row(row, (), [*match, "priority"], type)
        jobs = [read]
        if key_inline:
            jobs.append(lambda: self._matchers(members, type.key))
        else:
            jobs.append(lambda: self._match(members.get("match"), type.key))
        if "priority" in members:
            jobs.append(lambda: self.value(members["priority"], _PRIORITY))
        value, matchers, *priority = collect(jobs)
        return AclRow(matchers, value, priority[0] if priority else 0)

    def _match(self, item: Item | None, key: t.Type) -> tuple[Any, ...]:
        """One matcher for each component of the key. What is not given matches anything."""
        match key:
            case t.Struct():
                given = Members() if item is None else self.members(item, (), fields_of(key), self.decl.type)
                return self._matchers(given, key)
            case t.Tuple(types):
                positions = [None] * len(types) if item is None else self._tuple_matchers(item, key)
                return tuple(collect(map(partial, [self._matcher] * len(types), positions, types)))
            case _:
                return (self._matcher(item, key),)

    def _tuple_matchers(self, item: Item, key: t.Tuple) -> list[Item | None]:
        if item.header is None:
            return list(self.positions(item, key))
        numbers = [str(i) for i in range(len(key.items))]
        members = self.members(item, (), numbers, key)
        return [members.get(number) for number in numbers]

    def _matchers(self, members: Members, key: t.Type) -> tuple[Any, ...]:
        assert isinstance(key, t.Struct)
        return tuple(collect(partial(self._matcher, members.get(name), type) for name, type in key.fields))

    def _matcher(self, item: Item | None, type: t.Type) -> Any:
        """Any (None), an exact value, a range or a prefix."""
        if item is None or item.value == "*":
            return None
        if isinstance(type, (t.Bits, t.Address, t.Quantity)):
            if isinstance(item.value, list) and len(item.value) == 2:
                return self._range(item, item.value, type)
            between = _BETWEEN.fullmatch(item.value) if isinstance(item.value, str) else None
            if between is not None and type != t.TIME:
                return self._range(item, [Item(end, item.span, cell=True) for end in between.groups()], type)
        if type in (t.IPV4, t.IPV6) and isinstance(item.value, str) and "/" in item.value:
            return self._prefix(item, type)
        return self.value(item, type)

    def _range(self, item: Item, ends: list[Item], type: t.Type) -> Range:
        low, high = collect(partial(self.value, end, type) for end in ends)
        if low > high:
            why = "A range goes from its lowest to its highest value; both belong to it."
            self.reject("E1014", "this range is empty", item.span, why, "Exchange its ends.")
        return Range(low, high)


def _has(row: Item, name: str) -> bool:
    return isinstance(row.value, dict) and name in row.value
