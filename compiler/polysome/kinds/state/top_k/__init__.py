"""`top_k<K>`: the keys counted most often (STATE.md, section 9).

Space-Saving: Metwally, Agrawal, El Abbadi, "Efficient computation of frequent and top-k elements in data streams"
(ICDT'05), section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from polysome.kinds.base import Method, NativeState, Option, StateKind
from polysome.kinds.hashing import MASK64
from polysome.kinds.state.lazy_heap import LazyHeap

MILLION = 10**6


class _Counter:
    __slots__ = ("count", "ended", "key", "seq")

    def __init__(self, key: Hashable, seq: int, count: int) -> None:
        self.key = key
        self.seq = seq
        self.count = count
        self.ended = False


class TopK:
    """`counters` counters, each for one key, of which the `k` highest are shown. `add` is O(log counters) amortized."""

    def __init__(self, k: int, counters: int) -> None:
        self.k = k
        self.counters = counters
        self.clear()

    def add(self, key: Hashable, n: int = 1) -> None:
        """Counts `key` n times; if it has no counter and none is left, it inherits the least one."""
        if n == 0:
            return
        counter = self._by_key.get(key)
        if counter is not None:
            counter.count = min(counter.count + n, MASK64)
            return
        if len(self._by_key) == self.counters:
            least = self._least()
            del self._by_key[least.key]
            least.ended = True
            n += least.count
        counter = self._by_key[key] = _Counter(key, self._inserted, min(n, MASK64))
        self._inserted += 1
        self._heap.push(counter, self._by_key.values())

    def estimate(self, key: Hashable) -> int:
        """At least how often `key` was counted, and at most that plus (all counts)/counters."""
        counter = self._by_key.get(key)
        if counter is not None:
            return counter.count
        return self._least().count if len(self._by_key) == self.counters else 0

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        """The k keys with the highest counts, highest first, among equals the one that has its counter longest."""
        ranked = sorted(self._by_key.values(), key=lambda counter: (-counter.count, counter.seq))
        return iter([(counter.key, counter.count) for counter in ranked[: self.k]])

    def clear(self) -> None:
        """Forgets everything."""
        self._by_key: dict[Hashable, _Counter] = {}
        self._heap: LazyHeap[_Counter] = LazyHeap(lambda counter: counter.count)
        self._inserted = 0

    def __deepcopy__(self, memo: object) -> TopK:
        """O(counters)."""
        copied = TopK(self.k, self.counters)
        copied._by_key = {key: _Counter(key, each.seq, each.count) for key, each in self._by_key.items()}
        copied._inserted = self._inserted
        for counter in copied._by_key.values():
            copied._heap.push(counter, copied._by_key.values())
        return copied

    def _least(self) -> _Counter:
        least = self._heap.first()
        assert least is not None, "asked only when all counters are in use"
        return least


def counters(options: Mapping[str, int]) -> int:
    """max(k, ceil(1 / error)) (S9.1); without `error`, k. ValueError for k = 0 or an error of 0."""
    if options["k"] < 1:
        raise ValueError("a top_k shows at least 1 key")
    error = options.get("error", MILLION)
    if error < 1:
        raise ValueError("the error of a top_k is above 0")
    return max(options["k"], -(-MILLION // error))


def _native_memory(options: Mapping[str, int], words: int, table: Callable[[int], int]) -> int:
    """runtime/nf/top_k.hpp: the counters with keys and their hashes; a tournament of them; a table that finds them."""
    room: int = 1 << (counters(options) - 1).bit_length()  # the arrays double as they grow
    return room * 8 * (words + 1) + max(room, 8) * (16 + 2 * 4) + table(counters(options))


KIND = StateKind(
    name="top_k",
    params=("K",),
    options=(
        Option("k", "count", required=True, why="it is how many keys are shown"),
        Option("error", "percent"),
    ),
    methods=(
        Method("add", ("K", "u64"), None, writes=True, optional_params=1),
        Method("estimate", ("K",), "u64", writes=False),
        Method("clear", (), None, writes=True),
    ),
    make=lambda options, ctx: TopK(options["k"], counters(options)),
    memory=lambda options, key_bits, value_bits: counters(options) * ((key_bits + 7) // 8 + 16),
    note=lambda options: f"{counters(options)} counters",
    iterates=("K", "u64"),
    native=NativeState(
        "TopK<std::array<uint64_t, {words}>>",
        lambda options: (options["k"], counters(options)),
        "{sizes}, seed",
        keeps_keys=True,
        prefetched=True,
        memory=_native_memory,
    ),
)
