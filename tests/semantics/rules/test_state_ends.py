"""LANGUAGE.md L7.5, L7.6 and L7.8: ends of entries, indexes, token buckets."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, bare, errors, run

LOG = "log: array<u32>[8]; n: u64;"
MAP = "m: map<u8, u16> { capacity 2; idle 10ns; when full evict oldest; }"


def after(body: str, state: str, *firsts: tuple[int, int], items: str = "", **more: object) -> Outcome:
    spec = bare(f'require byte0 else drop "no byte";\n{body}\ndrop "done";', f"state {{ {state} }}\n{items}")
    return run(spec, [(time, "a", bytes([first])) for time, first in firsts], **more)  # type: ignore[arg-type]


def wrong(body: str, state: str, items: str = "") -> list[str]:
    return errors(bare(f'require byte0 else drop "x";\n{body}\ndrop "x";', f"state {{ {state} }}\n{items}"))


# ---------------------------------------------------------------- L7.5: on end

# What ended: key, value and why in one number, 1 idle, 2 age, 3 evicted, 4 removed.
ON_END = """on end m(key, value, why) {
  let reason: u8 = if why == End.idle { 1 } else if why == End.age { 2 } else if why == End.evicted { 3 }
    else if why == End.removed { 4 } else { 5 };
  log[n] = key ++ (value[7:0]) ++ reason ++ (now as u64)[7:0];
  n += 1;
}"""


def entry(key: int, value: int, reason: int, now: int) -> int:
    return key << 24 | value << 16 | reason << 8 | now


def logged(outcome: Outcome) -> list[int]:
    return list(outcome.state["log"][: outcome.state["n"]])


def test_L7_5_it_runs_when_an_entry_is_idle_with_its_due_time_as_now() -> None:
    outcome = after("m[byte0.first] = 7;", MAP + LOG, (0, 1), (5, 2), (100, 3), items=ON_END)
    assert logged(outcome) == [entry(1, 7, 1, 10), entry(2, 7, 1, 15)]


def test_L7_5_it_says_that_the_age_is_over() -> None:
    state = "m: map<u8, u16> { capacity 2; idle 10ns; age 12ns; when full evict oldest; }"
    body = "if byte0.first == 0 { m[1] = 7; } else { if let v = m[1] {} }"
    assert logged(after(body, state + LOG, (0, 0), (8, 1), (12, 1), items=ON_END)) == [entry(1, 7, 2, 12)]


def test_L7_5_it_says_that_the_entry_was_evicted() -> None:
    outcome = after("m[byte0.first] = byte0.first as u16;", MAP + LOG, (0, 1), (1, 2), (2, 3), items=ON_END)
    assert logged(outcome) == [entry(1, 1, 3, 2)]
    assert outcome.state["m"] == [(2, 2), (3, 3)]


def test_L7_5_it_says_that_the_entry_was_removed_and_runs_at_once() -> None:
    body = "m[1] = 7; remove m[1]; log[n] = 99; n += 1;"
    assert logged(after(body, MAP + LOG, (3, 1), items=ON_END)) == [entry(1, 7, 4, 3), 99]


def test_L7_5_an_overwrite_or_a_missing_key_ends_nothing() -> None:
    assert logged(after("m[1] = 7; m[1] = 8; remove m[2];", MAP + LOG, (0, 1), items=ON_END)) == []


def test_L7_5_the_entry_has_left_before_it_runs() -> None:
    items = "on end m(key, value, why) { if key in m { n = 1; } else { n = 2; } }"
    assert after("m[1] = 7; remove m[1];", MAP + LOG, (0, 1), items=items).state["n"] == 2


def test_L7_5_it_may_write_its_own_map() -> None:
    items = "on end m(key, value, why) { if value < 9 { m[key] = value + 1; } }"
    assert after("m[1] = 7; remove m[1];", MAP + LOG, (0, 1), items=items).state["m"] == [(1, 8)]


def test_L7_5_ends_nest_eight_deep() -> None:
    # Each end writes the entry anew and removes it again: the eighth is the last.
    items = "on end m(key, value, why) { n += 1; m[key] = value; remove m[key]; }"
    assert after("m[1] = 7; remove m[1];", MAP + LOG, (0, 1), items=items).state["n"] == 8


def test_L7_5_a_trap_ends_it_and_nothing_else() -> None:
    items = "on end m(key, value, why) { n += 1; log[9] = 1; n += 10; }"
    outcome = after("m[1] = 7; remove m[1]; n += 100;", MAP + LOG, (0, 1), items=items)
    assert outcome.state["n"] == 101
    assert outcome.dropped == {"done": 1}


@pytest.mark.parametrize(
    "body", ['drop "x";', "send a;", "n = byte0.first as u64;", "n = len as u64;", "byte0.first = 1;"]
)
def test_L7_5_it_has_no_packet(body: str) -> None:
    assert wrong("", MAP + LOG, f"on end m(key, value, why) {{ {body} }}") != []


def test_L7_5_what_it_owned_is_plain_and_free_again() -> None:
    state = """free: pool<u8> { from 5..5; } n: u16; len_then: u16;
      m: map<u8, u8 from free> { capacity 2; forever; when full drop; }"""
    items = "on end m(key, value, why) { n = value as u16 + 1; len_then = free.len; }"
    body = 'let v = free.take() else drop "none"; m[1] = v; remove m[1];'
    outcome = after(body, state, (0, 1), items=items)
    assert (outcome.state["n"], outcome.state["len_then"]) == (6, 1)
    assert wrong(body, state, "on end m(key, value, why) { m[key] = value; }") != []


# ---------------------------------------------------------------- L7.6: indexes

INDEXED = "m: map<u8, u16> { capacity 4; idle 10ns; when full drop; } index i: m by (key[0:0], value); found: u32;"


def test_L7_6_an_index_gives_key_and_value() -> None:
    body = 'm[3] = 500; let e = i[(1, 500)] else drop "x"; found = e.key ++ e.value ++ 0 as u8;'
    assert after(body, INDEXED, (0, 1)).state["found"] == 3 << 24 | 500 << 8


def test_L7_6_it_finds_nothing_after_the_entry_has_changed() -> None:
    body = 'm[3] = 500; m[3] = 501; let e = i[(1, 500)] else drop "absent";'
    assert after(body, INDEXED, (0, 1)).dropped == {"absent": 1}


def test_L7_6_membership_does_not_refresh() -> None:
    body = "if byte0.first == 0 { m[3] = 500; } else if byte0.first == 1 { if (1, 500) in i { found = 1; } }"
    outcome = after(body, INDEXED, (0, 0), (8, 1), (10, 2))
    assert (outcome.state["found"], outcome.state["m"]) == (1, [])


def test_L7_6_an_index_is_unique() -> None:
    outcome = after("m[byte0.first] = 500;", INDEXED, (0, 1), (0, 2), (0, 3))
    (reason,) = set(outcome.dropped) - {"done"}
    assert reason.startswith("index i of m taken (spec.nf:")
    assert outcome.state["m"] == [(1, 500), (2, 500)]  # 3 has bit 0 like 1


def test_L7_6_keys_are_plain_values() -> None:
    state = """free: pool<u8> { from 5..6; } m: map<u8, u8 from free> { capacity 4; forever; when full drop; }
      index i: m by value; found: u16;"""
    body = 'let v = free.take() else drop "x"; m[byte0.first] = v; let e = i[5] else drop "x"; found = e.key as u16;'
    assert after(body, state, (0, 9)).state["found"] == 9


def test_L7_6_an_index_needs_a_map() -> None:
    assert wrong("", "index i: nothing by key;") == ["E0523"]
    assert wrong("", "s: set<u8> { capacity 1; forever; when full drop; } index i: s by key;") == ["E0523"]


# ---------------------------------------------------------------- L7.8: token buckets


@pytest.mark.parametrize(
    ("state", "place"),
    [
        ("k: token_bucket(8Kbps, 100B);", "k"),
        ("k: array<token_bucket(8Kbps, 100B)>[2];", "k[1]"),
        ("k: map<u8, token_bucket(8Kbps, 100B)> { capacity 4; forever; when full drop; }", "k[9]"),
        ("k: map<u8, (u8, token_bucket(8Kbps, 100B))> { capacity 4; forever; when full drop; }", "k[9].1"),
    ],
)
def test_L7_8_a_bucket_may_be_anywhere(state: str, place: str) -> None:
    # 8 Kbps is 1000 bytes a second, one every ms. It starts full: 60 of 100, then 40 are there, 41 after 1 ms.
    body = f"if {place}.take(60B) {{ n += 1; }}"
    ms = 10**6
    outcome = after(body, state + "n: u64;", (0, 0), (0, 0), (20 * ms - 1, 0), (20 * ms, 0), (20 * ms, 0))
    assert outcome.state["n"] == 2
    body = f"if byte0.first == 0 {{ if {place}.take(60B) {{ n += 1; }} }} else if {place}.take(41B) {{ n += 10; }}"
    outcome = after(body, state + "n: u64;", (0, 0), (ms - 1, 1), (ms, 1))
    assert outcome.state["n"] == 11


def test_L7_8_a_bucket_may_be_a_member_of_a_struct() -> None:
    items = "struct Meter { bucket: token_bucket(8Kbps, 100B), n: u8 }"
    state = "m: map<u8, Meter> { capacity 4; forever; when full drop; } n: u64;"
    body = "if m[1].bucket.take(60B) { n += 1; } m[1].n += 1;"
    spec = bare(f'require byte0 else drop "x";\n{body}\ndrop "x";', f"{items} state {{ {state} }}")
    outcome = run(spec, [(0, "a", b"\0")] * 3)
    ((_, (_, count)),) = outcome.state["m"]
    assert (outcome.state["n"], count) == (1, 3)


def test_L7_8_has_only_looks() -> None:
    body = "if k.has(100B) { n += 1; } if k.has(101B) { n += 10; }"
    assert after(body, "k: token_bucket(8Kbps, 100B); n: u64;", (0, 0), (0, 0)).state["n"] == 2


def test_L7_8_has_of_an_absent_entry_sees_a_full_bucket_and_inserts_nothing() -> None:
    state = "k: map<u8, token_bucket(8Kbps, 100B)> { capacity 4; forever; when full drop; } n: u64;"
    outcome = after("if k[1].has(100B) { n += 1; }", state, (0, 0))
    assert (outcome.state["n"], outcome.state["k"]) == (1, [])


def test_L7_8_rate_and_burst_may_be_given_at_each_use() -> None:
    # Full to 50 at first. After 10 ms at 16 Kbps (2 bytes each ms) 20 are there, not 21.
    body = "if k.take(byte0.first as bytes, rate: 16Kbps, burst: 50B) { n += 1; }"
    ms = 10**6
    outcome = after(body, "k: token_bucket; n: u64;", (0, 51), (0, 50), (10 * ms, 21), (10 * ms, 20))
    assert outcome.state["n"] == 2
    assert wrong("if k.take(1B) {}", "k: token_bucket;") == ["E0506"]
    assert wrong("if k.take(1B, rate: 1Kbps) {}", "k: token_bucket;") == ["E0506"]


def test_L7_8_a_packet_rate_counts_packets() -> None:
    # 2 packets of burst, one more every 10 ms.
    body = "if k.take(1) { n += 1; }"
    ms = 10**6
    times = [(0, 0), (0, 0), (0, 0), (10 * ms - 1, 0), (10 * ms, 0)]
    assert after(body, "k: token_bucket(100pps, 2); n: u64;", *times).state["n"] == 3
    assert wrong("if k.take(1B) {}", "k: token_bucket(100pps, 2);") != []
    assert wrong("if k.take(1) {}", "k: token_bucket(8Kbps, 100B);") != []


def test_L7_8_a_full_map_has_no_room_for_a_bucket() -> None:
    state = "k: map<u8, token_bucket(8Kbps, 100B)> { capacity 1; forever; when full drop; } n: u64;"
    outcome = after("if k[byte0.first].take(60B) { n += 1; }", state, (0, 1), (0, 2), (0, 1))
    (reason,) = set(outcome.dropped) - {"done"}
    assert reason.startswith("k full (spec.nf:")
    assert outcome.state["n"] == 1
