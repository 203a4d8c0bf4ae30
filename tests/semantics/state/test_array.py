"""Section 3 of STATE.md: arrays."""

from __future__ import annotations

import pytest

from polysome.kinds.base import Trap
from polysome.kinds.state.array import Array


def test_S3_1_all_values_are_initial_at_first() -> None:
    a = Array("a", 3, (0, 7))
    a.set(1, (5, 7))
    assert [a.get(i) for i in range(3)] == [(0, 7), (5, 7), (0, 7)] and len(a) == 3


@pytest.mark.parametrize("i", [3, 4, 2**64 - 1])
def test_S3_2_an_index_past_the_end_traps(i: int) -> None:
    a = Array("a", 3, 0)
    with pytest.raises(Trap) as reading:
        a.get(i)
    with pytest.raises(Trap) as writing:
        a.set(i, 1)
    assert reading.value.reason == writing.value.reason == "index past the end of a"
