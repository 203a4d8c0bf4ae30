"""What the invariant of pools holds a pool's order to: the values of its domain, and those that a new config brings."""

from __future__ import annotations

from itertools import product

import pytest

from polysome.kinds.state.pool.invariant import _Domain

SETS = ([], [1], [2, 1], [1, 2, 3], [3, 4])
RANGES = (range(0, 0), range(5, 7), range(6, 9))


def values(axes: list[object]) -> list[object]:
    """The product, by its definition (S2.1)."""
    found = list(product(*axes))  # type: ignore[call-overload]
    return [v[0] for v in found] if len(axes) == 1 else found


@pytest.mark.parametrize("shape", ["list", "list, list", "list, range", "range, list"])
def test_beyond_another_domain_is_what_that_has_not(shape: str) -> None:
    """All pairs of small domains: in order, nothing twice, nothing that was there."""
    kinds = [SETS if kind == "list" else RANGES for kind in shape.split(", ")]
    domains = [list(axes) for axes in product(*kinds)]
    for new, old in product(domains, domains):
        found = list(_Domain(new).beyond(_Domain(old), []))
        assert found == [v for v in values(new) if v not in values(old)], (new, old)
        assert list(_Domain(new).beyond(None, [])) == values(new)


def test_what_a_later_domain_lost_may_be_left_out_and_nothing_else() -> None:
    later = _Domain([[2, 3], range(5, 7)])
    kept = list(_Domain([[1, 2, 3], range(5, 8)]).beyond(None, [later]))
    assert set(kept) >= {(2, 5), (2, 6), (3, 5), (3, 6)} and not any(v[0] == 1 for v in kept)
