"""Sections 10 to 12 of STATE.md: lpm, acl, maglev. Vectors are computed by hand."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polysome.kinds.base import Trap
from polysome.kinds.hashing import key_of_seed, siphash
from polysome.kinds.state.acl import Acl, AclRow, Range
from polysome.kinds.state.lpm import Lpm
from polysome.kinds.state.maglev import Maglev, _permutation
from polysome.kinds.values import Prefix

# lpm


def net(a: int, b: int, length: int) -> Prefix:
    return Prefix(32, a << 24 | b << 16, length)


ROWS = [(net(10, 0, 8), "ten"), (net(10, 1, 16), "ten one"), (Prefix(128, 0x20010DB8 << 96, 32), "doc")]


def test_S10_1_the_longest_prefix_wins() -> None:
    table = Lpm(ROWS)
    assert table.get(0x0A010203, 32) == "ten one" and table.get(0x0A020203, 32) == "ten"
    assert table.get(0x0B010203, 32) is None
    assert Lpm([(net(10, 1, 32), "host"), *ROWS]).get(0x0A010000, 32) == "host"


def test_S10_2_families_are_apart() -> None:
    table = Lpm([*ROWS, (Prefix(32, 0, 0), "any4")])
    assert table.get(0x20010DB8 << 96 | 1, 128) == "doc" and table.get(0x0A010203, 128) is None
    assert table.get(0x0B010203, 32) == "any4" and table.get(1, 128) is None


def test_S10_3_a_prefix_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="rows 2 and 4 have the same prefix"):
        Lpm([*ROWS, (net(10, 1, 16), "again")])


PREFIXES = st.builds(
    lambda bits, value, length: Prefix(bits, value % 2**8 >> (8 - length) << (bits - length), length),
    st.sampled_from([32, 128]),
    st.integers(0, 255),
    st.integers(0, 8),
)


@given(st.lists(PREFIXES, unique=True), st.integers(0, 255), st.sampled_from([32, 128]))
def test_S10_1_lpm_does_what_a_search_does(prefixes: list[Prefix], address: int, bits: int) -> None:
    address <<= bits - 8
    inside = [p for p in prefixes if p.contains(address, bits)]
    table = Lpm([(p, p) for p in prefixes])
    assert table.get(address, bits) == max(inside, key=lambda p: p.length, default=None)


# acl


def test_S11_1_all_matchers_match() -> None:
    acl = Acl([AclRow((net(10, 0, 8), None, 6, Range(80, 90)), "web")])
    widths = (32, 32, 8, 16)
    assert acl.get((0x0A000001, 5, 6, 80), widths) == acl.get((0x0AFFFFFF, 9, 6, 90), widths) == "web"
    for key in ((0x0B000001, 5, 6, 80), (0x0A000001, 5, 17, 80), (0x0A000001, 5, 6, 79), (0x0A000001, 5, 6, 91)):
        assert acl.get(key, widths) is None
    assert acl.get((0x0A000001, 5, 6, 80), (128, 32, 8, 16)) is None  # the other family


def test_S11_2_first_match_by_priority_then_file_order() -> None:
    rows = [AclRow((Range(0, 9),), "low"), AclRow((5,), "five"), AclRow((None,), "any", 7), AclRow((5,), "first", 7)]
    assert Acl(rows).get((5,), (8,)) == "any"
    assert Acl([rows[0], rows[1], rows[3], rows[2]]).get((5,), (8,)) == "first"
    assert Acl(rows[:2]).get((5,), (8,)) == "low" and Acl(rows[:2]).get((10,), (8,)) is None
    assert Acl([]).get((5,), (8,)) is None


# maglev


def as_hash(row: int) -> bytes:
    return row.to_bytes(8, "big")


def from_hash(data: bytes) -> int:
    return int.from_bytes(data, "big")


def hashed(data: bytes) -> int:
    return siphash(key_of_seed(7), data)


def places(m: Maglev) -> list[int]:
    return [m.lookup(h) for h in range(m.size)]


# The paper's table 1: (offset, skip) = (3, 4), (0, 2), (3, 1); the skip is the lower half mod 6, plus 1.
B0, B1, B2 = 3 << 32 | 3, 0 << 32 | 1, 3 << 32 | 0


def paper(*rows: tuple[int, int]) -> list[int]:
    return places(Maglev("m", rows, from_hash, as_hash, 7))


def test_S12_1_permutations_of_the_paper() -> None:
    assert list(islice(_permutation(B0, 7), 7)) == [3, 0, 4, 1, 5, 2, 6]
    assert list(islice(_permutation(B1, 7), 7)) == [0, 2, 4, 6, 1, 3, 5]
    assert list(islice(_permutation(B2 + (7 << 32) + 6, 7), 7)) == [3, 4, 5, 6, 0, 1, 2]


def test_S12_2_population_of_the_paper() -> None:
    assert paper((B0, 1), (B1, 1), (B2, 1)) == [B1, B0, B1, B0, B2, B2, B0]
    assert paper((B0, 1), (B2, 1)) == [B0, B0, B0, B0, B2, B2, B2]


def test_S12_3_weights_are_turns() -> None:
    # B0 3 and 0; B2 (3) 4; B0 (4) 1 and 5; B2 (5) 6; B0 2
    assert paper((B0, 2), (B1, 0), (B2, 1)) == [B0, B0, B0, B0, B2, B0, B2]


def test_S12_4_lookup() -> None:
    m = Maglev("m", [(B0, 1), (B1, 1), (B2, 1)], from_hash, as_hash, 7)
    assert m.lookup(7 * 10**9 + 4) == B2
    for rows in ([], [(B0, 0)]):
        with pytest.raises(Trap) as trap:
            Maglev("m", rows, from_hash, as_hash, 7).lookup(1)
        assert trap.value.reason == "m is empty"


def test_S12_5_errors() -> None:
    for rows, size in (([(B0, 1)], 9), ([(B0, 1)], 1), ([(B0, -1)], 7), ([(B0, 4), (B1, 4)], 7)):
        with pytest.raises(ValueError):
            Maglev("m", rows, from_hash, as_hash, size)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 3), min_size=1, max_size=20))
def test_S12_6_shares_are_even(weights: list[int]) -> None:
    m = Maglev("m", list(enumerate(weights)), hashed, as_hash, 503)
    owned = Counter(places(m))
    rounds = 503 // sum(weights)
    assert all(rounds * w <= owned[row] <= (rounds + 1) * w for row, w in enumerate(weights))


@settings(max_examples=15)
@given(st.integers(3, 12), st.integers(0, 11))
def test_S12_6_little_moves_when_a_row_leaves(n: int, leaver: int) -> None:
    rows = [(row, 1) for row in range(100, 100 + n)]
    gone = 100 + leaver % n
    before = places(Maglev("m", rows, hashed, as_hash, 2003))
    after = places(Maglev("m", [r for r in rows if r[0] != gone], hashed, as_hash, 2003))
    moved = sum(b != a for b, a in zip(before, after, strict=True) if b != gone)
    assert moved / 2003 < 0.15


def test_the_default_size_is_quick_and_even() -> None:
    m = Maglev("m", [(row, 1) for row in range(10)], hashed, as_hash)
    assert m.size == 65537 and set(Counter(places(m)).values()) == {6553, 6554}
