"""Counters of a part over its runs, whenever it is heard of that one began anew."""

from __future__ import annotations

from itertools import product

import pytest

from polysome_controller.state import Counted

# Looks: which run it is said to be, which it is, and what it has counted; each of the first run has 5, then 7.
FIRST = [(1, 1, 5), (1, 1, 7)]


def total(looks: list[tuple[int, int, int]]) -> int:
    counted = Counted()
    for said, _, value in looks:
        counted.read(said, {"lost": value})
    return counted.total["lost"]


@pytest.mark.parametrize("late", range(4))
@pytest.mark.parametrize("values", [v for v in product((0, 1, 3, 6), repeat=4) if list(v) == sorted(v)])
def test_a_run_that_is_heard_of_late_counts_once(late: int, values: tuple[int, ...]) -> None:
    """So many looks at the second run are said to be of the first one."""
    second = [(1 if n < late else 2, 2, value) for n, value in enumerate(values)]
    assert total(FIRST + second) == 7 + values[-1]


@pytest.mark.parametrize("value", [7, 8, 100])
def test_a_run_that_has_counted_as_much_is_told_by_its_number(value: int) -> None:
    assert total([*FIRST, (2, 2, value)]) == 7 + value


def test_a_third_run_counts_too() -> None:
    assert total([*FIRST, (1, 2, 0), (2, 2, 3), (3, 3, 2), (3, 3, 4), (3, 4, 1), (4, 4, 2)]) == 7 + 3 + 4 + 2


def test_names_come_and_go() -> None:
    counted = Counted()
    counted.read(1, {"a": 3})
    counted.read(2, {"b": 1})
    assert counted.total == {"a": 3, "b": 1}
