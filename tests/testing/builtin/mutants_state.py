"""What is broken about state and config tables."""

from __future__ import annotations

from typing import Any

from tests.testing.builtin.mutant import Patch, mutant, wrapped

from polysome.engines.interp import recorded
from polysome.interp import state
from polysome.interp.machine import Machine
from polysome.kinds.state import array, bloom, count_min, hyperloglog, lpm, maglev, pool, token_bucket, top_k
from polysome.kinds.state.acl import Acl
from polysome.kinds.state.flow_map import AGE, EVICTED, IDLE, Entry, FlowMap

# ---------------------------------------------------------------- maps


@mutant("expiry", "store", "must end")
def a_lookup_does_not_refresh(patch: Patch) -> None:
    patch.setattr(FlowMap, "_use", lambda self, entry: None)


@mutant("expiry", "store", "must end")
def a_glance_refreshes(patch: Patch) -> None:
    wrapped(patch, FlowMap, "contains", lambda original, self, key: (FlowMap.get(self, key), original(self, key))[1])


@mutant("expiry", "store", "must end at")
def entries_end_a_nanosecond_late(patch: Patch) -> None:
    wrapped(patch, Entry, "due", lambda original, self: original(self) + 1)


@mutant("expiry", "store", "ended by")
def the_reason_is_wrong(patch: Patch) -> None:
    def wrong(original: Any, self: Any, entry: Entry, why: int) -> None:
        original(self, entry, AGE if why == IDLE else why)

    wrapped(patch, recorded.RecordedMap, "_end", wrong)


@mutant("expiry", "store", "was told of another")
def on_end_gets_another_reason(patch: Patch) -> None:
    wrapped(patch, FlowMap, "_end", lambda original, self, entry, why: original(self, entry, why ^ 1))


@mutant("expiry", "store", "must evict its oldest")
def the_newest_is_evicted(patch: Patch) -> None:
    def newest(original: Any, self: Any, entry: Entry, why: int) -> None:
        if why == EVICTED:
            entry = list(self._entries.values())[-1]
        original(self, entry, why)

    wrapped(patch, FlowMap, "_end", newest)


@mutant("expiry", "store", "entries, must")
def there_is_room_for_one_more(patch: Patch) -> None:
    def roomy(original: Any, self: Any, key: Any) -> bool:
        return len(self._entries) > self.capacity and key not in self._entries

    wrapped(patch, FlowMap, "_lacks_room", roomy)


@mutant("expiry", "store", "`on end` did not run")
def on_end_is_forgotten(patch: Patch) -> None:
    wrapped(patch, recorded.RecordedStates, "_on_end", lambda original, self, decl: None)


@mutant("expiry", "store", "must end at")
def overwriting_does_not_renew(patch: Patch) -> None:
    def stale(original: Any, self: Any, entry: Entry, *args: Any) -> None:
        used, written = entry.used, entry.written
        original(self, entry, *args)
        entry.used, entry.written = used, written

    wrapped(patch, FlowMap, "_overwrite", stale)


@mutant("expiry", "store", "left the entry")
def remove_does_nothing(patch: Patch) -> None:
    patch.setattr(FlowMap, "remove", lambda self, key: None)


@mutant("expiry", "store", "was asked for")
def a_row_that_is_gone_is_read(patch: Patch) -> None:
    patch.setattr(FlowMap, "_reads", lambda self, entry: True)
    patch.setattr(state, "_alive", lambda type: None)


@mutant("expiry", "store", "whose turn it was")
def the_last_map_goes_first(patch: Patch) -> None:
    def last(original: Any, self: Any, by: int) -> Any:
        due = [(key[0], -n) for n, m in enumerate(self.maps) if (key := m.due_key(by)) is not None]
        return (min(due)[0], -min(due)[1]) if due else None

    wrapped(patch, state.States, "next_due", last)


@mutant("expiry", "store", "says that it holds")
def a_length_is_wrong(patch: Patch) -> None:
    wrapped(patch, recorded.Journal, "write", _one_more)


def _one_more(original: Any, self: Any, name: str, part: str, key: Any, value: Any) -> None:
    original(self, name, part, key, value + 1 if part == "len" and key is None and value else value)


# ---------------------------------------------------------------- pools


@mutant("pools", "store", "is free longest")
def a_pool_gives_the_newest(patch: Patch) -> None:
    def newest(original: Any, self: Any) -> Any:
        if self.free and isinstance(self.free[-1], tuple):
            return self.free.pop()
        return original(self)

    wrapped(patch, pool._Partition, "next_free", newest)


@mutant("pools", "store", "it is lost")
def a_value_leaks(patch: Patch) -> None:
    wrapped(patch, recorded.RecordedPool, "release", lambda original, self, taken: None)


@mutant("pools", "store", "did not go back")
def what_is_not_stored_is_lost(patch: Patch) -> None:
    patch.setattr(pool.Pool, "settle", lambda self: self._loose.clear())


@mutant("pools", "store", "is taken already")
def a_value_is_given_twice(patch: Patch) -> None:
    def twice(original: Any, self: Any) -> Any:
        return next(iter(self.out), None) or original(self)

    wrapped(patch, pool._Partition, "next_free", twice)


@mutant("pools", "store", "says that it has")
def the_free_values_are_miscounted(patch: Patch) -> None:
    wrapped(patch, pool.Pool, "available", lambda original, self, *args: original(self, *args) + 1)


# ---------------------------------------------------------------- memory


@mutant("memory", "store", "was read")
def the_wrong_cell_is_read(patch: Patch) -> None:
    wrapped(patch, array.Array, "get", lambda original, self, i: original(self, i ^ 1))


@mutant("memory", "store", "was read")
def a_write_is_lost(patch: Patch) -> None:
    wrapped(patch, array.Array, "set", lambda original, self, i, value: None)


@mutant("memory", "store", "`total` was read")
def a_scalar_forgets(patch: Patch) -> None:
    wrapped(patch, recorded.RecordedScalars, "__setitem__", _forgets)


def _forgets(original: Any, self: Any, name: str, value: Any) -> None:
    original(self, name, 3 if name == "total" and value == 4 else value)
    if name == "total" and value == 4:
        self.journal.history.operations[-1] = recorded.Operation(0, 0, name, "set", (4,), None)


# ---------------------------------------------------------------- token buckets


@mutant("token buckets", "store", "it must say yes")
def the_refill_is_rounded_down(patch: Patch) -> None:
    def floored(bucket: Any, now: int, rate: int, burst: int, scale: int) -> Any:
        tokens, last = bucket
        gained = (now - last) * rate // scale * scale
        return min(burst * scale, tokens + gained), now

    patch.setattr(token_bucket, "refill", floored)


@mutant("token buckets", "store", "it must say yes")
def a_refused_take_costs_time(patch: Patch) -> None:
    def costly(original: Any, bucket: Any, now: int, *rest: Any) -> Any:
        taken, after = original(bucket, now, *rest)
        return taken, after if taken else (bucket[0], now)

    wrapped(patch, token_bucket, "take", costly)


@mutant("token buckets", "store", "it must say no")
def a_bucket_never_empties(patch: Patch) -> None:
    wrapped(patch, token_bucket, "take", lambda original, bucket, *rest: (True, bucket))


# ---------------------------------------------------------------- sketches


@mutant("count_min", "store", "its estimate is")
def count_min_forgets_one(patch: Patch) -> None:
    wrapped(patch, count_min.CountMin, "estimate", lambda original, self, key: max(0, original(self, key) - 1))


@mutant("count_min", "store", "are beyond it")
def count_min_has_one_counter(patch: Patch) -> None:
    patch.setattr(count_min, "width", lambda error: 1)


@mutant("bloom", "store", "is not in it")
def bloom_forgets(patch: Patch) -> None:
    wrapped(patch, bloom.Bloom, "add", lambda original, self, key: None)


@mutant("bloom", "store", "that were not added")
def bloom_holds_everything(patch: Patch) -> None:
    patch.setattr(bloom.Bloom, "__contains__", lambda self, key: True)


@mutant("hyperloglog", "store", "its estimate is")
def hyperloglog_doubles(patch: Patch) -> None:
    wrapped(patch, hyperloglog.HyperLogLog, "estimate", lambda original, self: 3 * original(self))


@mutant("hyperloglog", "store", "it was")
def hyperloglog_drifts(patch: Patch) -> None:
    drift = iter(range(10**9))

    def drifts(original: Any, self: Any) -> int:
        found: int = original(self)
        return found + next(drift) % 2 if found else 0

    wrapped(patch, hyperloglog.HyperLogLog, "estimate", drifts)


@mutant("top_k", "store", "counted")
def a_new_key_inherits_nothing(patch: Patch) -> None:
    def fresh(original: Any, self: Any, key: Any, n: int = 1) -> None:
        original(self, key, n)
        if key in self._by_key:
            self._by_key[key].count = n

    wrapped(patch, top_k.TopK, "add", fresh)


@mutant("top_k", "store", "by falling count")
def the_list_rises(patch: Patch) -> None:
    wrapped(patch, top_k.TopK, "__iter__", lambda original, self: iter(list(original(self))[::-1]))


@mutant("top_k", "store", "must list")
def the_list_is_empty(patch: Patch) -> None:
    patch.setattr(top_k.TopK, "__iter__", lambda self: iter(()))


# ---------------------------------------------------------------- config tables


@mutant("table lookups", "store", "`routes` was asked for")
def the_shortest_prefix_wins(patch: Patch) -> None:
    def shortest(original: Any, self: Any, rows: Any) -> None:
        original(self, rows)
        self._lengths.reverse()

    wrapped(patch, lpm.Lpm, "__init__", shortest)


@mutant("table lookups", "store", "`rules` was asked for")
def priorities_are_ignored(patch: Patch) -> None:
    patch.setattr(Acl, "__init__", lambda self, rows: setattr(self, "_rows", rows))


@mutant("table lookups", "store", "`spread` was asked for")
def the_next_place_is_looked_at(patch: Patch) -> None:
    wrapped(patch, maglev.Maglev, "lookup", lambda original, self, hashed: original(self, hashed + 1))


@mutant("table lookups", "store", "was asked for")
def a_change_comes_late(patch: Patch) -> None:
    patch.setattr(Machine, "_replace", lambda self, values: None)
