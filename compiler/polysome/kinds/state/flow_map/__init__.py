"""`map<K, V>` and `set<K>`: bounded, with exact expiry, eviction, owned values, further indexes (STATE.md, section 1).

A set is a map whose values are all None; ask it with `contains`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Literal

from polysome.ir.types import END
from polysome.kinds.base import Trap
from polysome.kinds.state.lazy_heap import LazyHeap

Span = int | Callable[[Any, Any], int] | None
WhenFull = Literal["drop", "evict", "pass"]

IDLE, AGE, EVICTED, REMOVED = (number for _, number in END.members)
FOREVER = 1 << 64  # longer than any clock of 64 bits runs
NESTING = 8  # an `on end` may end further entries of its own map this deep


class Entry:
    __slots__ = ("age", "ended", "idle", "index_keys", "key", "seq", "used", "value", "written")

    def __init__(self, key: Hashable, seq: int) -> None:
        self.key = key
        self.seq = seq
        self.value: Any = None
        self.index_keys: tuple[Hashable, ...] = ()
        self.ended = False
        self.used = self.written = 0  # times
        self.idle = self.age = FOREVER  # durations

    def due(self) -> int:
        return min(self.used + self.idle, self.written + self.age)


class FlowMap:
    """A bounded map from keys to immutable values whose entries end by themselves.

    Times are nanoseconds and come from `now`, which never runs back. Whoever moves the clock first ends everything that
    is due until then, with `due_key` and `expire_one`; all other operations rely on it.

    `idle` and `age` are a number of nanoseconds, a function of (key, value), or None for forever; 0 counts as 1.
    `claim` and `release` are told of every value that an entry begins and ceases to hold; `claim` may raise Trap, then
    nothing is stored. `alive(value)` is False once a row that the value refers to is gone, for good.
    `on_end(key, value, why)` runs when the entry is already gone and its value released; what it raises ends the
    operation that caused it. Reads are O(1), all else O(log n) amortized.
    """

    def __init__(
        self,
        *,
        name: str,
        capacity: int,
        now: Callable[[], int],
        idle: Span,
        age: Span,
        when_full: WhenFull,
        on_end: Callable[[Any, Any, int], None] | None = None,
        indexes: Mapping[str, Callable[[Any, Any], Hashable]] | None = None,
        claim: Callable[[Any], None] | None = None,
        release: Callable[[Any], None] | None = None,
        alive: Callable[[Any], bool] | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"{name} needs a capacity of at least 1")
        self.name = name
        self.capacity = capacity
        self._now = now
        self._idle = idle
        self._age = age
        self._when_full = when_full
        self._on_end = on_end
        self._index_names = {index: i for i, index in enumerate(indexes or {})}
        self._index_exprs = list((indexes or {}).values())
        self._indexes: list[dict[Hashable, Entry]] = [{} for _ in self._index_exprs]
        self._claim = claim
        self._release = release
        self._alive = alive
        self._idle_varies = callable(idle)
        self._expires = idle is not None or age is not None
        self._entries: dict[Hashable, Entry] = {}  # a dict keeps insertion order
        self._inserted = 0
        self._by_due: LazyHeap[Entry] = LazyHeap(Entry.due)
        by_write = idle is None and age is not None
        self._by_use: LazyHeap[Entry] = LazyHeap((lambda e: e.written) if by_write else (lambda e: e.used))
        self._depth = 0

    # Reading

    def get(self, key: Hashable) -> Any:
        """The value, whose idle time starts anew; None if absent."""
        entry = self._entries.get(key)
        if entry is None or (self._alive is not None and not self._alive(entry.value)):
            return None
        self._use(entry)
        return entry.value

    def peek(self, key: Hashable) -> Any:
        """The value without a refresh; None if absent."""
        entry = self._entries.get(key)
        return entry.value if entry is not None and self._reads(entry) else None

    def contains(self, key: Hashable) -> bool:
        """Is there such an entry? No refresh."""
        entry = self._entries.get(key)
        return entry is not None and self._reads(entry)

    def find(self, index: str, index_key: Hashable) -> tuple[Any, Any] | None:
        """(key, value) of the entry with this key in the index, whose idle time starts anew; None if absent."""
        entry = self._indexes[self._index_names[index]].get(index_key)
        if entry is None or not self._reads(entry):
            return None
        self._use(entry)
        return entry.key, entry.value

    def peek_index(self, index: str, index_key: Hashable) -> tuple[Any, Any] | None:
        """(key, value) of the entry with this key in the index, without a refresh; None if absent."""
        entry = self._indexes[self._index_names[index]].get(index_key)
        return (entry.key, entry.value) if entry is not None and self._reads(entry) else None

    def has(self, index: str, index_key: Hashable) -> bool:
        """Is there an entry with this key in the index? No refresh."""
        entry = self._indexes[self._index_names[index]].get(index_key)
        return entry is not None and self._reads(entry)

    def items(self) -> list[tuple[Any, Any]]:
        """All (key, value) in insertion order, as of now. No refresh."""
        return [(entry.key, entry.value) for entry in self._entries.values() if self._reads(entry)]

    def __len__(self) -> int:
        """Entries that take room, those whose row is gone included."""
        return len(self._entries)

    # Writing

    def put(self, key: Hashable, value: Any) -> bool:
        """Inserts or overwrites, and starts idle time and age anew. False: full, and the policy is `pass`.

        Traps, storing nothing: `index I of NAME taken`, then `NAME full` (policy `drop`), then whatever `claim` says.
        """
        index_keys = self._index_keys(key, value)
        full = self._lacks_room(key)
        if full and self._when_full == "pass":
            return False
        if full and self._when_full == "drop":
            raise Trap(f"{self.name} full")
        if (
            self._claim is not None
        ):  # before anything ends, so that a value handed from one entry to the next stays taken
            self._claim(value)
        if full:
            index_keys = self._make_room(key, value)
        entry = self._entries.get(key)
        if entry is None:
            self._insert(key, value, index_keys)
        else:
            self._overwrite(entry, value, index_keys)
        return True

    def remove(self, key: Hashable) -> None:
        """Ends the entry (why `removed`); nothing if there is none."""
        entry = self._entries.get(key)
        if entry is not None:
            self._end(entry, REMOVED)

    # The passing of time

    def next_due(self) -> int | None:
        """When the next entry ends; None if none ever does."""
        due = self.due_key()
        return None if due is None else due[0]

    def due_key(self, by: int | None = None) -> tuple[int, int] | None:
        """(due time, insertion number) of the entry that ends next; with `by` (faster), None if later than that."""
        entry = self._by_due.first(by)
        return None if entry is None else (entry.due(), entry.seq)

    def expire_one(self) -> None:
        """Ends the entry that is due first, among equals the one inserted first; `now` is its due time by then.

        Raises LookupError if there is none.
        """
        entry = self._by_due.first()
        if entry is None:
            raise LookupError(f"no entry of {self.name} ever ends")
        self._end(entry, IDLE if entry.used + entry.idle == entry.due() else AGE)

    # Within

    def _reads(self, entry: Entry) -> bool:
        return self._alive is None or self._alive(entry.value)

    def _use(self, entry: Entry) -> None:
        if not self._idle_varies:
            entry.used = self._now()
            return
        due = entry.due()
        entry.used = self._now()
        entry.idle = _length(self._idle, entry)
        self._reschedule(entry, due)

    def _insert(self, key: Hashable, value: Any, index_keys: tuple[Hashable, ...]) -> None:
        entry = self._entries[key] = Entry(key, self._inserted)
        self._inserted += 1
        self._write(entry, value, index_keys)
        if self._expires:
            self._by_due.push(entry, self._entries.values())
        if self._when_full == "evict":
            self._by_use.push(entry, self._entries.values())

    def _overwrite(self, entry: Entry, value: Any, index_keys: tuple[Hashable, ...]) -> None:
        due, old = entry.due(), entry.value
        self._drop_index_keys(entry)
        self._write(entry, value, index_keys)
        self._reschedule(entry, due)
        if self._release is not None:
            self._release(old)

    def _write(self, entry: Entry, value: Any, index_keys: tuple[Hashable, ...]) -> None:
        entry.value = value
        entry.used = entry.written = self._now()
        entry.idle = _length(self._idle, entry)
        entry.age = _length(self._age, entry)
        entry.index_keys = index_keys
        for index, index_key in zip(self._indexes, index_keys, strict=True):
            index[index_key] = entry

    def _reschedule(self, entry: Entry, due: int) -> None:
        if entry.due() < due:
            self._by_due.push(entry, self._entries.values())

    def _lacks_room(self, key: Hashable) -> bool:
        return len(self._entries) >= self.capacity and key not in self._entries

    def _make_room(self, key: Hashable, value: Any) -> tuple[Hashable, ...]:
        """Evicts the oldest entry; its `on_end` may write here too, so all that was checked is checked again."""
        try:
            oldest = self._by_use.first()
            assert oldest is not None, "a full map has an oldest entry"
            self._end(oldest, EVICTED)
            index_keys = self._index_keys(key, value)
            if self._lacks_room(key):
                raise Trap(f"{self.name} full")
            return index_keys
        except Trap:
            if self._release is not None:
                self._release(value)
            raise

    def _end(self, entry: Entry, why: int) -> None:
        if self._depth == NESTING:
            raise Trap(f"on end of {self.name} nested too deep")
        del self._entries[entry.key]
        entry.ended = True
        self._drop_index_keys(entry)
        if self._release is not None:
            self._release(entry.value)
        if self._on_end is None:
            return
        self._depth += 1
        try:
            self._on_end(entry.key, entry.value, why)
        finally:
            self._depth -= 1

    def _index_keys(self, key: Hashable, value: Any) -> tuple[Hashable, ...]:
        """The entry's keys in all indexes; Trap if another entry that can be read has one of them."""
        if not self._index_exprs:
            return ()
        index_keys = tuple(expr(key, value) for expr in self._index_exprs)
        for name, index, index_key in zip(self._index_names, self._indexes, index_keys, strict=True):
            holder = index.get(index_key)
            if holder is not None and holder.key != key and self._reads(holder):
                raise Trap(f"index {name} of {self.name} taken")
        return index_keys

    def _drop_index_keys(self, entry: Entry) -> None:
        for index, index_key in zip(self._indexes, entry.index_keys, strict=True):
            if index.get(index_key) is entry:  # an entry whose row is gone may have lost its place to another
                del index[index_key]


def _length(span: Span, entry: Entry) -> int:
    if span is None:
        return FOREVER
    return max(1, span if isinstance(span, int) else span(entry.key, entry.value))
