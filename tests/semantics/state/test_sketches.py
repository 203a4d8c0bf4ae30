"""Sections 6 to 8 of STATE.md: count_min, bloom, hyperloglog. Vectors are computed by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from math import ceil, e, log, log2, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polysome.kinds.hashing import key_of_seed, siphash
from polysome.kinds.state import bloom, count_min, hyperloglog
from polysome.kinds.state.bloom import Bloom
from polysome.kinds.state.count_min import CountMin
from polysome.kinds.state.hyperloglog import HyperLogLog
from polysome.kinds.state.top_k import TopK


def itself(hashed: int) -> int:
    return hashed


def hash_int(seed: int, key: int) -> int:
    return siphash(key_of_seed(seed), key.to_bytes(8, "big"))


Sketch = CountMin | Bloom | HyperLogLog | TopK
SMALL: dict[str, Callable[[Callable[[int], int]], Sketch]] = {
    "count_min": lambda hashed: CountMin(7, 3, hashed),
    "bloom": lambda hashed: Bloom(8 * bloom.PAGE + 100, 3, hashed),
    "hyperloglog": lambda hashed: HyperLogLog(4, hashed),
    "top_k": lambda hashed: TopK(3, 6),
}


def answers(sketch: Sketch) -> list[object]:
    if isinstance(sketch, Bloom):
        return [key in sketch for key in range(40)]
    if isinstance(sketch, HyperLogLog):
        return [sketch.estimate()]
    return [*(sketch.estimate(key) for key in range(40)), *(sketch if isinstance(sketch, TopK) else ())]


@pytest.mark.parametrize("kind", SMALL)
@given(data=st.data())
def test_a_copy_is_what_the_original_was(kind: str, data: st.DataObject) -> None:
    """Histories keep copies; each goes on for itself, as one that was given the same does."""
    keys = st.lists(st.integers(0, 39), max_size=30)
    before, one_more, other_more = data.draw(keys), data.draw(keys), data.draw(keys)
    one, alike, other_alike = (SMALL[kind](partial(hash_int, 5)) for _ in range(3))
    for key in before:
        one.add(key)
    other, was = deepcopy(one), answers(one)
    assert answers(other) == was
    for key in one_more:
        one.add(key)
    assert answers(other) == was
    for key in other_more:
        other.add(key)
    for key in (*before, *one_more):
        alike.add(key)
    for key in (*before, *other_more):
        other_alike.add(key)
    assert answers(one) == answers(alike) and answers(other) == answers(other_alike)


# count_min


def test_S6_1_sizes() -> None:
    assert count_min.width(10_000) == 272  # e·100 = 271.83
    assert count_min.width(1_000) == 2719  # 2718.28
    assert count_min.width(999_999) == 3 and count_min.width(1) == 2_718_282
    assert count_min.depth(990_000) == 5  # e^4 = 54.6 < 100 <= e^5 = 148.4
    assert count_min.depth(500_000) == 1 and count_min.depth(0) == 1  # e >= 2; at least 1
    assert count_min.depth(999_999) == 14  # e^13 = 442413 < 10^6 <= e^14
    for unfit in (0, 1_000_000):
        with pytest.raises(ValueError):
            count_min.width(unfit)
    with pytest.raises(ValueError):
        count_min.depth(1_000_000)


@given(st.integers(1, 999_999))
def test_S6_1_sizes_follow_the_paper(ppm: int) -> None:
    assert abs(count_min.width(ppm) - ceil(e * 10**6 / ppm)) <= 1
    assert count_min.depth(10**6 - ppm) == max(1, ceil(log(10**6 / ppm)))


# Two rows of 4. Hash 0: step 1, places 0 and 0. Hash 80000000: step 8000000000000001, places 0 and
# 8000000080000001·4 / 2^64 = 2. Hash 1: step 100000001, places 0 and 0.
A, B, C = 0, 0x80000000, 1


def test_S6_2_add_counts_in_one_counter_per_row() -> None:
    s = CountMin(4, 2, itself)
    s.add(A, 3)
    s.add(B)
    assert [list(row) for row in s._rows] == [[4, 0, 0, 0], [3, 0, 1, 0]]
    s.add(B, 2**64 - 2)  # 4 + 2^64 - 2 saturates, 1 + 2^64 - 2 does not
    assert s._rows[0][0] == 2**64 - 1 and s._rows[1][2] == 2**64 - 1
    s.add(B)
    assert s._rows[1][2] == 2**64 - 1


def test_S6_3_estimate_is_the_least_counter() -> None:
    s = CountMin(4, 2, itself)
    s.add(A, 3)
    s.add(B, 5)
    assert s.estimate(A) == 3 and s.estimate(B) == 5  # row 0 has 8
    assert s.estimate(C) == 3  # never added, but in both rows where A is


def test_S6_4_clear() -> None:
    s = CountMin(4, 2, itself)
    s.add(A, 3)
    s.clear()
    assert s.estimate(A) == 0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9))), st.integers(0, 2**128 - 1))
def test_S6_5_count_min_never_undercounts(adds: list[tuple[int, int]], seed: int) -> None:
    s, true = CountMin(5, 2, lambda key: hash_int(seed, key)), Counter[int]()
    for key, n in adds:
        s.add(key, n)
        true[key] += n
    assert all(true[key] <= s.estimate(key) <= true.total() for key in range(31))


@pytest.mark.parametrize(("error", "confidence"), [(10_000, 990_000), (50_000, 900_000), (20_000, 999_000)])
def test_S6_5_the_error_holds_at_the_confidence(error: int, confidence: int) -> None:
    bad = asked = 0
    for seed in range(20):
        s = CountMin(count_min.width(error), count_min.depth(confidence), partial(hash_int, seed))
        true = {key: 1 + 20_000 // (key + 1) for key in range(1000)}  # a few heavy, many light
        for key, n in true.items():
            s.add(key, n)
        bound = error * sum(true.values()) / 10**6
        bad += sum(s.estimate(key) > true.get(key, 0) + bound for key in range(2000))
        asked += 2000
    assert bad / asked <= 1 - confidence / 10**6


# bloom


def test_S7_1_sizes() -> None:
    assert bloom.hashes(10_000) == 7  # 2^6 = 64 < 100 <= 128
    assert bloom.bits(1000, 10_000) == 10099  # 7000 / 0.693147 = 10098.87
    assert [bloom.hashes(x) for x in (999_999, 500_000, 300_000, 250_000, 1)] == [1, 1, 2, 2, 20]
    assert bloom.bits(1, 500_000) == 2  # 1.44
    for unfit in (0, 1_000_000):
        with pytest.raises(ValueError):
            bloom.hashes(unfit)
    with pytest.raises(ValueError):
        bloom.bits(0, 10_000)


@given(st.integers(1, 999_999))
def test_S7_1_hashes_are_the_least_that_do(error: int) -> None:
    k = bloom.hashes(error)
    assert 2**k * error >= 10**6 and (k == 1 or 2 ** (k - 1) * error < 10**6)
    assert abs(k - max(1, ceil(log2(10**6 / error)))) <= 1


def test_S7_2_add_sets_the_bits_of_the_places() -> None:
    b = Bloom(8, 2, itself)
    b.add(0x4000000080000000)  # places 0.25·8 = 2 and 0.75·8 = 6
    assert b._pages == [bytes([0b0100_0100]).ljust(bloom.PAGE, b"\0")]
    assert 0x4000000080000000 in b
    assert 0xC000000080000000 in b  # 0.75·8 = 6; step 80000000c0000001, 1.25 - 1 → 2: a wrong yes
    assert 0 not in b and 0x4000000040000000 not in b  # places 0, 0; 2 and, with step 4000000040000001, 4


def test_S7_3_clear() -> None:
    b = Bloom(8, 2, itself)
    b.add(0)
    b.clear()
    assert 0 not in b


@given(st.sets(st.integers(0, 2**64 - 1)), st.integers(0, 2**128 - 1))
def test_S7_4_a_bloom_has_no_false_negatives(keys: set[int], seed: int) -> None:
    b = Bloom(50, 4, lambda key: hash_int(seed, key))
    for key in keys:
        b.add(key)
    assert all(key in b for key in keys)


@pytest.mark.parametrize("error", [200_000, 10_000, 1_000])
def test_S7_4_the_error_holds_at_capacity(error: int) -> None:
    b = Bloom(bloom.bits(5000, error), bloom.hashes(error), lambda key: hash_int(1, key))
    for key in range(5000):
        b.add(key)
    wrong = sum(key in b for key in range(5000, 105_000))
    assert wrong / 100_000 < error / 10**6 + 3 * sqrt(error / 10**6 / 100_000)  # three standard deviations


# hyperloglog


def test_S8_1_sizes() -> None:
    # 1.0816·10^12 <= error²·2^b: at 1 %: 10816 <= 2^b → 14; at 10 %: 108.16 <= 2^b → 7
    assert [hyperloglog.bits(x) for x in (10_000, 100_000, 260_000, 999_999, 2_032)] == [14, 7, 4, 4, 18]
    for unfit in (0, 2_031, 1_000_000):
        with pytest.raises(ValueError):
            hyperloglog.bits(unfit)


@given(st.integers(2_032, 999_999))
def test_S8_1_the_least_number_of_registers(error: int) -> None:
    b = hyperloglog.bits(error)
    assert 1.04 / sqrt(2**b) <= error / 10**6 * (1 + 1e-12)
    assert b == 4 or 1.04 / sqrt(2 ** (b - 1)) > error / 10**6 * (1 - 1e-12)


def test_S8_2_registers() -> None:
    h = HyperLogLog(4, itself)
    h.add(0x0000000000000000)  # register 0, 60 zeros: rank 61
    h.add(0x1800000000000000)  # register 1, then 1: rank 1
    h.add(0x2200000000000000)  # register 2, then 001: rank 3
    h.add(0x2800000000000000)  # register 2 again, rank 1: stays 3
    h.add(0xF000000000000001)  # register 15, 59 zeros before the 1: rank 60
    assert list(h._registers) == [61, 1, 3, *([0] * 12), 60]


def test_S8_3_the_estimate() -> None:
    h = HyperLogLog(4, itself)
    assert h.estimate() == 0
    h.add(0x1800000000000000)
    assert h.estimate() == 1  # 0.72135·256 / 179.00 = 1.03, see STATE.md
    for register in range(16):
        h.add(register << 60 | 1 << 57)  # 001…: rank 3
    assert h.estimate() == 92  # 0.7213475·256 / (16/8) = 92.33
    for register in range(16):
        h.add(register << 60 | 1 << 56)  # 0001…: rank 4
    assert h.estimate() == 185  # 184.66
    for register in range(16):
        h.add(register << 60)  # rank 61
    assert h.estimate() == 2**64 - 1  # 0.72·256 / (16·2^-61) = 2.66·10^19 > 2^64


def test_S8_3_sigma() -> None:
    # 1/2 + 1/4 + 2/16 + 4/256 + 8/65536 + 16/2^32 (then 32/2^64 is below the unit), in units of 2^-63
    expected = 2**62 + 2**61 + 2**60 + 2**57 + 2**50 + 2**35
    assert hyperloglog.sigma(2**62) == expected and hyperloglog.sigma(0) == 0


def test_S8_4_clear() -> None:
    h = HyperLogLog(4, itself)
    h.add(1)
    h.clear()
    assert h.estimate() == 0


@pytest.mark.parametrize("n", [1, 10, 200, 1000, 3000, 20_000])
def test_S8_5_the_standard_error_holds(n: int) -> None:
    squares, bias, runs = 0.0, 0.0, 30
    for seed in range(runs):
        h = HyperLogLog(hyperloglog.bits(50_000), partial(hash_int, seed))  # 512 registers
        for key in range(n):
            h.add(key)
            h.add(key)
        off = h.estimate() / n - 1
        squares, bias = squares + off**2, bias + off
    assert sqrt(squares / runs) < 0.05 * 1.3  # 30 runs know their deviation to about 13 %
    assert abs(bias / runs) < 3 * 0.05 / sqrt(runs)
