"""Rows of config tables that stored values refer to (LANGUAGE.md L8.4), followed by what the trace says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polysome.ir import types as t
from polysome.testing.builtin.configs import Configs

Path = tuple[int, ...]
Found = tuple[bool | None, Any]  # is the row there (None: cannot be told), its value now


def references(type: t.Type | None, path: Path = ()) -> list[tuple[Path, str]]:
    """Where a value refers to rows, and of which tables."""
    match type:
        case t.Ref(table):
            return [(path, table)]
        case t.Struct(_, fields):
            return [r for i, (_, f) in enumerate(fields) for r in references(f, (*path, i))]
        case t.Tuple(items):
            return [r for i, f in enumerate(items) for r in references(f, (*path, i))]
        case _:
            return []


class Reference:
    """A row, found by its value when that was stored in version `since` of the config."""

    def __init__(self, configs: Configs, table: str, value: Any, since: int) -> None:
        self.configs, self.table = configs, table
        rows = configs.versions[since][table]
        self.keys = [k for k, v in rows.items() if v == value] if isinstance(rows, Mapping) else [value]
        self.at = since
        self.now: Found = (True, value) if len(self.keys) == 1 else (None, value)
        if (not isinstance(rows, Mapping) and not self._count(rows)) or not self.keys:
            self.now = (False, value)

    def at_version(self, version: int) -> Found:
        """As of a version, not before any that was asked for."""
        while self.at < version:
            before, after = (self.configs.versions[v][self.table] for v in (self.at, self.at + 1))
            self.at += 1
            if self.now[0] and after is not before:
                self.now = self._next(before, after)
        return self.now

    def _next(self, before: Any, after: Any) -> Found:
        key = self.keys[0]
        if isinstance(after, Mapping):
            return (True, after[key]) if key in after else (False, self.now[1])
        had, has = self._count(before), self._count(after)
        if has >= had:
            return True, key
        return (False if has == 0 else None), key  # of several that are equal some went

    def _count(self, rows: Sequence[Any]) -> int:
        values = [row[0] for row in rows] if self._weighted else list(rows)
        return values.count(self.keys[0])

    @property
    def _weighted(self) -> bool:
        return self.table in self.configs.weighted


def with_member(value: Any, path: Path, new: Any) -> Any:
    """The value with the member at `path` replaced."""
    if not path:
        return new
    members = list(value)
    members[path[0]] = with_member(members[path[0]], path[1:], new)
    return tuple(members)


def member(value: Any, path: Path) -> Any:
    for i in path:
        value = value[i]
    return value
