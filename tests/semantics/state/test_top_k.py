"""Section 9 of STATE.md: top_k. Vectors are computed by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polysome.kinds.state import top_k
from polysome.kinds.state.top_k import TopK


def filled(text: str, k: int = 2, counters: int = 2) -> TopK:
    t = TopK(k, counters)
    for key in text:
        t.add(key)
    return t


def test_S9_1_sizes() -> None:
    assert top_k.counters({"k": 10}) == 10
    assert top_k.counters({"k": 10, "error": 10_000}) == 100 and top_k.counters({"k": 200, "error": 10_000}) == 200
    assert top_k.counters({"k": 1, "error": 300_000}) == 4  # 3.33
    for unfit in ({"k": 0}, {"k": 1, "error": 0}):
        with pytest.raises(ValueError):
            top_k.counters(unfit)


def test_S9_2_add() -> None:
    t = filled("aab")
    assert list(t) == [("a", 2), ("b", 1)]
    t.add("c", 5)  # takes over b's 1
    assert list(t) == [("c", 6), ("a", 2)]
    t.add("d", 0)
    assert list(t) == [("c", 6), ("a", 2)]
    t.add("a", 2**64 - 1)
    assert list(t) == [("a", 2**64 - 1), ("c", 6)]


def test_S9_3_among_least_counters_the_oldest_goes() -> None:
    t = filled("aabc")  # a 2; c took over b: 2
    t.add("b")  # a took its counter first
    assert list(t) == [("b", 3), ("c", 2)]


def test_S9_4_iteration_is_by_count_then_by_age() -> None:
    assert list(filled("bacca", k=3, counters=3)) == [("a", 2), ("c", 2), ("b", 1)]
    assert list(filled("bacca", k=1, counters=3)) == [("a", 2)]


def test_S9_5_estimate() -> None:
    t = filled("aab", counters=3)
    assert (t.estimate("a"), t.estimate("z")) == (2, 0)
    t.add("c", 4)
    assert t.estimate("z") == 1  # all in use, b's is the least


def test_S9_6_clear() -> None:
    t = filled("aab")
    t.clear()
    assert list(t) == [] and t.estimate("a") == 0
    t.add("b")
    assert list(t) == [("b", 1)]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5))), st.integers(1, 6))
def test_S9_7_bounds(adds: list[tuple[int, int]], counters: int) -> None:
    t, true = TopK(counters, counters), Counter[int]()
    for key, n in adds:
        t.add(key, n)
        true[key] += n
    shown = dict(t)
    assert sum(shown.values()) == true.total()  # what one loses another inherits
    for key in range(13):
        assert true[key] <= t.estimate(key) <= true[key] + true.total() / counters
        assert key in shown or true[key] <= true.total() / counters


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 5))), st.integers(1, 4))
def test_S9_2_the_sketch_does_what_a_list_does(adds: list[tuple[int, int]], counters: int) -> None:
    t = TopK(counters, counters)
    model: list[list[int]] = []  # [key, count], in order of taking the counter
    for key, n in adds:
        t.add(key, n)
        found = next((c for c in model if c[0] == key), None)
        if found is not None:
            found[1] += n
        else:
            if len(model) == counters:
                least = min(model, key=lambda c: c[1])
                model.remove(least)
                n += least[1]
            model.append([key, n])
        assert list(t) == [(c[0], c[1]) for c in sorted(model, key=lambda c: -c[1])]
