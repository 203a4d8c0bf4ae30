"""LANGUAGE.md section 7: state in handlers. The kinds themselves: tests/semantics/state."""

from __future__ import annotations

import pytest

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
    spec = bare(
        f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}", declarations
    )
    return run(spec, packets(*firsts))


def wrong(body: str, state: str, items: str = "", declarations: str = "") -> list[str]:
    return errors(
        bare(f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}", declarations)
    )


# ---------------------------------------------------------------- L7.1


def test_L7_1_state_begins_empty_and_zero() -> None:
    state = f"{MAP} s: set<u8> {{ capacity 4; forever; when full drop; }} n: u32; p: Pair; f: bool; t: array<u16>[3];"
    found = after("", state, declarations=PAIR).state
    assert (found["m"], found["s"], found["n"], found["p"], found["f"], found["t"]) == (
        [],
        [],
        0,
        (0, 0),
        False,
        [0, 0, 0],
    )


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
        use = f"if let e = {look} {{ found = e.value; }}"
        body = f"if byte0.first == 0 {{ m[1] = 5; }} else if byte0.first == 1 {{ {use} }}"
        outcome = after(body, state, (0, 0), (8, 1), (12, 2))
        assert outcome.state["found"] == 5
        assert (outcome.state["m"] == [(1, 5)]) is survives


def test_L7_2_what_is_bound_is_a_copy() -> None:
    body = 'm[1] = Pair { x: 1, y: 2 }; let v = m[1] else drop "x"; m[1].x = 9; found = v.x as u16;'
    state = "m: map<u8, Pair> { capacity 4; forever; when full drop; }" + FOUND
    outcome = after(body, state, 0, declarations=PAIR)
    assert (outcome.state["found"], outcome.state["m"]) == (1, [(1, (9, 2))])


def test_L7_2_a_copy_cannot_be_written() -> None:
    state = "m: map<u8, Pair> { capacity 4; forever; when full drop; }"
    assert wrong('let v = m[1] else drop "x"; v.x = 9;', state, declarations=PAIR) == ["E0605"]


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
    spec = bare(
        'require byte0 else drop "x"; m[1].n = 7; send b;', f"config rows: list<u8>; state {{ {state} }} {declarations}"
    )
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


@pytest.mark.parametrize(
    "arm", ['drop "gone"', '{ found = 1; drop "gone"; }', '{ if byte0.first == 0 { drop "gone"; } 7 }']
)
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
    assert (
        after("n += 1; m[1] += 1;", "n: u32 per core; " + MAP.replace(" {", " per core {", 1), 0, 0, 0).state["n"] == 3
    )


# ---------------------------------------------------------------- state by the packet's flow


def test_L7_2_keys_may_be_structs() -> None:
    items = "state { m: map<Flow, u16> { capacity 4; forever; when full drop; } }"
    first, second = ethernet(ipv4(tcp(b""))), ethernet(ipv4(udp(b"")))
    found = run(nf("m[flow] += 1; send b;", items), [(0, "a", p) for p in (first, second, first)]).state["m"]
    mapped = 0xFFFF << 32
    ends = (mapped | number("10.0.0.1"), mapped | number("10.0.0.2"))
    assert found == [((*ends, 1000, 80, 6), 2), ((*ends, 1000, 53, 17), 1)]
