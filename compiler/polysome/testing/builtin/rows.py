"""Rows of config tables that stored values refer to (LANGUAGE.md L8.4), followed by what the trace says."""

from __future__ import annotations

from collections.abc import Mapping
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
        if (not isinstance(rows, Mapping) and not self._count(since)) or not self.keys:
            self.now = (False, value)

    def at_version(self, version: int) -> Found:
        """As of a version, not before any that was asked for."""
        while self.at < version:
            before, after = (self.configs.versions[v][self.table] for v in (self.at, self.at + 1))
            if self.now[0] and after is not before:
                self.now = self._next(after)
            self.at += 1
        return self.now

    def _next(self, after: Any) -> Found:
        """In the version after `at`, which has these rows."""
        key = self.keys[0]
        if isinstance(after, Mapping):
            return (True, after[key]) if key in after else (False, self.now[1])
        had, has = self._count(self.at), self._count(self.at + 1)
        if has >= had:
            return True, key
        return (False if has == 0 else None), key  # of several that are equal some went

    def _count(self, version: int) -> int:
        return self.configs.values(version, self.table).count(self.keys[0])


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
