"""LANGUAGE.md L7.7 and L7.10: rows of config tables in state, and pools."""

from __future__ import annotations

import pytest

from polysome.kinds.values import Row
from rules.harness import Outcome, bare, errors, nf, run


def packets(*firsts: int | tuple[int, int]) -> list[tuple[int, str, bytes]]:
    """One packet of one byte after the other, (time, byte); without a time at 0."""
    found = [f if isinstance(f, tuple) else (0, f) for f in firsts]
    return [(time, "a", bytes([first])) for time, first in found]


def after(body: str, state: str, *firsts: int | tuple[int, int], items: str = "", declarations: str = "") -> Outcome:
    """The run of a handler that reads its packet's one byte as `byte0.first`."""
    spec = bare(
        f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}", declarations
    )
    return run(spec, packets(*firsts))


def wrong(body: str, state: str, items: str = "", declarations: str = "") -> list[str]:
    return errors(
        bare(f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}", declarations)
    )


# ---------------------------------------------------------------- L7.7: references

ROWS = "config rows: list<u8>;\n"
REFS = "state { m: map<u8, ref rows> { capacity 4; forever; when full drop; } found: u16; }"


def with_rows(body: str, firsts: list[int], changes: list[tuple[int, dict[str, object]]] | None = None) -> Outcome:
    spec = bare(f'require byte0 else drop "x";\n{body}\ndrop "done";', ROWS + REFS)
    return run(spec, packets(*((i, f) for i, f in enumerate(firsts))), {"rows": (10, 20)}, changes or [])


def test_L7_7_a_reference_is_read_where_the_value_is_wanted() -> None:
    body = 'm[1] = rows[1]; let r = m[1] else drop "x"; found = r as u16 + 1;'
    outcome = with_rows(body, [0])
    assert outcome.state["found"] == 21
    assert isinstance(dict(outcome.state["m"])[1], Row)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("r as u16 + 1", 21),
        ("(r + 1) as u16", 21),
        ("(1 + r) as u16", 21),
        ("(r / 3) as u16", 6),
        ("(~r) as u16", 235),
        ("r ++ r", 20 << 8 | 20),
        ("(r[4:2]) as u16", 5),  # 20 is 10100
        ("min(r, 30) as u16", 20),
        ("max(30, r) as u16", 30),
        ("if r == 20 { 1 } else { 2 }", 1),
        ("if 19 < r { 1 } else { 2 }", 1),
        ("if r in {20, 21} { 1 } else { 2 }", 1),
        ("if r in some { 1 } else { 2 }", 1),
        ("if r in rows { 1 } else { 2 }", 1),
        ("if r in known { 1 } else { 2 }", 2),
        ("if hash(r) == hash(20 as u8) { 1 } else { 2 }", 1),
        ("twice(r) as u16", 40),
        ("t[r]", 7),
        ("(r << 1) as u16", 40),
        ("(1 << r) as u16", 0),
    ],
)
def test_L7_7_a_row_is_read_in_every_kind_of_expression(expression: str, expected: int) -> None:
    items = ROWS + REFS + "config some: set<u8>; fn twice(x: u8) -> u8 { x + x } state { t: array<u16>[32] = 7; "
    items += "known: map<u8, u8> { capacity 4; forever; when full drop; } }"
    spec = bare(f'require byte0; m[1] = rows[1]; let r = m[1] else drop "x"; found = {expression}; drop "done";', items)
    assert run(spec, packets(0), {"rows": (10, 20), "some": frozenset({20})}).state["found"] == expected


def test_L7_7_a_row_is_read_where_it_is_stored_sent_or_written() -> None:
    items = """config rows: list<u8>; config to: list<port>;
      state { k: map<u8, u8> { capacity 4; forever; when full drop; } n: u8; }"""
    body = "require byte0; k[rows[0]] = rows[1]; n += rows[1]; n = n + rows[0]; byte0.first = rows[1]; send to[0];"
    outcome = run(bare(body, items), packets(0), {"rows": (10, 20), "to": (1,)})
    assert (outcome.state["k"], outcome.state["n"], outcome.bytes, outcome.ports) == ([(10, 20)], 30, [b"\x14"], ["b"])


def test_L7_7_if_else_yields_a_plain_value_so_does_the_lookup() -> None:
    body = "let r = m[1] else 99; found = r as u16; m[1] = rows[0];"
    assert with_rows(body, [0]).state["found"] == 99
    assert with_rows(body, [0, 0]).state["found"] == 10
    stored = 'require byte0 else drop "x"; let r = m[1] else {}; m[2] = r; drop "x";'
    assert errors(bare(stored.format("99"), ROWS + REFS)) == ["E0301"]
    assert errors(bare(stored.format("rows[0]"), ROWS + REFS)) == []  # a row


def test_L7_7_so_does_a_lookup_one_branch_of_which_yields_a_plain_value() -> None:
    body = "let r = m[1] else { if byte0.first == 0 { rows[1] } else { 99 } }; found = r as u16;"
    assert with_rows(body, [0]).state["found"] == 20
    assert with_rows(body, [1]).state["found"] == 99
    body = "let r = m[1] else { if byte0.first == 1 { 99 } else { rows[1] } }; found = r as u16;"
    assert with_rows(body, [0]).state["found"] == 20
    assert with_rows(body, [1]).state["found"] == 99


def test_L7_7_an_assignment_reads_the_row_too() -> None:
    items = ROWS + REFS.replace("found: u16", "found: u8")
    spec = bare('require byte0 else drop "x"; found = m[1] else 99; m[1] = rows[1]; drop "done";', items)
    assert run(spec, packets(0), {"rows": (10, 20)}).state["found"] == 99
    assert run(spec, packets(0, 0), {"rows": (10, 20)}).state["found"] == 20


def test_L7_7_a_reference_to_a_row_that_has_gone_reads_as_absent() -> None:
    body = "if byte0.first == 0 { m[1] = rows[1]; } let r = m[1] else 99; found = r as u16;"
    assert with_rows(body, [0, 1], [(1, {"rows": (10,)})]).state["found"] == 99
    assert with_rows(body, [0, 1], [(1, {"rows": (20, 30)})]).state["found"] == 20


def test_L7_7_a_row_of_a_config_map_can_be_referred_to() -> None:
    items = (
        "config rows: map<u8, u8>; state { m: map<u8, ref rows> { capacity 4; forever; when full drop; } found: u16; }"
    )
    body = (
        'let row = rows[5] else drop "x"; if byte0.first == 0 { m[1] = row; } let r = m[1] else 99; found = r as u16;'
    )
    spec = bare(f'require byte0 else drop "x"; {body} drop "x";', items)
    changes = [(1, {"rows": {5: 8}})]  # the key stays, so the row does; its value is new
    assert run(spec, packets((0, 0), (1, 1)), {"rows": {5: 7}}, changes).state["found"] == 8


def test_L7_7_a_value_from_a_pool_is_owned_by_its_entry() -> None:
    state = (
        "free: pool<u8> { from 1..2; } m: map<u8, u8 from free> { capacity 4; forever; when full drop; } found: u16;"
    )
    body = """if byte0.first < 9 { let v = free.take() else drop "none"; m[byte0.first] = v; found = v as u16; }
      else { remove m[1]; }"""
    outcome = after(body, state, 1, 2)
    assert outcome.state["found"] == 2
    assert after(body, state, 1, 2, 3).dropped == {"done": 2, "none": 1}
    assert after(body, state, 1, 2, 9, 3).state["found"] == 1  # 1 went back with its entry


# ---------------------------------------------------------------- L7.10: pools


def test_L7_10_a_pool_has_a_list_or_a_range_for_each_member() -> None:
    items = "config hosts: list<u8>; state { free: pool<(u8, u8)> { from hosts, 3..4; } got: array<u16>[8]; n: u16; }"
    body = 'let v = free.take() else drop "none"; got[n as u64] = (v.0 ++ v.1); n += 1; kept[n as u8] = v; drop "done";'
    items = items.replace(
        "n: u16;", "n: u16; kept: map<u8, (u8, u8) from free> { capacity 8; forever; when full drop; }"
    )
    spec = bare(f'require byte0 else drop "x";\n{body}', items)
    outcome = run(spec, packets(*[0] * 5), {"hosts": (1, 2)})
    assert outcome.state["got"][:5] == [0x0103, 0x0104, 0x0203, 0x0204, 0]  # both ends of the range are included
    assert outcome.dropped == {"done": 4, "none": 1}


def test_L7_10_what_is_stored_nowhere_is_free_again() -> None:
    outcome = after(
        'let v = free.take() else drop "none"; n = free.len;', "free: pool<u8> { from 1..1; } n: u16;", 0, 0
    )
    assert outcome.dropped == {"done": 2}
    assert outcome.state["n"] == 0  # while the handler runs it is out


def test_L7_10_len_counts_what_is_free_in_this_packets_partition() -> None:
    state = """free: pool<u8> { from 1..3; per byte0.first; } n: u16;
      m: map<u8, u8 from free> { capacity 9; forever; when full drop; }"""
    body = 'let v = free.take() else drop "x"; m[m.len as u8] = v; n = free.len;'
    assert after(body, state, 7, 7).state["n"] == 1
    assert after(body, state, 7, 7, 8).state["n"] == 2


def test_L7_10_per_needs_its_headers_where_the_pool_is_used() -> None:
    items = "state { free: pool<u8> { from 1..3; per (ipv4.protocol, ipv4.dscp); } n: u64; }"
    assert errors(nf('let v = free.take() else drop "x"; send b;', items)) == ["E0404"]
    assert errors(nf("n = free.len; send b;", items)) == ["E0404"]
    assert errors(nf('require ipv4; let v = free.take() else drop "x"; send b;', items)) == []
    assert errors(nf("send b;", items + "every 1s { n = free.len; }")) == ["E0316"]


def test_L7_10_len_can_be_read_without_a_packet() -> None:
    spec = bare("send b;", "state { free: pool<u8> { from 1..3; } n: u64; } every 1ns { n = free.len; }")
    assert run(spec, packets((0, 0), (1, 0))).state["n"] == 3


def test_L7_10_take_needs_else() -> None:
    assert wrong("let v = free.take();", "free: pool<u8> { from 1..1; }") == ["E0501"]


def test_L7_10_as_many_sources_as_members() -> None:
    assert wrong("", "free: pool<(u8, u8)> { from 1..1; }") == ["E0519"]
    assert wrong("", "free: pool<u8> { from nowhere; }") == ["E0520"]
