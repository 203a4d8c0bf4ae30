"""The toy table's own tests: its meaning, and that its other tellings say the same."""

from __future__ import annotations

import random

import pytest
from tests.kinds.state.ranges import KIND, Ranges, Row
from tests.kinds.state.ranges.model import RangesModel

from polysome import smt
from polysome.ir import types as t
from polysome.symbolic.values import bits

ROWS: list[Row] = [((5, 9), "b"), ((0, 3), "a"), ((10, 10), "c")]


def test_a_key_finds_its_range() -> None:
    found = [Ranges(ROWS).get(key) for key in range(12)]
    assert found == ["a"] * 4 + [None] + ["b"] * 5 + ["c", None] and len(Ranges(ROWS)) == 3


def test_ranges_are_apart() -> None:
    with pytest.raises(ValueError, match="a key in common"):
        Ranges([*ROWS, ((3, 4), "d")])
    assert KIND.together([*ROWS, ((3, 4), "d"), ((4, 4), "e")]) == (*ROWS, ((4, 4), "e"))


def test_its_terms_say_the_same() -> None:
    chance, model, type = random.Random(0), RangesModel(), KIND.type_of((t.Bits(8), t.Bits(8)))
    for _ in range(30):
        ends = [sorted((chance.randrange(256), chance.randrange(256))) for _ in range(4)]
        held = KIND.together(((low, high), n) for n, (low, high) in enumerate(ends))
        key = chance.choice([chance.randrange(256), *ends[0]])
        hits = [bool(smt.is_true(smt.simplify(model.matches(bits(key, 8), of)))) for _, of, _ in model.rows(type, held)]
        assert hits == [low <= key <= high for (low, high), _ in held]
