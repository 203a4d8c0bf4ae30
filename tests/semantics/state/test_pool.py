"""Section 2 of STATE.md: pools. Vectors are computed by hand."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.kinds.base import Trap
from polysome.kinds.state.pool import Pool
from polysome.kinds.values import Taken


def take_all(pool: Pool, partition: Hashable = None) -> list[Any]:
    values = []
    while (taken := pool.take(partition)) is not None:
        pool.claim(taken)
        values.append(taken.value)
    return values


def held(pool: Pool, partition: Any = None) -> Taken:
    taken = pool.take(partition)
    assert taken is not None
    pool.claim(taken)
    return taken


def test_S2_1_the_domain_is_the_product_in_ascending_order() -> None:
    assert take_all(Pool("p", lambda: [(9, 3), range(1, 4)])) == [(9, 1), (9, 2), (9, 3), (3, 1), (3, 2), (3, 3)]
    assert take_all(Pool("p", lambda: [range(5, 8)])) == [5, 6, 7]
    assert take_all(Pool("p", lambda: [(2, 1, 2)])) == [2, 1]  # 2 once, at its first place
    assert take_all(Pool("p", lambda: [(), range(9)])) == []


def test_S2_2_take_yields_what_is_free_longest() -> None:
    pool = Pool("p", lambda: [("a", "b"), range(1, 3)])
    first = held(pool)
    assert first == Taken(("a", 1), None)
    assert held(pool).value == ("a", 2)
    pool.release(first)
    assert take_all(pool) == [("b", 1), ("b", 2), ("a", 1)]
    assert pool.take() is None


def test_S2_3_each_partition_has_the_whole_domain() -> None:
    pool = Pool("p", lambda: [range(2)])
    assert held(pool, 6) == Taken(0, 6)
    assert take_all(pool, 17) == [0, 1] and take_all(pool, 6) == [1]
    pool.release(Taken(0, 17))
    assert pool.take(6) is None and pool.take(17) == Taken(0, 17)


def test_S2_4_the_last_entry_that_releases_frees() -> None:
    pool = Pool("p", lambda: [range(2)])
    zero = held(pool)
    pool.claim(zero)
    pool.release(zero)
    assert pool.available() == 1
    pool.release(zero)
    assert pool.available() == 2 and take_all(pool) == [1, 0]


def test_S2_5_loose_values_go_back_when_the_handler_ends() -> None:
    pool = Pool("p", lambda: [range(4)])
    pool.take(), pool.take()
    two = held(pool)
    assert pool.available() == 1
    pool.settle()
    assert pool.available() == 3
    pool.settle()
    assert take_all(pool) == [3, 0, 1] and two.value == 2


def test_S2_5_a_value_released_in_the_handler_that_took_it_does_not_go_back_twice() -> None:
    pool = Pool("p", lambda: [range(2)])
    pool.release(held(pool))
    assert pool.available() == 2
    pool.settle()
    assert take_all(pool) == [1, 0]


def test_S2_6_storing_a_value_that_went_back_traps() -> None:
    pool = Pool("p", lambda: [range(2)])
    zero = held(pool)
    pool.release(zero)
    for gone in (zero, Taken(0, "a partition never used")):
        with pytest.raises(Trap) as trap:
            pool.claim(gone)
        assert trap.value.reason == "value not taken from p"


def test_S2_7_len_counts_free_values() -> None:
    pool = Pool("p", lambda: [(1, 2), range(1024, 65536)])
    assert pool.available(6) == 2 * 64512
    pool.take(6)
    assert pool.available(6) == 2 * 64512 - 1 and pool.available(17) == 2 * 64512


def test_S2_8_values_that_left_the_domain_are_not_given_out() -> None:
    domain = ["a", "b", "c", "d"]
    pool = Pool("p", lambda: [tuple(domain)])
    a, b = held(pool), held(pool)
    domain[:] = ["b", "d"]
    pool.reload()
    assert pool.available() == 1  # d; b is out
    pool.release(a)  # vanishes
    pool.release(b)
    assert take_all(pool) == ["d", "b"]


def test_S2_9_new_values_join_behind_all_others() -> None:
    domain = [5, 6]
    pool = Pool("p", lambda: [tuple(domain), range(1, 3)])
    first = held(pool)  # (5, 1)
    pool.release(held(pool))  # (5, 2) goes behind (6, 1), (6, 2)
    domain[:] = [4, 5, 6]
    pool.reload()
    assert pool.available() == 5
    pool.release(first)
    assert take_all(pool) == [(6, 1), (6, 2), (5, 2), (4, 1), (4, 2), (5, 1)]


def test_S2_9_a_value_that_is_out_while_it_leaves_and_returns_joins_when_it_comes_back() -> None:
    domain = [1, 2]
    pool = Pool("p", lambda: [tuple(domain)])
    one = held(pool)
    domain[:] = [2]
    pool.reload()
    domain[:] = [1, 2, 3]
    pool.reload()
    assert pool.available() == 2  # 2, 3
    pool.release(one)
    assert take_all(pool) == [2, 3, 1]


def test_S2_10_an_untouched_partition_was_there_from_the_start() -> None:
    domain = [5, 6]
    pool = Pool("p", lambda: [tuple(domain)])
    domain[:] = [4, 6, 5, 7]
    pool.reload()
    domain[:] = [4, 5, 7, 6]
    pool.reload()
    assert take_all(pool, "new") == [5, 6, 4, 7]


class Model:
    """Section 2 on lists that hold the whole domain, for two partitions."""

    def __init__(self, axes: list[Any]) -> None:
        self.domain = cells(axes)
        self.free = {p: list(self.domain) for p in (0, 1)}
        self.out: dict[Taken, int] = {}
        self.loose: list[Taken] = []

    def take(self, partition: int) -> Taken | None:
        if not self.free[partition]:
            return None
        taken = Taken(self.free[partition].pop(0), partition)
        self.out[taken] = 0
        self.loose.append(taken)
        return taken

    def back(self, taken: Taken) -> None:
        del self.out[taken]
        if taken in self.loose:
            self.loose.remove(taken)
        if taken.value in self.domain:
            self.free[taken.partition].append(taken.value)

    def reload(self, axes: list[Any]) -> None:
        old, self.domain = self.domain, cells(axes)
        for p, free in self.free.items():
            out = [t.value for t in self.out if t.partition == p]
            new = [v for v in self.domain if v not in old and v not in out]
            self.free[p] = [v for v in free if v in self.domain] + new


def cells(axes: list[Any]) -> list[Any]:
    unique = [list(dict.fromkeys(axis)) for axis in axes]
    return [cell[0] if len(cell) == 1 else cell for cell in product(*unique)]


RANGES = st.builds(lambda low, size: range(low, low + size), st.integers(0, 5), st.integers(0, 4))
LISTS = st.lists(st.integers(0, 4), max_size=4).map(tuple)
AXES = {n: st.lists(st.one_of(RANGES, LISTS), min_size=n, max_size=n) for n in (1, 2, 3)}


@settings(max_examples=200)
@given(st.data())
def test_the_pool_does_what_the_lists_do(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 3))
    axes = data.draw(AXES[n])
    pool, model = Pool("p", lambda: axes), Model(axes)
    for _ in range(data.draw(st.integers(1, 40))):
        step = data.draw(st.sampled_from(["take", "take", "take", "claim", "release", "settle", "reload"]))
        held = sorted(t for t in model.out if model.out[t] > 0)
        if step == "take":
            p = data.draw(st.sampled_from([0, 0, 0, 1]))
            assert pool.take(p) == model.take(p)
        elif step == "claim" and model.out:
            taken = data.draw(st.sampled_from(sorted(model.out)))
            pool.claim(taken)
            model.out[taken] += 1
            model.loose = [t for t in model.loose if t != taken]
        elif step == "release" and held:
            taken = data.draw(st.sampled_from(held))
            pool.release(taken)
            model.out[taken] -= 1
            if model.out[taken] == 0:
                model.back(taken)
        elif step == "settle":
            pool.settle()
            for taken in list(model.loose):
                model.back(taken)
        elif step == "reload":
            axes = data.draw(AXES[n])
            pool.reload()
            model.reload(axes)
        for p in (0, 1):
            assert pool.available(p) == len(model.free[p])
    for p in (0, 1):
        assert take_all(pool, p) == model.free[p]


def test_many_reloads_cost_nothing_later() -> None:
    domain = [1]
    pool = Pool("p", lambda: [tuple(domain), range(50000)])
    pool.take()
    for i in range(3000):
        domain[:] = [1, 2 + i % 2]
        pool.reload()
    assert pool.available() == 2 * 50000 - 1 and len(pool._history) <= 3
    assert len(pool._partitions[None].free) <= 3
    pool.take("another")
