"""How state and config went on during a run: versions by stamp, operations, ends of entries.

A *stamp* orders what happened: 2n is all that is due by packet n, config changes included; 2n + 1 is what its handler
did. So "before packet n" is the last version with a stamp of at most 2n, "after" of at most 2n + 1.

Values are plain: what refers to a row of a config table or belongs to a pool reads as the value itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from polysome.kinds.values import ABSENT, Row

LENGTH: Final = "len"


@dataclass(frozen=True, slots=True)
class Operation:
    """One use of state: `op` is the method's name as in `kinds` (get, put, remove, take, …), `result` what it returned.

    A token bucket has `bucket_take` and `bucket_has`, with the arguments (key, path, n, rate, burst, unit), a pool
    `claim`, `release` and `give_back` (partition, value). A `put` stands after all that it ended; if it trapped, its
    result is the reason. `on end` (key, value, why) is the beginning of the handler of that name.
    """

    stamp: int
    time: int
    state: str
    op: str
    args: tuple[Any, ...]
    result: Any


@dataclass(frozen=True, slots=True)
class End:
    """An entry of `map` ended at `time`; `why` is a number of `ir.types.END`. `order` counts operations before it."""

    stamp: int
    time: int
    map: str
    key: Any
    value: Any
    why: int
    order: int


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look into the `config` table of this name (no mapping), with what the table was asked and answered."""

    stamp: int
    time: int
    config: str
    args: tuple[Any, ...]
    result: Any


@dataclass(frozen=True, slots=True)
class Offer:
    """A copy of packet `number` that was handed to the schedule at `time`: `kinds.policy.base.Item` as plain values."""

    number: int
    time: int
    port: int
    size: int
    order_class: Any
    args: tuple[int, ...]


@dataclass(slots=True)
class _Versions:
    stamps: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, stamp: int, value: Any) -> None:
        if self.stamps and self.stamps[-1] == stamp:
            self.values[-1] = value
        else:
            self.stamps.append(stamp)
            self.values.append(value)

    def at(self, stamp: int) -> Any:
        i = bisect_right(self.stamps, stamp)
        return self.values[i - 1] if i else ABSENT


class History:
    """All versions of all state and config; reads are O(log n) but `entries`."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.ends: list[End] = []
        self.lookups: list[Lookup] = []
        self.offers: list[Offer] = []
        self._config = _Versions()
        self._cells: dict[tuple[str, str, Hashable], _Versions] = {}
        self._keys: dict[str, dict[Hashable, None]] = {}
        self._writes: dict[str, list[int]] = {}

    def like(self, other: History) -> bool:
        """Did state and config go the same way, by the same operations?"""
        return all(mine == theirs for mine, theirs in zip(self._parts(), other._parts(), strict=True))

    def _parts(self) -> tuple[Any, ...]:
        return self.operations, self.ends, self.lookups, self.offers, self._config, self._cells

    # ------------------------------------------------------------ writing

    def write(self, stamp: int, state: str, part: str, key: Hashable, value: Any) -> None:
        """A new version; `part` tells cells of one state apart: "" for entries, an index's name, LENGTH, …"""
        cell = self._cells.get((state, part, key))
        if cell is None:
            cell = self._cells[state, part, key] = _Versions()
            if part == "":
                self._keys.setdefault(state, {})[key] = None
        cell.add(stamp, value)
        if part == "":
            self._writes.setdefault(state, []).append(stamp)

    def configure(self, stamp: int, current: Mapping[str, Any]) -> None:
        """The config from now on, as `Tables.current` has it; rows are copied, because those of maps change."""
        self._config.add(stamp, {name: _copied(value) for name, value in current.items()})

    # ------------------------------------------------------------ reading

    def read(self, stamp: int, state: str, part: str, key: Hashable) -> Any:
        """The version at `stamp`, or ABSENT.

        | state        | part           | key        | value                                        |
        |--------------|----------------|------------|----------------------------------------------|
        | map, set     | ""             | key        | (number of insertion, plain value; a set: None) |
        | map          | name of index  | index key  | (key, plain value)                           |
        | map, set     | LENGTH         | None       | number of entries                            |
        | array        | ""             | index      | value; ABSENT: never written                 |
        | scalar       | ""             | None       | value                                        |
        | pool         | LENGTH         | partition  | free values; ABSENT: as for key `...`        |
        | other kinds  | ""             | None       | a copy of the object, if properties look into it |
        """
        cell = self._cells.get((state, part, key))
        return ABSENT if cell is None else cell.at(stamp)

    def entries(self, stamp: int, state: str) -> list[tuple[Any, Any]]:
        """(key, plain value) of all entries of a map or set at `stamp`, in order of insertion. O(keys ever there)."""
        found = []
        for key in self._keys.get(state, ()):
            version = self.read(stamp, state, "", key)
            if version is not ABSENT:
                found.append((version[0], key, version[1]))
        return [(key, value) for _, key, value in sorted(found, key=lambda entry: entry[0])]

    def writes(self, stamp: int, state: str) -> int:
        """How often an entry was written or ended by `stamp`: the same number, the same `entries`."""
        return bisect_right(self._writes.get(state, []), stamp)

    def config(self, stamp: int) -> Mapping[str, Any]:
        """The config at `stamp`, in the form of `Tables.current`."""
        found: Mapping[str, Any] = self._config.at(stamp)
        return found


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: Row(row.value) if isinstance(row, Row) else row for key, row in value.items()}
    return value
