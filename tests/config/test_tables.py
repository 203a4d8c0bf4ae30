"""L8.2 to L8.4: what the NF reads, and what of it stays over a change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.kinds.hashing import key_of_seed, siphash
from polysome.kinds.state.acl import AclRow
from polysome.kinds.state.maglev import Maglev
from polysome.kinds.values import Prefix, Row
from polysome.syntax.diagnostics import Report

from .helpers import nf

CONFIG = """
  config rows: list<u8>; config names: map<u8, u16>; config some: set<u8>; config routes: lpm<ipv4, u8>;
  config rules: acl<u8, u8>; config spread: maglev<Pair> { size 7; } config one: Pair = Pair { low: 1, high: 2 };
"""


def tables(**values: Any) -> Tables:
    program = nf(CONFIG)
    return Tables(program, load_config(program, [], Report()) | values)


def values_of(rows: Any) -> list[Any]:
    assert all(isinstance(row, Row) and row.live for row in rows)
    return [row.value for row in rows]


def test_L8_2_what_the_nf_reads() -> None:
    t = tables(
        rows=(3, 1),
        names={1: 2},
        some=frozenset((1,)),
        routes=((Prefix(32, 0, 0), 9),),
        rules=(AclRow((None,), 5), AclRow((1,), 6, 1)),
    )
    assert values_of(t.current["rows"]) == [3, 1] and values_of(t.current["names"].values()) == [2]
    assert t.current["some"] == {1} and t.current["routes"].get(77, 32) == 9 and t.current["one"] == (1, 2)
    assert t.current["rules"].get((1,), (8,)) == 6 and t.current["rules"].get((2,), (8,)) == 5


def test_L8_4_rows_of_a_list_stay_if_equal_ones_do() -> None:
    t = tables(rows=(1, 2, 1, 3))
    one, two, same, three = t.current["rows"]
    assert one is same
    before = t.current["rows"]
    t.replace({"rows": (3, 1, 4)})
    now = t.current["rows"]
    assert now[0] is three and now[1] is one and now[2] not in before
    assert [row.live for row in before] == [True, False, True, True]
    t.replace({"rows": (1, 1, 2)})
    again = t.current["rows"]
    assert again[0] is one and again[1] is one and again[2] is not two
    assert not two.live and not three.live  # what has gone never comes back


def test_L8_4_rows_of_a_map_stay_if_their_keys_do() -> None:
    t = tables(names={1: 10, 2: 20})
    one, two = t.current["names"].values()
    old = t.current["names"]
    t.replace({"names": {3: 30, 1: 11}})
    assert list(t.current["names"]) == [3, 1] and t.current["names"][1] is one and one.value == 11 and one.live
    assert not two.live and two.value == 20
    assert list(old) == [1, 2]  # a loop that has begun goes on as it was
    t.replace({"names": {2: 20}})
    assert t.current["names"][2] is not two and not one.live


@given(st.lists(st.integers(0, 4)), st.lists(st.integers(0, 4)))
def test_L8_4_a_row_lives_as_long_as_an_equal_one_is_listed(old: list[int], new: list[int]) -> None:
    t = tables(rows=tuple(old))
    before = t.current["rows"]
    t.replace({"rows": tuple(new)})
    now = t.current["rows"]
    assert values_of(now) == new and len(set(map(id, now))) == len(set(new))
    assert {row.value for row in before if row.live} == set(old) & set(new)
    assert {id(row) for row in before if row.live} == {id(row) for row in before} & {id(row) for row in now}


def test_L8_4_maglev_rows_stay_whatever_their_weight() -> None:
    t = tables(spread=(((1, 2), 1), ((3, 4), 1)))
    seen = {t.current["spread"].lookup(i).value: t.current["spread"].lookup(i) for i in range(7)}
    assert set(seen) == {(1, 2), (3, 4)}
    t.replace({"spread": (((1, 2), 0), ((3, 4), 2))})
    assert {id(t.current["spread"].lookup(i)) for i in range(7)} == {id(seen[3, 4])}
    assert seen[1, 2].live  # of weight 0, but in the table
    t.replace({"spread": (((3, 4), 1),)})
    assert not seen[1, 2].live and seen[3, 4].live


def test_maglev_hashes_canonical_bytes_with_the_seed() -> None:
    t = tables(spread=tuple(((i, i + 1), 1) for i in range(3)))
    expected = Maglev(
        "spread", [((i, i + 1), 1) for i in range(3)], lambda data: siphash(key_of_seed(0), data), bytes, 7
    )
    assert [t.current["spread"].lookup(i).value for i in range(7)] == [expected.lookup(i) for i in range(7)]


def test_a_change_happens_whole_or_not_at_all() -> None:
    t = tables(rows=(1,), names={1: 10})
    row, entry = t.current["rows"][0], t.current["names"][1]
    with pytest.raises(ValueError, match="weights"):
        t.replace({"rows": (2,), "names": {1: 11}, "spread": (((1, 2), 8),)})
    with pytest.raises(KeyError):
        t.replace({"rows": (2,), "nothing": ()})
    assert t.current["rows"] == (row,) and row.live and entry.value == 10
    t.replace({"rows": (2,), "names": {}, "one": (3, 4), "some": frozenset((7,))})
    assert not row.live and not entry.live and t.current["one"] == (3, 4) and t.current["some"] == {7}
    with pytest.raises(KeyError, match="no value for config rows"):
        Tables(nf(CONFIG), {})
