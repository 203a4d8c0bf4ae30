"""What symbols of checksums stand for is what the soft switch computes (runtime/switch/bits.hpp), zeros too."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from tests.p4.chips import TOFINO
from tests.prove.p4.concrete import Facts

from polysome import smt
from polysome.prove.p4.store import Residual, Sum, Updated
from polysome.prove.p4.sums import as_word, meaning

VALUES = (0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF)
A, B, C, R = (smt.BitVec(name, 16) for name in ("a", "b", "c", "residual#1"))


@pytest.mark.parametrize("never_zero", [False, True])
def test_an_update_is_what_the_soft_switch_computes(never_zero: bool) -> None:
    sums: dict[str, Sum] = {"residual#1": Residual((A, B)), "checksum#2": Updated((C, R), never_zero)}
    whole = meaning("checksum#2", sums, TOFINO)
    for a, b, c in product(VALUES, repeat=3):
        values = {"a": a, "b": b, "c": c}
        wanted = Facts(dict(values), sums).of(smt.BitVec("checksum#2", 16))
        put = [(term, smt.BitVecVal(values[str(term)], 16)) for term in (A, B, C)]
        zero, ones = (smt.simplify(smt.substitute(term, *put)) for term in (whole.sum.zero(), whole.ones))
        assert smt.is_true(zero) == (wanted in (0, 0xFFFF)), values
        assert not smt.is_true(zero) or smt.is_true(ones) == (wanted == 0xFFFF), values


def test_a_residual_of_an_unknown_chip_may_be_either_zero() -> None:
    sums: dict[str, Sum] = {"residual#1": Residual((A,))}
    known, unknown = (
        meaning("residual#1", sums, replace(TOFINO, residual_zero_is_ones=ones)).ones for ones in (True, False)
    )
    solver = smt.Solver()
    assert solver.check(A == 0, smt.Not(known)) == smt.unsat  # 0 was subtracted: ffff was added
    assert solver.check(A == 0xFFFF, known) == smt.unsat
    assert solver.check(A == 0, unknown) == solver.check(A == 0, smt.Not(unknown)) == smt.sat


def test_two_bytes_of_one_symbol_are_its_sum_and_others_are_bytes() -> None:
    sums: dict[str, Sum] = {"residual#1": Residual((A,))}
    high, low = smt.Extract(15, 8, R), smt.Extract(7, 0, R)
    assert as_word(high, low, sums, TOFINO).sum == meaning("residual#1", sums, TOFINO).sum
    swapped = as_word(low, high, sums, TOFINO)
    assert set(swapped.sum.terms.values()) == {R}
