"""Maps and sets hold what was written to them, exactly as long as they must."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, ClassVar

from polysome.analysis.values_text import text
from polysome.engines.history import LENGTH, End, Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.state.flow_map.shadow import NEVER, Shadow, ShadowMap
from polysome.kinds.values import ABSENT
from polysome.testing.builtin.base import Broken, KindInvariant, around, history_of, occasion, when
from polysome.testing.builtin.configs import Configs
from polysome.testing.builtin.events import events

IDLE, AGE, EVICTED, REMOVED = range(4)
WHY = [name for name, _ in t.END.members]
NESTED = 8  # ends of one map within each other, beyond which an end traps (S1.10)


@dataclass(frozen=True)
class Expiry(KindInvariant):
    """Entries of maps and sets end exactly when they must, to the nanosecond, in the right order and for the right
    reason, and `on end` runs then; none ends early, none is used late. What is read is what was written last, by the
    key and by every index. A full map does what `when full` says: it never holds more than its capacity, evicts only
    the oldest entry, and never refuses or loses anything else.
    """

    name: ClassVar[str] = "expiry"
    section: ClassVar[int] = 1

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(decl, ir.MapDecl) for decl in program.state.values())

    def check(self, record: Record) -> int:
        return _Replay(record).run()


@dataclass(eq=False)
class _Watched:
    """A map, with what must come next."""

    number: int
    shadow: ShadowMap
    removing: Shadow | None = None
    evictions: int = 0
    ended: list[End] = field(default_factory=list)  # their `on end` has not begun
    nested: tuple[int, int, int] = (0, 0, 0)  # stamp, time, ends at that


class _Replay:
    """Follows a run, event by event."""

    def __init__(self, record: Record) -> None:
        self.record, self.history = record, history_of(record)
        self.configs = Configs(record)
        program = record.program
        maps = [decl for decl in program.state.values() if isinstance(decl, ir.MapDecl)]
        self.maps = {d.name: _Watched(i, ShadowMap(program, d, self.configs)) for i, d in enumerate(maps)}
        self._due: list[tuple[int, int, int, int, Shadow]] = []
        self._pushed = 0
        self._count = 0
        self._stamp, self._time = 0, 0

    def run(self) -> int:
        for event in events(self.history):
            if isinstance(event, Operation) and event.state not in self.maps:
                continue
            self._moved(event.stamp, event.time)
            self._overdue(event.stamp, event.time)
            self._count += 1
            if isinstance(event, End):
                self._end(event, self.maps[event.map])
            else:
                self._operation(event, self.maps[event.state])
        stamp = 2 * len(self.record.fates)
        self._moved(stamp, self._time)
        if self.record.fates:
            self._overdue(stamp + 1, self.record.fates[-1].at)
        return self._count

    # ------------------------------------------------------------ time

    def _moved(self, stamp: int, time: int) -> None:
        """From one instant or handler to the next: what was begun must be complete."""
        if (stamp, time) == (self._stamp, self._time):
            return
        for name, m in self.maps.items():
            if m.removing is not None:
                raise self._broken(self._stamp, f"`remove` left the entry {self._key(m, m.removing.key)} in `{name}`")
            self._on_end_ran(m)
            if m.evictions:
                raise self._broken(self._stamp, f"`{name}` evicted an entry, but nothing was written to it")
            if stamp != self._stamp:
                self._length(name, m)
        self._stamp, self._time = stamp, time

    def _length(self, name: str, m: _Watched) -> None:
        shown = self.history.read(self._stamp, name, LENGTH, None)
        if (0 if shown is ABSENT else shown) != len(m.shadow.entries):
            expected = f"`{name}` holds {len(m.shadow.entries)} entries, but says that it holds {shown}"
            raise self._broken(self._stamp, expected)

    def _overdue(self, stamp: int, time: int) -> None:
        """No entry outlives its time: before a handler, all that is due at its instant is gone (L2.3)."""
        first = self._first()
        if first is None or first[0] > time or (first[0] == time and stamp % 2 == 0):
            return
        due, number, entry = first
        name, m = list(self.maps.items())[number]
        last = f"last used at {when(self.record, entry.used)}, last written at {when(self.record, entry.written)}"
        raise self._broken(
            stamp,
            f"the entry {self._key(m, entry.key)} of `{name}` must end at {when(self.record, due)} ({last})",
            f"it was still there at {when(self.record, time)}",
        )

    def _first(self) -> tuple[int, int, Shadow] | None:
        """(due, number of the map, entry) of what must end next."""
        while self._due:
            due, number, _, _, entry = self._due[0]
            shadow = list(self.maps.values())[number].shadow
            if shadow.entries.get(entry.key) is entry and entry.due == due:
                return due, number, entry
            heappop(self._due)
        return None

    def _schedule(self, m: _Watched, entry: Shadow) -> None:
        if entry.due != NEVER:
            heappush(self._due, (entry.due, m.number, entry.place, self._pushed, entry))
            self._pushed += 1

    # ------------------------------------------------------------ ends

    def _end(self, end: End, m: _Watched) -> None:
        entry = m.shadow.entries.get(end.key)
        shown = f"the entry {self._key(m, end.key)} of `{end.map}`"
        if entry is None:
            raise self._broken(end.stamp, f"{shown} ended ({WHY[end.why]}), but it was not there")
        value = m.shadow.reads(entry, self.configs.number(end.stamp, end.time))
        if value[0] is True and value[1] != end.value:
            raise self._wrong(
                end, m, f"{shown} ended with a value that was not the last one written", value[1], end.value
            )
        if end.why in (IDLE, AGE):
            self._by_itself(end, m, entry, shown)
        elif end.why == EVICTED:
            self._evicted(end, m, entry, shown)
        elif m.removing is not entry:
            raise self._broken(end.stamp, f"{shown} was removed, but nothing asked for that")
        m.removing = None
        stamp, time, count = m.nested
        m.nested = (end.stamp, end.time, count + 1 if (stamp, time) == (end.stamp, end.time) else 1)
        m.shadow.remove(entry)
        if end.map in self.record.program.end_handlers:
            m.ended.append(end)

    def _by_itself(self, end: End, m: _Watched, entry: Shadow, shown: str) -> None:
        if entry.due != end.time:
            due = "never" if entry.due == NEVER else f"at {when(self.record, entry.due)}"
            raise self._broken(
                end.stamp,
                f"{shown} must end {due}: it was used at {when(self.record, entry.used)} and written at "
                f"{when(self.record, entry.written)}",
                f"it ended at {when(self.record, end.time)} ({WHY[end.why]})",
            )
        if end.stamp % 2:
            raise self._broken(end.stamp, f"{shown} ended in the middle of a handler, although nothing evicted it")
        first = self._first()
        if first is not None and first[2] is not entry:
            name = list(self.maps)[first[1]]
            other = f"{self._key(self.maps[name], first[2].key)} of `{name}`"
            raise self._broken(end.stamp, f"{shown} ended before {other}, whose turn it was")
        why = IDLE if entry.used + entry.idle == entry.due else AGE
        if end.why != why:
            raise self._broken(end.stamp, f"{shown} ended by {WHY[why]}, but is said to have ended by {WHY[end.why]}")

    def _evicted(self, end: End, m: _Watched, entry: Shadow, shown: str) -> None:
        decl = m.shadow.decl
        if decl.when_full != "evict" or len(m.shadow.entries) < decl.capacity:
            raise self._broken(
                end.stamp,
                f"{shown} was evicted, although `{end.map}` "
                + (f"held {len(m.shadow.entries)} of {decl.capacity}" if decl.when_full == "evict" else "never evicts"),
            )
        oldest = m.shadow.oldest()
        if oldest is not entry:
            raise self._broken(
                end.stamp,
                f"`{end.map}` must evict its oldest entry, {self._key(m, oldest.key)}, used at "
                f"{when(self.record, oldest.used)}",
                f"it evicted {self._key(m, end.key)}, used at {when(self.record, entry.used)}",
            )
        m.evictions += 1

    def _on_end_ran(self, m: _Watched) -> None:
        if m.ended:
            end = m.ended[-1]
            raise self._broken(
                end.stamp, f"the entry {self._key(m, end.key)} of `{end.map}` ended, but `on end` did not run"
            )

    # ------------------------------------------------------------ operations

    def _operation(self, op: Operation, m: _Watched) -> None:
        if op.op == "on end":
            self._began(op, m)
            return
        self._on_end_ran(m)
        if m.removing is not None and m.nested[2] < NESTED:
            shown = self._key(m, m.removing.key)
            raise self._broken(op.stamp, f"`remove` left the entry {shown} in `{op.state}`")
        m.removing = None
        version = self.configs.number(op.stamp, op.time)
        match op.op:
            case "get" | "peek" | "contains":
                self._read(op, m, m.shadow.entries.get(op.args[0]), version)
            case "find" | "peek_index" | "has":
                self._read(op, m, m.shadow.indexes[op.args[0]].get(op.args[1]), version)
            case "put":
                self._put(op, m, version)
            case "remove":
                m.removing = m.shadow.entries.get(op.args[0])
            case "items":
                self._items(op, m, version)

    def _began(self, op: Operation, m: _Watched) -> None:
        """An `on end` handler: it is told of the entry that ended last."""
        end = m.ended.pop() if m.ended else None
        if end is None:
            raise self._broken(op.stamp, f"`on end` of `{op.state}` ran, but no entry ended")
        if op.args != (end.key, end.value, end.why):
            raise self._broken(
                op.stamp,
                f"`on end` of `{op.state}` was told of another entry than the one that ended",
                *(
                    f"{which} {self._key(m, key)} -> {self._value(m, value)}, {WHY[why]}"
                    for which, (key, value, why) in (
                        ("expected:", (end.key, end.value, end.why)),
                        ("found:   ", op.args),
                    )
                ),
            )

    def _read(self, op: Operation, m: _Watched, entry: Shadow | None, version: int) -> None:
        there, value = (False, None) if entry is None else m.shadow.reads(entry, version)
        if there is None:
            there, value = bool(op.result), op.result
        elif op.op in ("contains", "has"):
            if op.result is not there:
                raise self._wrong_read(op, m, "there" if there else "not there", "there" if op.result else "not there")
        else:
            found = (entry.key, value) if entry is not None and op.op in ("find", "peek_index") else value
            expected = found if there else None
            if op.result != expected:
                raise self._wrong_read(op, m, self._found(m, op, expected), self._found(m, op, op.result))
        if entry is not None and there and op.op in ("get", "find"):
            m.shadow.use(entry, op.time, version)
            self._schedule(m, entry)

    def _items(self, op: Operation, m: _Watched, version: int) -> None:
        ordered = sorted(m.shadow.entries.values(), key=lambda e: e.place)
        read = [(e.key, *m.shadow.reads(e, version)) for e in ordered]
        if any(there is None for _, there, _ in read):
            return
        expected = tuple((key, value) for key, there, value in read if there)
        if op.result != expected:
            said = f"a loop over `{op.state}` must see {len(expected)} entries in order of insertion"
            raise self._broken(op.stamp, said, f"it saw {len(op.result)}, or others, or in another order")

    def _put(self, op: Operation, m: _Watched, version: int) -> None:
        key, value = op.args
        shadow, decl = m.shadow, m.shadow.decl
        m.evictions = max(0, m.evictions - 1)
        if isinstance(op.result, str) and (op.result.startswith("value not taken") or "nested too deep" in op.result):
            return
        taken = shadow.holder(key, value, version)
        full = key not in shadow.entries and len(shadow.entries) >= decl.capacity
        if taken is not None:
            expected: Any = f"index {taken[0]} of {decl.name} taken"
            if shadow.reads(taken[1], version)[0] is None:
                expected = op.result
        elif full:
            expected = False if decl.when_full == "pass" else f"{decl.name} full"
        else:
            expected = True
        if op.result != expected:
            raise self._broken(
                op.stamp,
                f"writing {self._key(m, key)} to `{decl.name}`, which holds {len(shadow.entries)} of {decl.capacity} "
                f"entries, must {_outcome(expected)}",
                f"it did {_outcome(op.result)}",
            )
        if op.result is True:
            self._schedule(m, shadow.put(key, value, op.time, version))

    # ------------------------------------------------------------ words

    def _broken(self, stamp: int, *said: str) -> Broken:
        first, *rest = said
        time = self._time
        return Broken(around(self.record, stamp), f"{occasion(self.record, stamp, time)}: {first}", *rest)

    def _wrong(self, end: End, m: _Watched, said: str, expected: Any, found: Any) -> Broken:
        return self._broken(
            end.stamp, said, f"expected: {self._value(m, expected)}", f"found:    {self._value(m, found)}"
        )

    def _wrong_read(self, op: Operation, m: _Watched, expected: str, found: str) -> Broken:
        by_index = op.op in ("find", "peek_index", "has")
        key = f"index `{op.args[0]}`" if by_index else self._key(m, op.args[0])
        return self._broken(
            op.stamp, f"`{op.state}` was asked for {key}", f"expected: {expected}", f"found:    {found}"
        )

    def _found(self, m: _Watched, op: Operation, result: Any) -> str:
        if result is None:
            return "nothing is there"
        if op.op in ("find", "peek_index"):
            return f"{self._key(m, result[0])} -> {self._value(m, result[1])}"
        return self._value(m, result)

    def _key(self, m: _Watched, key: Hashable) -> str:
        return text(key, m.shadow.decl.key, self.record.program)

    def _value(self, m: _Watched, value: Any) -> str:
        return "" if m.shadow.decl.value is None else text(value, m.shadow.decl.value, self.record.program)


def _outcome(result: Any) -> str:
    if result is True:
        return "store it"
    return "not store it" if result is False else f'end the handler with "{result}"'


INVARIANT = Expiry()
