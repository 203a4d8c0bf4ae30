"""State that tells a History what happens to it: the interpreter's own classes, watched."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from polysome.engines.history import LENGTH, End, History, Lookup, Offer, Operation
from polysome.interp.state import States
from polysome.ir import program as ir
from polysome.ir import properties as pr
from polysome.ir import types as t
from polysome.ir.walk import walk
from polysome.kinds.base import Trap
from polysome.kinds.policy.base import Item, Policy
from polysome.kinds.state import STATE_KINDS, is_mapping
from polysome.kinds.state.array import Array
from polysome.kinds.state.flow_map import Entry, FlowMap
from polysome.kinds.state.pool import Pool
from polysome.kinds.values import ABSENT, Taken, plain

if TYPE_CHECKING:
    from polysome.interp.machine import Machine


class Journal:
    """Writes to the history under the present stamp and time."""

    def __init__(self, machine: Machine) -> None:
        self.history = History()
        self.stamp = 0
        self._clock = machine.clock

    def write(self, state: str, part: str, key: Hashable, value: Any) -> None:
        self.history.write(self.stamp, state, part, key, value)

    def operation(self, state: str, op: str, args: tuple[Any, ...], result: Any) -> None:
        done = Operation(self.stamp, self._clock.now, state, op, tuple(map(plain, args)), plain(result))
        self.history.operations.append(done)

    def lookup(self, config: str, args: tuple[Any, ...], result: Any) -> Any:
        """Writes it down and hands the result on."""
        found = Lookup(self.stamp, self._clock.now, config, tuple(map(plain, args)), plain(result))
        self.history.lookups.append(found)
        return result

    def end(self, map: str, entry: Entry, why: int) -> None:
        order = len(self.history.operations)
        key, value = entry.key, plain(entry.value)
        self.history.ends.append(End(self.stamp, self._clock.now, map, key, value, why, order))


class RecordedMap(FlowMap):
    """A map whose operations, versions and ends are recorded."""

    journal: Journal
    _why = 0

    def get(self, key: Hashable) -> Any:
        return self._said("get", (key,), super().get(key))

    def peek(self, key: Hashable) -> Any:
        return self._said("peek", (key,), super().peek(key))

    def contains(self, key: Hashable) -> bool:
        found: bool = self._said("contains", (key,), super().contains(key))
        return found

    def find(self, index: str, index_key: Hashable) -> tuple[Any, Any] | None:
        found: tuple[Any, Any] | None = self._said("find", (index, index_key), super().find(index, index_key))
        return found

    def peek_index(self, index: str, index_key: Hashable) -> tuple[Any, Any] | None:
        found: tuple[Any, Any] | None = self._said(
            "peek_index", (index, index_key), super().peek_index(index, index_key)
        )
        return found

    def has(self, index: str, index_key: Hashable) -> bool:
        found: bool = self._said("has", (index, index_key), super().has(index, index_key))
        return found

    def items(self) -> list[tuple[Any, Any]]:
        found = super().items()
        self._said("items", (), tuple(found))
        return found

    def put(self, key: Hashable, value: Any) -> bool:
        args = (key, value)
        try:
            stored = super().put(key, value)
        except Trap as trap:
            self._said("put", args, trap.reason)
            raise
        self._said("put", args, stored)
        return stored

    def remove(self, key: Hashable) -> None:
        self._said("remove", (key,), None)
        super().remove(key)

    def changed_rows(self) -> None:
        """The config changed: entries whose row is gone read as absent, others may have another value."""
        if self._alive is not None:
            for entry in self._entries.values():
                self._version(entry, self._reads(entry))

    def _said(self, op: str, args: tuple[Any, ...], result: Any) -> Any:
        self.journal.operation(self.name, op, args, result)
        return result

    def _insert(self, key: Hashable, value: Any, index_keys: tuple[Hashable, ...]) -> None:
        super()._insert(key, value, index_keys)
        self.journal.write(self.name, LENGTH, None, len(self._entries))

    def _write(self, entry: Entry, value: Any, index_keys: tuple[Hashable, ...]) -> None:
        super()._write(entry, value, index_keys)
        self._version(entry, True)

    def _version(self, entry: Entry, there: bool) -> None:
        value = plain(entry.value)
        self.journal.write(self.name, "", entry.key, (entry.seq, value) if there else ABSENT)
        for index, key in zip(self._index_names, entry.index_keys, strict=True):
            self.journal.write(self.name, index, key, (entry.key, value) if there else ABSENT)

    def _end(self, entry: Entry, why: int) -> None:
        self._why = why
        super()._end(entry, why)

    def _drop_index_keys(self, entry: Entry) -> None:
        for index, cell, key in zip(self._index_names, self._indexes, entry.index_keys, strict=True):
            if cell.get(key) is entry:
                self.journal.write(self.name, index, key, ABSENT)
        super()._drop_index_keys(entry)
        if entry.ended:
            self.journal.write(self.name, "", entry.key, ABSENT)
            self.journal.write(self.name, LENGTH, None, len(self._entries))
            self.journal.end(self.name, entry, self._why)


class RecordedPool(Pool):
    """A pool that records what is taken, what goes back, and how much is free."""

    journal: Journal

    def take(self, partition: Hashable = None) -> Taken | None:
        taken = super().take(partition)
        self.journal.operation(self.name, "take", (partition,), None if taken is None else taken.value)
        self._free(partition)
        return taken

    def claim(self, taken: Taken) -> None:
        super().claim(taken)
        self.journal.operation(self.name, "claim", (taken.partition, taken.value), None)

    def release(self, taken: Taken) -> None:
        self.journal.operation(self.name, "release", (taken.partition, taken.value), None)
        super().release(taken)

    def reload(self) -> None:
        super().reload()
        self.free_everywhere()

    def free_everywhere(self) -> None:
        """Versions for every partition, and for all that were never asked (key `...`)."""
        self._free(...)
        for partition in self._partitions:
            self._free(partition)

    def _give_back(self, taken: Taken) -> None:
        super()._give_back(taken)
        self.journal.operation(self.name, "give_back", (taken.partition, taken.value), None)
        self._free(taken.partition)

    def _free(self, partition: Hashable) -> None:
        self.journal.write(self.name, LENGTH, partition, self.available(partition))


class RecordedArray(Array):
    """An array whose reads and writes are recorded."""

    journal: Journal

    def get(self, i: int) -> Any:
        value = super().get(i)
        self.journal.operation(self.name, "get", (i,), value)
        return value

    def set(self, i: int, value: Any) -> None:
        super().set(i, value)
        self.journal.operation(self.name, "set", (i, value), None)
        self.journal.write(self.name, "", i, value)


class RecordedScalars(dict[str, Any]):
    """Scalars whose reads and writes are recorded."""

    journal: Journal

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        self.journal.operation(name, "get", (), value)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        if hasattr(self, "journal"):
            self.journal.operation(name, "set", (value,), None)
            self.journal.write(name, "", None, value)


class RecordedKind:
    """State of a method-style kind: every call is recorded, and a copy kept of what a property looks into."""

    def __init__(self, name: str, kind: str, inner: Any, journal: Journal, copied: bool) -> None:
        self.inner = inner
        self.dirty = copied
        self._name, self._journal, self._copied = name, journal, copied
        self._writing = {method.name for method in STATE_KINDS[kind].methods if method.writes}

    def __getattr__(self, method: str) -> Any:
        function = getattr(self.inner, method)

        def call(*args: Any) -> Any:
            result = function(*args)
            self.dirty = self.dirty or (self._copied and method in self._writing)
            self._journal.operation(self._name, method, args, result)
            return result

        return call

    def __contains__(self, item: Any) -> bool:
        found = item in self.inner
        self._journal.operation(self._name, "contains", (item,), found)
        return found

    def __iter__(self) -> Iterator[Any]:
        found = tuple(self.inner)
        self._journal.operation(self._name, "items", (), found)
        return iter(found)

    def __len__(self) -> int:
        return len(self.inner)

    def keep(self) -> None:
        """A copy, if it changed since the last one."""
        if self.dirty:
            self._journal.write(self._name, "", None, copy.deepcopy(self.inner))
            self.dirty = False


class RecordedPolicy(Policy):
    """A schedule that records what it is offered."""

    __slots__ = ("history", "inner")

    def __init__(self, inner: Policy, history: History) -> None:
        super().__init__(inner.leave, inner.drop)
        self.inner, self.history = inner, history

    def offer(self, item: Item, now: int) -> None:
        self.history.offers.append(Offer(item.order, now, item.port, item.size, plain(item.cls), item.args))
        self.inner.offer(item, now)

    def next_due(self) -> int | None:
        return self.inner.next_due()

    def run_due(self) -> None:
        self.inner.run_due()

    def held(self) -> int:
        return self.inner.held()


class RecordedTable:
    """A config table whose lookups are recorded."""

    def __init__(self, name: str, inner: Any, journal: Journal) -> None:
        self._name, self._inner, self._journal = name, inner, journal

    def get(self, *args: Any) -> Any:
        return self._journal.lookup(self._name, args, self._inner.get(*args))

    def lookup(self, *args: Any) -> Any:
        return self._journal.lookup(self._name, args, self._inner.lookup(*args))

    def __len__(self) -> int:
        return len(self._inner)


class RecordedConfig:
    """The config as generated code reads it: `current`, with tables that record what is asked of them.

    Mappings do not: they are read in other ways too.
    """

    def __init__(self, program: ir.Program, current: Mapping[str, Any], journal: Journal) -> None:
        self._current, self._journal = current, journal
        self._watched = {
            name
            for name, decl in program.config.items()
            if isinstance(decl.type, t.Table) and not is_mapping(decl.type)
        }

    def __getitem__(self, name: str) -> Any:
        value = self._current[name]
        return RecordedTable(name, value, self._journal) if name in self._watched else value


class RecordedStates(States):
    """All state of a machine, watched."""

    map_type = RecordedMap
    pool_type = RecordedPool
    array_type = RecordedArray

    def __init__(self, program: ir.Program, machine: Machine) -> None:
        super().__init__(program, machine)
        self.journal = Journal(machine)
        self.kinds: list[RecordedKind] = []
        wanted = looked_into(program)
        for name, decl in program.state.items():
            match decl:
                case ir.KindDecl(kind=kind):
                    recorded = RecordedKind(name, kind, self.objects[name], self.journal, name in wanted)
                    self.objects[name] = recorded
                    self.kinds.append(recorded)
                case ir.ScalarDecl(initial=initial):
                    self.journal.write(name, "", None, initial)
                case _:
                    self.objects[name].journal = self.journal
        for pool in self.pools:
            assert isinstance(pool, RecordedPool)
            pool.free_everywhere()
        self.keep()

    def keep(self) -> None:
        """Copies of the kinds that properties look into, as of now."""
        for kind in self.kinds:
            kind.keep()

    def _on_end(self, decl: ir.MapDecl) -> Callable[[Any, Any, int], None] | None:
        inner = super()._on_end(decl)
        if inner is None:
            return None

        def on_end(key: Any, value: Any, why: int) -> None:
            self.journal.operation(decl.name, "on end", (key, value, why), None)
            inner(key, value, why)

        return on_end

    def reload(self) -> None:
        super().reload()
        for m in self.maps:
            assert isinstance(m, RecordedMap)
            m.changed_rows()

    def _bucket_has(self, state: str, key: Any, path: tuple[int, ...], *rest: Any) -> bool:
        found = super()._bucket_has(state, key, path, *rest)
        self.journal.operation(state, "bucket_has", (key, path, *rest[:-1]), found)
        return found

    def _bucket_take(self, state: str, key: Any, path: tuple[int, ...], *rest: Any) -> bool:
        taken = super()._bucket_take(state, key, path, *rest)
        self.journal.operation(state, "bucket_take", (key, path, *rest[:-1]), taken)
        return taken


@lru_cache(maxsize=256)
def looked_into(program: ir.Program) -> frozenset[str]:
    """The method-style state that properties read before or after a packet."""
    found = set()
    for node in walk(program.properties):
        if isinstance(node, pr.Snapshot):
            state = getattr(node.read, "state", None)
            if isinstance(state, str):
                found.add(state)
    return frozenset(found)
