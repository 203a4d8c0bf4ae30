"""The rows of `config acl` in files: `match`, or the members of the key themselves, then `priority` and value.

A matcher is a value, `"a-b"` or `[a, b]`, a prefix, or `"*"`, as is what is not given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from polysome.config.convert import Converter, Members
from polysome.config.items import Item, collect
from polysome.config.rows import Form, TableRows, Write, has
from polysome.config.shapes import fields_of, inlined, matcher_sample
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix

_PRIORITY = t.Bits(32)
_BETWEEN = re.compile(r"\s*([^\s-]+)\s*-\s*([^\s-]+)\s*")  # no value that may stand in a range holds a hyphen


class AclRows(TableRows):
    names = ("match", "priority")
    by_key = False

    def read(self, c: Converter, item: Item, type: t.Table) -> tuple[AclRow, ...]:
        return tuple(collect(partial(self._rule, c, row, type) for row in c.rows(item, type)))

    def _rule(self, c: Converter, row: Item, type: t.Table) -> AclRow:
        key_inline = inlined(type.key, self.names) and not has(row, "match")
        match = fields_of(type.key) if key_inline else ("match",)
        members, read = self.members(c, row, (), [*match, "priority"], type)
        jobs = [read]
        if key_inline:
            jobs.append(lambda: _struct(c, members, type.key))
        else:
            jobs.append(lambda: _match(c, members.get("match"), type.key))
        if "priority" in members:
            jobs.append(lambda: c.value(members["priority"], _PRIORITY))
        value, matchers, *priority = collect(jobs)
        return AclRow(matchers, value, priority[0] if priority else 0)

    def example(self, type: t.Table, ports: Sequence[str]) -> Any:
        match type.key:
            case t.Struct(_, fields):
                given: Any = {name: matcher_sample(member, ports) for name, member in fields}
            case t.Tuple(items):
                given = tuple(matcher_sample(item, ports) for item in items)
            case key:
                given = matcher_sample(key, ports)
        own = given if inlined(type.key, self.names) else {"match": given}
        return self.example_of(own, type, ports)

    def written(self, row: AclRow, type: t.Table, write: Write) -> Form:
        own: dict[str, Form] = {} if row.priority == 0 else {"priority": row.priority}
        taken: list[str] = ["match"]
        match type.key:
            case t.Struct(_, fields):
                pairs = zip(fields, row.matchers, strict=True)
                given = {name: _written(m, f, write) for (name, f), m in pairs if m is not None}
                if inlined(type.key, self.names):
                    own, taken = given | own, [name for name, _ in fields]
                else:
                    own["match"] = given
            case t.Tuple(items):
                own["match"] = [_written(m, i, write) for m, i in zip(row.matchers, items, strict=True)]
            case key:
                own["match"] = _written(row.matchers[0], key, write)
        return self.written_of(own, row.value, type, write, taken)


# ---------------------------------------------------------------- matchers


def _match(c: Converter, item: Item | None, key: t.Type) -> tuple[Any, ...]:
    """One matcher for each component of the key. What is not given matches anything."""
    match key:
        case t.Struct():
            given = Members() if item is None else c.members(item, (), fields_of(key), c.decl.type)
            return _struct(c, given, key)
        case t.Tuple(types):
            positions = [None] * len(types) if item is None else _tuple(c, item, key)
            return tuple(collect(map(partial, [_matcher] * len(types), [c] * len(types), positions, types)))
        case _:
            return (_matcher(c, item, key),)


def _struct(c: Converter, members: Members, key: t.Type) -> tuple[Any, ...]:
    assert isinstance(key, t.Struct)
    return tuple(collect(partial(_matcher, c, members.get(name), type) for name, type in key.fields))


def _tuple(c: Converter, item: Item, key: t.Tuple) -> list[Item | None]:
    if item.header is None:
        return list(c.positions(item, key))
    numbers = [str(i) for i in range(len(key.items))]
    members = c.members(item, (), numbers, key)
    return [members.get(number) for number in numbers]


def _matcher(c: Converter, item: Item | None, type: t.Type) -> Any:
    """Any (None), an exact value, a range or a prefix."""
    if item is None or item.value == "*":
        return None
    if isinstance(type, (t.Bits, t.Address, t.Quantity)):
        if isinstance(item.value, list) and len(item.value) == 2:
            return _range(c, item, item.value, type)
        between = _BETWEEN.fullmatch(item.value) if isinstance(item.value, str) else None
        if between is not None and type != t.TIME:
            return _range(c, item, [Item(end, item.span, cell=True) for end in between.groups()], type)
    if type in (t.IPV4, t.IPV6) and isinstance(item.value, str) and "/" in item.value:
        return c.prefix(item, type)
    return c.value(item, type)


def _range(c: Converter, item: Item, ends: list[Item], type: t.Type) -> Range:
    low, high = collect(partial(c.value, end, type) for end in ends)
    if low > high:
        why = "A range goes from its lowest to its highest value; both belong to it."
        c.reject("E1014", "this range is empty", item.span, why, "Exchange its ends.")
    return Range(low, high)


def _written(matcher: Any, type: t.Type, write: Write) -> Form:
    match matcher:
        case None:
            return "*"
        case Prefix():
            return write(matcher, t.PREFIX)
        case Range(low, high):
            return [write(low, type), write(high, type)]
        case _:
            return write(matcher, type)


ROWS = AclRows()
