"""Section 1 of STATE.md: maps and sets. Vectors are computed by hand."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from polysome.kinds.base import Trap
from polysome.kinds.state.flow_map import AGE, EVICTED, IDLE, NESTING, REMOVED, FlowMap, Span, WhenFull
from polysome.kinds.values import Row


class Bench:
    """A map with a clock that ends what is due, and a log of all that it told others."""

    def __init__(
        self,
        idle: Span = None,
        age: Span = None,
        when_full: WhenFull = "drop",
        capacity: int = 2,
        indexes: dict[str, Callable[[Any, Any], Hashable]] | None = None,
        on_end: Callable[[Any, Any, int], object] | None = None,
        alive: Callable[[Any], bool] | None = None,
    ) -> None:
        self.time = 0
        self.ended: list[tuple[int, Any, Any, int]] = []
        self.owned: list[tuple[str, Any]] = []
        self._also = on_end
        self.map = FlowMap(
            name="m",
            capacity=capacity,
            now=lambda: self.time,
            idle=idle,
            age=age,
            when_full=when_full,
            on_end=self._on_end,
            indexes=indexes,
            claim=lambda value: self.owned.append(("claim", value)),
            release=lambda value: self.owned.append(("release", value)),
            alive=alive,
        )

    def _on_end(self, key: Any, value: Any, why: int) -> None:
        self.ended.append((self.time, key, value, why))
        if self._also is not None:
            self._also(key, value, why)

    def at(self, time: int) -> FlowMap:
        while (due := self.map.due_key(time)) is not None:
            self.time = due[0]
            self.map.expire_one()
        self.time = time
        return self.map


def by_value(key: Any, value: Hashable) -> Hashable:
    return value


def trap(operation: Callable[..., object], *args: object) -> str:
    with pytest.raises(Trap) as caught:
        operation(*args)
    return caught.value.reason


def test_S1_1_a_use_refreshes_and_a_look_does_not() -> None:
    b = Bench(idle=10, indexes={"i": by_value}, capacity=9)
    for key, value in [("get", 1), ("find", 2), ("peek", 3), ("contains", 4), ("has", 5), ("items", 6)]:
        b.at(0).put(key, value)
    m = b.at(5)
    assert m.get("get") == 1 and m.find("i", 2) == ("find", 2)
    assert m.peek("peek") == 3 and m.contains("contains") and m.has("i", 5) and len(m.items()) == len(m) == 6
    assert [key for key, _ in b.at(10).items()] == ["get", "find"]  # used at 5, due at 5 + 10
    assert b.at(15).items() == []
    assert m.get("get") is None and m.peek("get") is None and m.find("i", 1) is None and not m.has("i", 1)


def test_S1_2_an_entry_ends_at_the_nanosecond_it_is_due() -> None:
    b = Bench(idle=10, age=25)
    b.at(100).put("k", 1)
    assert b.map.next_due() == 110  # min(100 + 10, 100 + 25)
    assert b.at(109).get("k") == 1  # now min(119, 125)
    assert b.map.next_due() == 119
    assert b.at(118).get("k") == 1  # min(128, 125)
    assert b.map.due_key(124) is None and b.map.due_key(125) == (125, 0)
    assert b.at(124).contains("k") and not b.at(125).contains("k")
    assert b.ended == [(125, "k", 1, AGE)]


def test_S1_2_a_write_starts_both_anew_and_idle_wins_a_tie() -> None:
    b = Bench(idle=10, age=15)
    b.at(0).put("k", 1)
    assert b.at(5).get("k") == 1  # due min(15, 15)
    b.at(200)
    assert b.ended == [(15, "k", 1, IDLE)]
    b.at(300).put("k", 2)
    b.at(308).put("k", 3)
    assert b.map.next_due() == 318  # min(308 + 10, 308 + 15)


def test_S1_2_without_idle_and_age_nothing_is_ever_due() -> None:
    b = Bench()
    b.at(0).put("k", 1)
    assert b.map.next_due() is None and b.map.due_key() is None
    with pytest.raises(LookupError):
        b.map.expire_one()


def test_S1_2_a_due_time_past_the_clock_is_exact() -> None:
    b = Bench(idle=2**64 - 1)
    b.at(7).put("k", 1)
    assert b.map.next_due() == 2**64 + 6  # not wrapped


def test_S1_3_an_overwrite_keeps_its_place() -> None:
    b = Bench(idle=10)
    b.at(0).put("a", 1)
    b.at(1).put("b", 2)
    b.at(2).put("a", 3)
    assert b.map.items() == [("a", 3), ("b", 2)] and b.ended == []
    b.at(99)
    assert b.ended == [(11, "b", 2, IDLE), (12, "a", 3, IDLE)]


def test_S1_4_at_one_instant_entries_end_in_insertion_order() -> None:
    b = Bench(idle=lambda key, value: value, capacity=3)
    b.at(0).put("a", 9)
    b.at(4).put("b", 5)
    b.at(6).put("c", 3)  # all due at 9
    b.at(9)
    assert [key for _, key, _, _ in b.ended] == ["a", "b", "c"]


def test_S1_5_idle_is_evaluated_at_each_use_and_age_at_each_write() -> None:
    length = {"idle": 10, "age": 100}
    b = Bench(idle=lambda key, value: length["idle"] * value, age=lambda key, value: length["age"])
    b.at(0).put("k", 1)
    length["idle"] = 3
    assert b.map.next_due() == 10  # no use since
    assert b.at(2).get("k") == 1 and b.map.next_due() == 5  # 2 + 3·1
    b.at(3).put("k", 2)
    assert b.map.next_due() == 9  # 3 + 3·2
    length.update(idle=500, age=4)
    assert b.at(4).get("k") == 2 and b.map.next_due() == 103  # age still 3 + 100
    b.at(5).put("k", 2)
    assert b.map.next_due() == 9  # 5 + 4


def test_S1_5_zero_counts_as_one_nanosecond() -> None:
    b = Bench(idle=lambda key, value: 0)
    b.at(7).put("k", 1)
    assert b.map.next_due() == 8


def test_S1_6_when_full() -> None:
    drop, give_up, evict = Bench(when_full="drop"), Bench(when_full="pass"), Bench(when_full="evict")
    for b in (drop, give_up, evict):
        assert b.at(0).put("a", 1) and b.map.put("b", 2)
        assert b.map.put("a", 3), "an overwrite is never full"
    assert trap(drop.map.put, "c", 4) == "m full" and drop.map.items() == [("a", 3), ("b", 2)]
    assert not give_up.map.put("c", 4) and give_up.map.items() == [("a", 3), ("b", 2)]
    assert ("claim", 4) not in drop.owned + give_up.owned
    assert evict.map.put("c", 4) and evict.map.items() == [("b", 2), ("c", 4)]
    assert evict.ended == [(0, "a", 3, EVICTED)]


def test_S1_6_a_capacity_of_zero_is_refused() -> None:
    with pytest.raises(ValueError):
        Bench(capacity=0)


def test_S1_7_oldest_is_used_longest_ago_among_equals_inserted_first() -> None:
    b = Bench(idle=100, when_full="evict", capacity=3)
    for key in "abc":
        b.at(0).put(key, key)
    b.at(5).get("b")
    b.map.get("a")  # a and b used at 5, b first; a was inserted first. c is the oldest
    b.map.peek("c")
    b.map.put("d", "d")
    b.at(6).put("e", "e")  # a(5), b(5), d(5)
    b.at(7).put("f", "f")  # b(5), d(5), e(6)
    assert [key for _, key, _, why in b.ended if why == EVICTED] == ["c", "a", "b"]


def test_S1_7_with_age_alone_oldest_is_written_longest_ago() -> None:
    b = Bench(age=100, when_full="evict")
    b.at(0).put("a", 1)
    b.at(1).put("b", 2)
    b.at(2).put("a", 3)  # written at 2
    b.at(3).get("b")  # a use counts for nothing here
    b.at(4).put("c", 4)
    assert b.ended == [(4, "b", 2, EVICTED)]


def test_S1_7_with_both_oldest_is_used_longest_ago() -> None:
    b = Bench(idle=100, age=100, when_full="evict")
    b.at(0).put("a", 1)
    b.at(1).put("b", 2)
    b.at(2).get("a")
    b.at(3).put("c", 3)
    assert b.ended == [(3, "b", 2, EVICTED)]


def test_S1_8_on_end_finds_the_entry_gone_and_its_value_given_back() -> None:
    seen: list[object] = []

    def look(key: Any, value: Any, why: int) -> None:
        seen.append((b.map.contains(key), b.map.has("i", value), len(b.map), b.owned[-1], b.map.contains("new")))

    b = Bench(when_full="evict", capacity=1, indexes={"i": by_value}, on_end=look)
    b.at(0).put("old", 1)
    b.map.put("new", 2)
    # gone from map and index; 1 released after 2 was claimed; the new one is not there yet
    assert seen == [(False, False, 0, ("release", 1), False)]
    b.map.remove("new")
    assert seen[1:] == [(False, False, 0, ("release", 2), False)]


def test_S1_9_the_write_is_checked_again_after_on_end() -> None:
    b = Bench(when_full="evict", capacity=1, on_end=lambda key, value, why: b.map.put("new", 7))
    b.at(0).put("old", 1)
    b.map.put("new", 2)  # on end wrote it first: overwritten
    assert b.map.items() == [("new", 2)]
    assert b.owned == [("claim", 1), ("claim", 2), ("release", 1), ("claim", 7), ("release", 7)]

    c = Bench(when_full="evict", capacity=1, on_end=lambda key, value, why: c.map.put("other", 7))
    c.at(0).put("old", 1)
    assert trap(c.map.put, "new", 2) == "m full"  # on end took the room
    assert c.map.items() == [("other", 7)] and c.owned[-1] == ("release", 2)


def test_S1_9_an_index_key_taken_by_on_end_traps() -> None:
    b = Bench(
        when_full="evict",
        indexes={"i": by_value},
        on_end=lambda key, value, why: b.map.put("other", 2),
    )
    b.at(0).put("old", 1)
    b.map.put("old2", 5)
    assert trap(b.map.put, "new", 2) == "index i of m taken"
    assert b.map.items() == [("old2", 5), ("other", 2)] and b.owned[-1] == ("release", 2)


def test_S1_10_on_end_nests_eight_deep() -> None:
    def again(key: Any, value: Any, why: int) -> None:
        b.map.remove(key + 1)

    b = Bench(capacity=20, on_end=again)
    for key in range(20):
        b.at(0).put(key, key)
    assert NESTING == 8
    assert trap(b.map.remove, 0) == "on end of m nested too deep"
    assert [key for key, _ in b.map.items()] == list(range(8, 20))  # 0 to 7 ended, each within the one before
    b.map.remove(19)  # the count is back at none
    assert len(b.map) == 11


def test_S1_10_a_pair_of_entries_may_end_each_other() -> None:
    b = Bench(on_end=lambda key, value, why: b.map.remove(value))
    b.at(0).put("there", "back")
    b.map.put("back", "there")
    b.map.remove("there")
    assert b.map.items() == [] and [key for _, key, _, _ in b.ended] == ["there", "back"]


def test_S1_11_remove() -> None:
    b = Bench()
    b.at(0).put("a", 1)
    b.map.remove("b")
    assert b.ended == []
    b.at(3).remove("a")
    assert b.ended == [(3, "a", 1, REMOVED)] and len(b.map) == 0


def test_S1_12_an_index_is_unique_and_checked_first() -> None:
    b = Bench(when_full="evict", indexes={"i": by_value})
    b.at(0).put("a", 1)
    b.at(1).put("b", 2)
    owned = list(b.owned)
    assert trap(b.map.put, "c", 1) == "index i of m taken"  # though a would be evicted
    assert trap(b.map.put, "b", 1) == "index i of m taken"
    assert b.map.items() == [("a", 1), ("b", 2)] and b.ended == [] and b.owned == owned
    assert b.map.put("a", 1), "an entry may keep its own index key"
    b.map.put("a", 3)
    assert b.map.find("i", 1) is None and b.map.find("i", 3) == ("a", 3)
    b.map.remove("a")
    assert not b.map.has("i", 3)


def test_S1_12_index_before_full() -> None:
    b = Bench(when_full="drop", indexes={"i": by_value})
    b.at(0).put("a", 1)
    b.map.put("b", 2)
    assert trap(b.map.put, "c", 2) == "index i of m taken"
    assert trap(b.map.put, "c", 3) == "m full"


def row_alive(value: Any) -> bool:
    return bool(value.live)


def test_S1_13_an_entry_whose_row_is_gone_reads_as_absent_but_takes_room() -> None:
    row, other = Row("r"), Row("o")
    b = Bench(idle=10, indexes={"i": lambda key, value: key}, alive=row_alive)
    b.at(0).put("a", row)
    b.map.put("b", other)
    row.live = False
    m = b.at(5)
    assert m.get("a") is None and m.peek("a") is None and not m.contains("a")
    assert m.find("i", "a") is None and not m.has("i", "a") and m.items() == [("b", other)]
    assert len(m) == 2 and trap(m.put, "c", other) == "m full"
    b.at(10)  # not refreshed at 5
    assert b.ended == [(10, "a", row, IDLE), (10, "b", other, IDLE)]


def test_S1_13_overwriting_it_releases_what_it_owned_without_on_end() -> None:
    row, other = Row("r"), Row("o")
    b = Bench(alive=row_alive)
    b.at(0).put("a", row)
    row.live = False
    b.map.put("a", other)
    assert b.ended == [] and b.owned == [("claim", row), ("claim", other), ("release", row)]
    assert b.map.get("a") is other


def test_S1_14_its_index_key_is_free() -> None:
    row, other = Row("r"), Row("o")
    b = Bench(indexes={"i": lambda key, value: 1}, alive=row_alive)
    b.at(0).put("a", row)
    assert trap(b.map.put, "b", other) == "index i of m taken"
    row.live = False
    b.map.put("b", other)
    assert b.map.find("i", 1) == ("b", other)
    b.map.remove("a")  # takes no index key with it that is no longer its own
    assert b.map.has("i", 1)


def test_S1_15_the_new_value_is_claimed_before_the_old_is_released() -> None:
    b = Bench(when_full="evict", capacity=1)
    b.at(0).put("a", 1)
    b.map.put("a", 1)
    b.map.put("b", 1)
    b.map.remove("b")
    claim, release = ("claim", 1), ("release", 1)
    assert b.owned == [claim, claim, release, claim, release, release]


def test_S1_16_a_trap_in_claim_stores_nothing_and_evicts_nothing() -> None:
    def refuse(value: int) -> None:
        if value == 2:
            raise Trap("no")

    m = FlowMap(name="m", capacity=1, now=lambda: 0, idle=None, age=None, when_full="evict", claim=refuse)
    m.put("a", 1)
    assert trap(m.put, "b", 2) == "no" and trap(m.put, "a", 2) == "no" and m.items() == [("a", 1)]


def test_S1_16_a_trap_in_on_end_ends_the_write_that_evicted() -> None:
    def fail(key: Any, value: Any, why: int) -> None:
        raise Trap("no")

    b = Bench(when_full="evict", capacity=1, on_end=fail)
    b.at(0).put("a", 1)
    assert trap(b.map.put, "b", 2) == "no" and len(b.map) == 0
    assert b.owned == [("claim", 1), ("claim", 2), ("release", 1), ("release", 2)]


def test_S1_17_a_set_is_a_map_without_values() -> None:
    s = FlowMap(name="s", capacity=2, now=lambda: 0, idle=None, age=None, when_full="drop")
    s.put(1, None)
    assert s.contains(1) and not s.contains(2) and s.items() == [(1, None)]


def test_the_worked_table_of_section_1() -> None:
    b = Bench(idle=10, when_full="evict")
    b.at(0).put("a", 1)
    b.at(0).put("b", 2)
    assert b.at(4).get("a") == 1
    b.at(5).put("c", 3)
    b.at(6).put("a", 9)
    assert b.map.items() == [("a", 9), ("c", 3)]
    b.at(20)
    assert b.ended == [(5, "b", 2, EVICTED), (15, "c", 3, IDLE), (16, "a", 9, IDLE)]
