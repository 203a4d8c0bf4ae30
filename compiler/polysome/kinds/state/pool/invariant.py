"""Pools give every value to one owner at a time and lose none."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from polysome.analysis.values_text import text
from polysome.engines.history import LENGTH, End, Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.values import ABSENT
from polysome.testing.builtin.base import Broken, KindInvariant, around, history_of, occasion
from polysome.testing.builtin.configs import Configs
from polysome.testing.builtin.events import events
from polysome.testing.builtin.rows import Path, member


@dataclass(frozen=True)
class Pools(KindInvariant):
    """A value that a pool hands out belongs to its domain, is free, and is the one that is free longest. It goes back
    at the moment when the last entry that holds it ends (or its handler ends, if it was stored nowhere), not before and
    not later. Free and taken values together are always the whole domain: none leaks, none is given twice.
    """

    name: ClassVar[str] = "pools"
    section: ClassVar[int] = 2

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(decl, ir.PoolDecl) for decl in program.state.values())

    def check(self, record: Record) -> int:
        return _Replay(record).run()


class _Domain:
    """The product of the axes at one time, ascending: by position in the first, then in the second, … (S2.1)."""

    def __init__(self, axes: Sequence[Sequence[Any]]) -> None:
        self.axes = [axis if isinstance(axis, range) else list(dict.fromkeys(axis)) for axis in axes]
        self._sets = [axis if isinstance(axis, range) else set(axis) for axis in self.axes]

    def __contains__(self, value: Any) -> bool:
        members = (value,) if len(self.axes) == 1 else value
        return all(m in axis for m, axis in zip(members, self._sets, strict=True))

    def beyond(self, old: _Domain | None, later: Sequence[_Domain]) -> Iterator[Any]:
        """The values that `old` has not, ascending; those that `later` domains lost may be left out."""
        single = len(self.axes) == 1
        return (found[0] if single else found for found in self._beyond(0, old, later))

    def _beyond(self, depth: int, old: _Domain | None, later: Sequence[_Domain]) -> Iterator[tuple[Any, ...]]:
        if depth == len(self.axes):
            if old is None:
                yield ()
            return
        axis, last = self.axes[depth], depth == len(self.axes) - 1
        if last and old is not None and axis == old.axes[depth]:  # else ports are looked at one by one
            return
        for part in axis:
            if not last and any(part not in domain._sets[depth] for domain in later):
                continue
            inner = old if old is not None and part in old._sets[depth] else None
            for rest in self._beyond(depth + 1, inner, later):
                yield (part, *rest)

    def __len__(self) -> int:
        count = 1
        for axis in self.axes:
            count *= len(axis)
        return count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Domain) and self.axes == other.axes

    __hash__ = None  # type: ignore[assignment]


@dataclass
class _Untouched:
    """Values that were never taken, ascending; `domains`: all that were in force since they came."""

    values: Iterator[Any]
    domains: list[_Domain]


@dataclass
class _Partition:
    """`free`: in order of falling time since it is free; `out`: how many entries hold each."""

    free: deque[Any] = field(default_factory=deque)  # values in a 1-tuple, or _Untouched
    out: dict[Any, int] = field(default_factory=dict)

    def reload(self, old: _Domain | None, new: _Domain) -> None:
        """S2.8, S2.9."""
        self.free = deque(f for f in self.free if isinstance(f, _Untouched) or f[0] in new)
        for f in self.free:
            if isinstance(f, _Untouched):
                f.domains.append(new)
        skip, later = set(self.out), list[_Domain]()
        self.free.append(_Untouched((v for v in new.beyond(old, later) if v not in skip), later))

    def next_free(self) -> tuple[Any] | None:
        while self.free:
            first = self.free[0]
            if not isinstance(first, _Untouched):
                found: tuple[Any] = self.free.popleft()
                return found
            for value in first.values:
                if all(value in domain for domain in first.domains):
                    return (value,)
            self.free.popleft()
        return None


class _ShadowPool:
    """One pool; `loose` values were taken in this handler, `back` must go back next."""

    def __init__(self, decl: ir.PoolDecl, configs: Configs) -> None:
        self.decl = decl
        self.domains = [
            _Domain([v[a] if isinstance(a, str) else range(a[0], a[1] + 1) for a in decl.axes])
            for v in configs.versions
        ]
        self.version = 0
        self.partitions: dict[Hashable, _Partition] = {}
        self.loose: dict[tuple[Hashable, Any], None] = {}
        self.back: tuple[Hashable, Any] | None = None

    @property
    def domain(self) -> _Domain:
        return self.domains[self.version]

    def move_to(self, version: int) -> None:
        while self.version < version:
            old, new = self.domains[self.version], self.domains[self.version + 1]
            self.version += 1
            if old != new:
                for part in self.partitions.values():
                    part.reload(old, new)

    def partition(self, key: Hashable) -> _Partition:
        """S2.10: one that nobody asked for lives through all changes too."""
        if key not in self.partitions:
            part = self.partitions[key] = _Partition()
            before = None
            for domain in self.domains[: self.version + 1]:
                if domain != before:
                    part.reload(before, domain)
                before = domain
        return self.partitions[key]

    def free(self, key: Hashable) -> int:
        part = self.partition(key)
        return len(self.domain) - sum(value in self.domain for value in part.out)


class _Replay:
    def __init__(self, record: Record) -> None:
        self.record, self.history = record, history_of(record)
        self.configs = Configs(record)
        state = record.program.state.values()
        self.pools = {d.name: _ShadowPool(d, self.configs) for d in state if isinstance(d, ir.PoolDecl)}
        self._owned = {d.name: owned(d.value) for d in state if isinstance(d, ir.MapDecl)}
        self._values: dict[tuple[str, Hashable], Any] = {}  # of entries that own something
        self._excess: dict[tuple[str, Any], int] = {}  # entries that hold a value, less what its pool was told
        self._stamp, self._time = 0, 0
        self._count = 0

    def run(self) -> int:
        if not self.pools:
            return 0
        for event in events(self.history):
            if (event.stamp, event.time) != (self._stamp, self._time):
                self._settled(event.stamp)
                self._stamp, self._time = event.stamp, event.time
            if isinstance(event, End):
                self._entry(event.map, event.key, None)
            elif event.state in self.pools:
                self._count += 1
                self._pool(event, self.pools[event.state])
            elif event.op == "put" and event.result is True:
                self._entry(event.state, event.args[0], event.args[1])
        self._settled(self._stamp + 1)
        return self._count

    # ------------------------------------------------------------ entries that own values

    def _entry(self, name: str, key: Hashable, value: Any) -> None:
        paths = self._owned.get(name)
        if not paths:
            return
        old = self._values.pop((name, key), None)
        if value is not None:
            self._values[name, key] = value
        for path, pool in paths:
            if old is not None:
                self._differ(pool, member(old, path), -1)
            if value is not None:
                self._differ(pool, member(value, path), 1)

    def _differ(self, pool: str, value: Any, by: int) -> None:
        now = self._excess.get((pool, value), 0) + by
        if now:
            self._excess[pool, value] = now
        else:
            self._excess.pop((pool, value), None)

    # ------------------------------------------------------------ what a pool does

    def _pool(self, op: Operation, pool: _ShadowPool) -> None:
        pool.move_to(self.configs.number(op.stamp, op.time))
        if pool.back is not None and (op.op != "give_back" or op.args != pool.back):
            raise self._broken(f"nothing holds {self._text(pool, pool.back[1])} any more, but it did not go back")
        if op.op == "take":
            self._take(op, pool)
            return
        partition, value = op.args
        out = pool.partition(partition).out
        shown = self._text(pool, value)
        if value not in out:
            raise self._broken(f"{shown} is free, but {_ACTIONS[op.op]}")
        match op.op:
            case "claim":
                out[value] += 1
                pool.loose.pop((partition, value), None)
                self._differ(pool.decl.name, value, -1)
            case "release":
                out[value] -= 1
                self._differ(pool.decl.name, value, 1)
                pool.back = (partition, value) if out[value] == 0 else None
            case "give_back":
                if out.pop(value):
                    raise self._broken(f"{shown} went back, although an entry still holds it")
                pool.loose.pop((partition, value), None)
                pool.back = None
                if value in pool.domain:
                    pool.partition(partition).free.append((value,))

    def _take(self, op: Operation, pool: _ShadowPool) -> None:
        part = pool.partition(op.args[0])
        found = part.next_free()
        if op.result is None:
            if found is not None:
                raise self._broken(
                    f"`{op.state}` said that nothing is free", f"{self._text(pool, found[0])} is free, and longest"
                )
            return
        shown = self._text(pool, op.result)
        if op.result in part.out:
            raise self._broken(f"`{op.state}` gave {shown}, which is taken already")
        if op.result not in pool.domain:
            raise self._broken(f"`{op.state}` gave {shown}, which is not in its domain")
        if found is None or found[0] != op.result:
            longest = "nothing" if found is None else self._text(pool, found[0])
            raise self._broken(f"`{op.state}` gave {shown}", f"{longest} is the one that is free longest")
        part.out[op.result] = 0
        pool.loose[op.args[0], op.result] = None

    def _settled(self, stamp: int) -> None:
        """Between two handlers: nothing is loose, entries and pools agree; at the end of a stamp the count is right."""
        for name, pool in self.pools.items():
            loose = pool.back or next(iter(pool.loose), None)
            if loose is not None:
                shown = self._text(pool, loose[1])
                raise self._broken(f"{shown} was taken from `{name}`, nothing holds it, and it did not go back")
            if stamp != self._stamp:
                self._length(name, pool)
        for (name, value), excess in self._excess.items():
            shown = self._text(self.pools[name], value)
            if excess > 0:
                raise self._broken(f"an entry holds {shown}, but `{name}` does not know that: it may give it again")
            raise self._broken(f"`{name}` believes that {shown} is held, but no entry holds it: it is lost")

    def _length(self, name: str, pool: _ShadowPool) -> None:
        version = self.configs.number(self._stamp, self._time)
        pool.move_to(version)
        for key in list(pool.partitions):
            shown = self.history.read(self._stamp, name, LENGTH, key)
            # After the last event of a stamp the config may have changed yet: then the count is of a later version.
            later = self.configs.number(self._stamp | 1, self._until()) != version
            if shown is not ABSENT and not later and shown != pool.free(key):
                raise self._broken(f"`{name}` has {pool.free(key)} free values, but says that it has {shown}")

    def _until(self) -> int:
        """The time up to which the present stamp goes."""
        fates = self.record.fates
        return fates[min(self._stamp // 2, len(fates) - 1)].at if fates else self._time

    # ------------------------------------------------------------ words

    def _broken(self, first: str, *rest: str) -> Broken:
        stamp = self._stamp
        return Broken(around(self.record, stamp), f"{occasion(self.record, stamp, self._time)}: {first}", *rest)

    def _text(self, pool: _ShadowPool, value: Any) -> str:
        return text(value, pool.decl.item, self.record.program)


_ACTIONS = {
    "claim": "an entry took it without asking the pool",
    "release": "an entry released it",
    "give_back": "it went back once more",
}


def owned(type: t.Type | None, path: Path = ()) -> list[tuple[Path, str]]:
    """Where a value owns something, and of which pool."""
    match type:
        case t.FromPool(pool, _):
            return [(path, pool)]
        case t.Struct(_, fields):
            return [o for i, (_, f) in enumerate(fields) for o in owned(f, (*path, i))]
        case t.Tuple(items):
            return [o for i, f in enumerate(items) for o in owned(f, (*path, i))]
        case _:
            return []


INVARIANT = Pools()
