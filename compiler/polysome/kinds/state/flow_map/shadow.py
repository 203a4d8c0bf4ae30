"""A map or set rebuilt from what was asked of it, by STATE.md, section 1; no code of the kinds is used."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from polysome.ir import program as ir
from polysome.testing.builtin.configs import Configs
from polysome.testing.builtin.formulas import Formula, index_formulas, timeout
from polysome.testing.builtin.rows import Reference, member, references, with_member

LAST_TIME = (1 << 64) - 1
NEVER = 1 << 80


@dataclass(eq=False)
class Shadow:
    """An entry: key, value as stored, place in the order of insertion, times in ns."""

    key: Hashable
    place: int
    value: Any = None
    used: int = 0
    written: int = 0
    idle: int = NEVER
    age: int = NEVER
    rows: list[tuple[tuple[int, ...], Reference]] = field(default_factory=list)
    index_keys: dict[str, Hashable] = field(default_factory=dict)

    @property
    def due(self) -> int:
        """When it must end (S1.2); NEVER or more if it does not end by itself."""
        found = min(self.used + self.idle, self.written + self.age)
        return found if found <= LAST_TIME else NEVER


class ShadowMap:
    """What must be in a map. `version` in calls is the number of the config in force."""

    def __init__(self, program: ir.Program, decl: ir.MapDecl, configs: Configs) -> None:
        self.decl, self.configs = decl, configs
        self.idle, self.age = timeout(program, decl.name, "idle"), timeout(program, decl.name, "age")
        self.formulas = index_formulas(program, decl.name)
        self.entries: dict[Hashable, Shadow] = {}
        self.indexes: dict[str, dict[Hashable, Shadow]] = {name: {} for name in self.formulas}
        self._references = references(decl.value)
        self._places = 0

    def reads(self, entry: Shadow, version: int) -> tuple[bool | None, Any]:
        """Whether it can be read (None: cannot be told), and what it reads as (S1.13)."""
        value, there = entry.value, True
        unknown = False
        for path, row in entry.rows:
            present, now = row.at_version(version)
            value = with_member(value, path, now)
            there = there and present is not False
            unknown = unknown or present is None
        return (None if there and unknown else there), value

    def holder(self, key: Hashable, value: Any, version: int) -> tuple[str, Shadow] | None:
        """Another entry that has one of the keys that such an entry would have in the indexes (S1.12, S1.14)."""
        for name, index_key in self.index_keys(key, value, version).items():
            other = self.indexes[name].get(index_key)
            if other is not None and other.key != key and self.reads(other, version)[0]:
                return name, other
        return None

    def index_keys(self, key: Hashable, value: Any, version: int) -> dict[str, Hashable]:
        config = self.configs.versions[version]
        return {name: formula(config, key, value) for name, formula in self.formulas.items()}

    def use(self, entry: Shadow, now: int, version: int) -> None:
        """S1.1, S1.5."""
        entry.used = now
        entry.idle = self._span(self.idle, entry, version)

    def put(self, key: Hashable, value: Any, now: int, version: int) -> Shadow:
        """S1.3: inserts or overwrites."""
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Shadow(key, self._places)
            self._places += 1
        self._leave_indexes(entry)
        entry.value = value
        entry.rows = [
            (path, Reference(self.configs, table, member(value, path), version)) for path, table in self._references
        ]
        entry.written = now
        self.use(entry, now, version)
        entry.age = self._span(self.age, entry, version)
        entry.index_keys = self.index_keys(key, value, version)
        for name, index_key in entry.index_keys.items():
            self.indexes[name][index_key] = entry
        return entry

    def remove(self, entry: Shadow) -> None:
        del self.entries[entry.key]
        self._leave_indexes(entry)

    def oldest(self) -> Shadow:
        """S1.7."""
        by_write = self.decl.age is not None and self.decl.idle is None
        return min(self.entries.values(), key=lambda e: (e.written if by_write else e.used, e.place))

    def _leave_indexes(self, entry: Shadow) -> None:
        for name, index_key in entry.index_keys.items():
            if self.indexes[name].get(index_key) is entry:
                del self.indexes[name][index_key]

    def _span(self, span: int | Formula | None, entry: Shadow, version: int) -> int:
        if span is None:
            return NEVER
        if isinstance(span, int):
            return span
        found: int = span(self.configs.versions[version], entry.key, self.reads(entry, version)[1])
        return found
