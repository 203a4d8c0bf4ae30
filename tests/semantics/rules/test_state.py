"""LANGUAGE.md section 7: state in handlers. The kinds themselves: tests/semantics/state."""

from __future__ import annotations

import pytest

from polysome.kinds.values import Row
from rules.harness import Outcome, bare, errors, nf, run
from rules.packets import ethernet, ipv4, number, tcp, udp

MAP = "m: map<u8, u16> { capacity 4; idle 10ns; when full drop; }"
PAIR = "struct Pair { x: u8, y: u8 }"


def packets(*firsts: int | tuple[int, int]) -> list[tuple[int, str, bytes]]:
    """One packet of one byte after the other, (time, byte); without a time at 0."""
    found = [f if isinstance(f, tuple) else (0, f) for f in firsts]
    return [(time, "a", bytes([first])) for time, first in found]


def after(body: str, state: str, *firsts: int | tuple[int, int], items: str = "", declarations: str = "") -> Outcome:
    """The run of a handler that reads its packet's one byte as `byte0.first`."""
    spec = bare(f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}", declarations)
    return run(spec, packets(*firsts))


def wrong(body: str, state: str, items: str = "", declarations: str = "") -> list[str]:
    return errors(bare(f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}", declarations))


# ---------------------------------------------------------------- L7.1


def test_L7_1_state_begins_empty_and_zero() -> None:
    state = f"{MAP} s: set<u8> {{ capacity 4; forever; when full drop; }} n: u32; p: Pair; f: bool; t: array<u16>[3];"
    found = after("", state, declarations=PAIR).state
    assert (found["m"], found["s"], found["n"], found["p"], found["f"], found["t"]) == ([], [], 0, (0, 0), False, [0, 0, 0])


def test_L7_1_scalars_and_array_elements_begin_at_their_initial_value() -> None:
    state = "n: u32 = 7; p: Pair = Pair { x: 1, y: 2 }; t: array<u16>[2] = 9;"
    found = after("", state, declarations=PAIR).state
    assert (found["n"], found["p"], found["t"]) == (7, (1, 2), [9, 9])


def test_L7_1_an_initial_value_must_fit() -> None:
    assert wrong("", "n: u8 = 256;") == ["E0305"]


def test_L7_1_operations_are_those_of_the_kind() -> None:
    assert wrong("m.clear();", MAP) == ["E0503"]
    assert wrong("let x = h.estimate(1);", "h: hyperloglog<u8> { error 10%; }") != []
    assert wrong("let v = s[1] else 0;", "s: set<u8> { capacity 4; forever; when full drop; }") != []


# ---------------------------------------------------------------- L7.2

FOUND = "found: u16;"


def test_L7_2_a_lookup_binds_what_is_there_or_does_what_else_says() -> None:
    body = "let v = m[1] else { 77 }; found = v; m[1] = 5;"
    assert after(body, MAP + FOUND, 0).state["found"] == 77
    assert after(body, MAP + FOUND, 0, 0).state["found"] == 5


def test_L7_2_else_may_end_the_handler() -> None:
    outcome = after('let v = m[1] else drop "absent"; found = v;', MAP + FOUND, 0)
    assert outcome.dropped == {"absent": 1}


def test_L7_2_if_let_runs_one_of_two_blocks() -> None:
    body = "if let v = m[1] { found = v; } else { found = 1; m[1] = 5; }"
    assert after(body, MAP + FOUND, 0).state["found"] == 1
    assert after(body, MAP + FOUND, 0, 0).state["found"] == 5


# Packets at 0, 8 and 12 ns; the entry is made at 0 and is idle after 10.
@pytest.mark.parametrize(
    ("look", "survives"),
    [
        ("let v = m[1] else 0; found = v;", True),
        ("if let v = m[1] { found = v; }", True),
        ("let v = m.peek(1) else 0; found = v;", False),
        ("if let v = m.peek(1) { found = v; }", False),
        ("if 1 in m { found = 1; }", False),
        ("found = m.len;", False),
        ("for k, v in m { found = v; }", False),
    ],
)
def test_L7_2_only_lookups_refresh_idle(look: str, survives: bool) -> None:
    body = f"if byte0.first == 0 {{ m[1] = 5; }} else if byte0.first == 1 {{ {look} }}"
    outcome = after(body, MAP + FOUND, (0, 0), (8, 1), (12, 2))
    assert (outcome.state["m"] == [(1, 5)]) is survives
    assert outcome.state["found"] in (1, 5)


def test_L7_2_a_lookup_through_an_index_refreshes_and_peek_does_not() -> None:
    state = MAP + "index i: m by value;" + FOUND
    for look, survives in (("i[5]", True), ("i.peek(5)", False)):
        body = f"if byte0.first == 0 {{ m[1] = 5; }} else if byte0.first == 1 {{ if let e = {look} {{ found = e.value; }} }}"
        outcome = after(body, state, (0, 0), (8, 1), (12, 2))
        assert outcome.state["found"] == 5
        assert (outcome.state["m"] == [(1, 5)]) is survives


def test_L7_2_what_is_bound_is_a_copy() -> None:
    body = "m[1] = Pair { x: 1, y: 2 }; let v = m[1] else drop \"x\"; m[1].x = 9; found = v.x as u16;"
    state = "m: map<u8, Pair> { capacity 4; forever; when full drop; }" + FOUND
    outcome = after(body, state, 0, declarations=PAIR)
    assert (outcome.state["found"], outcome.state["m"]) == (1, [(1, (9, 2))])


def test_L7_2_a_copy_cannot_be_written() -> None:
    state = "m: map<u8, Pair> { capacity 4; forever; when full drop; }"
    assert wrong("let v = m[1] else drop \"x\"; v.x = 9;", state, declarations=PAIR) == ["E0605"]


def test_L7_2_len_counts_entries() -> None:
    assert after("m[1] = 5; m[2] = 5; m[1] = 6; found = m.len;", MAP + FOUND, 0).state["found"] == 2


# ---------------------------------------------------------------- L7.3

PAIRS = "m: map<u8, Pair> { capacity 2; idle 10ns; when full drop; }"


def test_L7_3_a_write_inserts_or_overwrites() -> None:
    assert after("m[byte0.first] = 5; m[1] = 6; m[1] += 1;", MAP, 2).state["m"] == [(2, 5), (1, 7)]


def test_L7_3_a_write_into_part_of_an_absent_entry_inserts_it() -> None:
    assert after("m[1].y = 7;", PAIRS, 0, declarations=PAIR).state["m"] == [(1, (0, 7))]
    assert after("m[3] += 4;", MAP, 0).state["m"] == [(3, 4)]


def test_L7_3_a_write_into_part_leaves_the_rest() -> None:
    body = "if byte0.first == 0 { m[1] = Pair { x: 1, y: 2 }; } else { m[1].y += 5; }"
    assert after(body, PAIRS, 0, 1, 1, declarations=PAIR).state["m"] == [(1, (1, 12))]


def test_L7_3_a_write_into_part_is_a_write() -> None:
    body = "if byte0.first == 0 { m[1].x = 1; } else if byte0.first == 1 { m[1].y = 2; }"
    assert after(body, PAIRS, (0, 0), (8, 1), (12, 2), declarations=PAIR).state["m"] == [(1, (1, 2))]
    assert after(body, PAIRS, (0, 0), (8, 2), (12, 2), declarations=PAIR).state["m"] == []


def test_L7_3_a_full_map_stops_writes_into_parts_too() -> None:
    outcome = after("m[byte0.first].x = 1;", PAIRS, 1, 2, 3, declarations=PAIR)
    (reason,) = set(outcome.dropped) - {"done"}
    assert reason.startswith("m full (spec.nf:")
    assert outcome.dropped["done"] == 2


def test_L7_3_a_value_that_refers_to_a_row_has_no_initial_value() -> None:
    state = "m: map<u8, Use> { capacity 2; forever; when full drop; }"
    declarations = "struct Use { of: ref rows, n: u8 }"
    spec = bare("require byte0 else drop \"x\"; m[1].n = 7; send b;", f"config rows: list<u8>; state {{ {state} }} {declarations}")
    (reason,) = run(spec, packets(0)).dropped
    assert reason.startswith("absent entry of m (spec.nf:")


def test_L7_3_nor_has_one_that_owns_something() -> None:
    state = "free: pool<u8> { from 1..3; } m: map<u8, (u8 from free, u8)> { capacity 2; forever; when full drop; }"
    (reason,) = after("m[1].1 = 7;", state, 0).dropped
    assert reason.startswith("absent entry of m (spec.nf:")


def test_L7_3_add_puts_a_key_into_a_set_and_remove_takes_it_out() -> None:
    state = "s: set<u8> { capacity 2; forever; when full drop; }" + MAP
    body = "s.add(byte0.first); s.add(1); if byte0.first == 3 { remove s[1]; remove s[9]; remove m[1]; }"
    assert after(body, state, 1, 1).state["s"] == [1] or after(body, state, 1, 1).state["s"] == [(1, None)]
    outcome = after(body, state, 1, 3)
    assert [k[0] if isinstance(k, tuple) else k for k in outcome.state["s"]] == [3]


def test_L7_3_a_full_set_traps() -> None:
    outcome = after("s.add(byte0.first);", "s: set<u8> { capacity 2; forever; when full drop; }", 1, 2, 2, 3)
    assert outcome.dropped["done"] == 3
    assert any(reason.startswith("s full (") for reason in outcome.dropped)


def test_L7_3_what_was_written_before_a_trap_stays() -> None:
    body = "found += 1; m[byte0.first].x = 1; found += 10;"
    outcome = after(body, PAIRS + FOUND, 1, 2, 3, declarations=PAIR)
    assert outcome.state["found"] == 11 + 11 + 1


# ---------------------------------------------------------------- L7.4


@pytest.mark.parametrize("arm", ["7", "{ 7 }", "{ let x: u16 = 3; x + 4 }", "{ if byte0.first == 0 { 7 } else { 8 } }"])
def test_L7_4_else_yields_a_value(arm: str) -> None:
    assert after(f"let v = m[1] else {arm}; found = v;", MAP + FOUND, 0).state["found"] == 7
    assert after(f"found = m[1] else {arm};", MAP + FOUND, 0).state["found"] == 7


@pytest.mark.parametrize("arm", ['drop "gone"', '{ found = 1; drop "gone"; }', '{ if byte0.first == 0 { drop "gone"; } 7 }'])
def test_L7_4_else_ends_the_handler(arm: str) -> None:
    assert after(f"let v = m[1] else {arm}; found = v;", MAP + FOUND, 0).dropped == {"gone": 1}


@pytest.mark.parametrize("body", ["found = (m[1] else 7) + 1;", "if m[1] else true {}", "m[m[1] else 2] = 3;"])
def test_L7_4_else_stands_nowhere_else(body: str) -> None:
    assert wrong(body, MAP + FOUND) != []


@pytest.mark.parametrize("body", ["found = m[1];", "found = m[1] + 1;", "let v = m[1];", "let v = m.peek(1);"])
def test_L7_4_a_lookup_without_else_is_an_error(body: str) -> None:
    assert wrong(body, MAP + FOUND) == ["E0501"]


def test_L7_4_else_after_what_is_no_lookup_is_an_error() -> None:
    assert wrong("let v = found else 3;", FOUND) == ["E0507"]


def test_L7_4_a_block_must_end_in_a_value_or_end_the_handler() -> None:
    assert wrong("let v = m[1] else { found = 1; };", MAP + FOUND) == ["E0326"]


# ---------------------------------------------------------------- L7.9


def test_L7_9_per_core_state_has_one_copy_in_the_interpreter() -> None:
    assert after("n += 1; m[1] += 1;", "n: u32 per core; " + MAP.replace(" {", " per core {", 1), 0, 0, 0).state["n"] == 3


# ---------------------------------------------------------------- L7.7: references

ROWS = "config rows: list<u8>;\n"
REFS = "state { m: map<u8, ref rows> { capacity 4; forever; when full drop; } found: u16; }"


def with_rows(body: str, firsts: list[int], changes: list[tuple[int, dict[str, object]]] | None = None) -> Outcome:
    spec = bare(f'require byte0 else drop "x";\n{body}\ndrop "done";', ROWS + REFS)
    return run(spec, packets(*((i, f) for i, f in enumerate(firsts))), {"rows": (10, 20)}, changes or [])


def test_L7_7_a_reference_is_read_where_the_value_is_wanted() -> None:
    body = "m[1] = rows[1]; let r = m[1] else drop \"x\"; found = r as u16 + 1;"
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
    items = "config rows: list<u8>; config to: list<port>; state { k: map<u8, u8> { capacity 4; forever; when full drop; } n: u8; }"
    body = "require byte0; k[rows[0]] = rows[1]; n += rows[1]; n = n + rows[0]; byte0.first = rows[1]; send to[0];"
    outcome = run(bare(body, items), packets(0), {"rows": (10, 20), "to": (1,)})
    assert (outcome.state["k"], outcome.state["n"], outcome.bytes, outcome.ports) == ([(10, 20)], 30, [b"\x14"], ["b"])


def test_L7_7_if_else_yields_a_plain_value_so_does_the_lookup() -> None:
    body = "let r = m[1] else 99; found = r as u16; m[1] = rows[0];"
    assert with_rows(body, [0]).state["found"] == 99
    assert with_rows(body, [0, 0]).state["found"] == 10
    assert errors(bare("require byte0 else drop \"x\"; let r = m[1] else 99; m[2] = r; drop \"x\";", ROWS + REFS)) != []


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
    items = "config rows: map<u8, u8>; state { m: map<u8, ref rows> { capacity 4; forever; when full drop; } found: u16; }"
    body = "let row = rows[5] else drop \"x\"; if byte0.first == 0 { m[1] = row; } let r = m[1] else 99; found = r as u16;"
    spec = bare(f"require byte0 else drop \"x\"; {body} drop \"x\";", items)
    changes = [(1, {"rows": {5: 8}})]  # the key stays, so the row does; its value is new
    assert run(spec, packets((0, 0), (1, 1)), {"rows": {5: 7}}, changes).state["found"] == 8


def test_L7_7_a_value_from_a_pool_is_owned_by_its_entry() -> None:
    state = "free: pool<u8> { from 1..2; } m: map<u8, u8 from free> { capacity 4; forever; when full drop; } found: u16;"
    body = """if byte0.first < 9 { let v = free.take() else drop "none"; m[byte0.first] = v; found = v as u16; }
      else { remove m[1]; }"""
    outcome = after(body, state, 1, 2)
    assert outcome.state["found"] == 2
    assert after(body, state, 1, 2, 3).dropped == {"done": 2, "none": 1}
    assert after(body, state, 1, 2, 9, 3).state["found"] == 1  # 1 went back with its entry


# ---------------------------------------------------------------- L7.10: pools


def test_L7_10_a_pool_has_a_list_or_a_range_for_each_member() -> None:
    items = "config hosts: list<u8>; state { free: pool<(u8, u8)> { from hosts, 3..4; } got: array<u16>[8]; n: u16; }"
    body = "let v = free.take() else drop \"none\"; got[n as u64] = (v.0 ++ v.1); n += 1; kept[n as u8] = v; drop \"done\";"
    items = items.replace("n: u16;", "n: u16; kept: map<u8, (u8, u8) from free> { capacity 8; forever; when full drop; }")
    spec = bare(f"require byte0 else drop \"x\";\n{body}", items)
    outcome = run(spec, packets(*[0] * 5), {"hosts": (1, 2)})
    assert outcome.state["got"][:5] == [0x0103, 0x0104, 0x0203, 0x0204, 0]  # both ends of the range are included
    assert outcome.dropped == {"done": 4, "none": 1}


def test_L7_10_what_is_stored_nowhere_is_free_again() -> None:
    outcome = after("let v = free.take() else drop \"none\"; n = free.len;", "free: pool<u8> { from 1..1; } n: u16;", 0, 0)
    assert outcome.dropped == {"done": 2}
    assert outcome.state["n"] == 0  # while the handler runs it is out


def test_L7_10_len_counts_what_is_free_in_this_packets_partition() -> None:
    state = """free: pool<u8> { from 1..3; per byte0.first; } n: u16;
      m: map<u8, u8 from free> { capacity 9; forever; when full drop; }"""
    body = "let v = free.take() else drop \"x\"; m[m.len as u8] = v; n = free.len;"
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


# ---------------------------------------------------------------- state by the packet's flow


def test_L7_2_keys_may_be_structs() -> None:
    items = "state { m: map<Flow, u16> { capacity 4; forever; when full drop; } }"
    first, second = ethernet(ipv4(tcp(b""))), ethernet(ipv4(udp(b"")))
    found = run(nf("m[flow] += 1; send b;", items), [(0, "a", p) for p in (first, second, first)]).state["m"]
    mapped = 0xFFFF << 32
    ends = (mapped | number("10.0.0.1"), mapped | number("10.0.0.2"))
    assert found == [((*ends, 1000, 80, 6), 2), ((*ends, 1000, 53, 17), 1)]
