"""LANGUAGE.md L9.6 and L9.8: loops, and what may be used where."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, bare, errors, run

PACKET = b"\x07rest"


def sent(body: str, items: str = "") -> Outcome:
    """One packet, which arrives at port `a`, through the handler of all ports."""
    return run(bare(body, items), [(5, "a", PACKET)])


def wrong(body: str, items: str = "") -> list[str]:
    return errors(bare(body, items))


# ---------------------------------------------------------------- L9.6


def test_L9_6_a_loop_over_a_range_excludes_its_end() -> None:
    items = "const N: u64 = 3; state { n: u64; times: u64; }"
    state = sent("for i in 1..N + 2 { n += i; times += 1; } for i in 4..4 { times = 99; } send b;", items).state
    assert (state["n"], state["times"]) == (1 + 2 + 3 + 4, 4)


def test_L9_6_bounds_are_constant() -> None:
    assert wrong("for i in 0..n { n += i; } send b;", "state { n: u64; }") != []


MAP = "state { m: map<u8, u64> { capacity 8; forever; when full drop; } n: u64; }"


def test_L9_6_a_loop_over_a_map_sees_it_as_it_was_when_it_began() -> None:
    body = "m[1] = 1; m[2] = 2; for k, v in m { remove m[k]; m[k + 10] = v; m[2] = 50; n = n * 100 + v; } send b;"
    outcome = sent(body, MAP)
    assert outcome.state["n"] == 102
    # 1 goes, 11 comes, 2 is 50; then 2 goes, 12 comes with the old value, and 2 is there once more.
    assert outcome.state["m"] == [(11, 1), (12, 2), (2, 50)]


def test_L9_6_in_insertion_order() -> None:
    assert (
        sent("m[3] = 3; m[1] = 1; m[2] = 2; m[3] = 4; for k, v in m { n = n * 10 + v; } send b;", MAP).state["n"] == 412
    )


def test_L9_6_a_loop_over_a_set_and_over_top_k() -> None:
    items = "state { s: set<u8> { capacity 8; forever; when full drop; } t: top_k<u8> { k 2; error 10%; } n: u64; }"
    assert sent("s.add(3); s.add(1); for k in s { n = n * 10 + k as u64; } send b;", items).state["n"] == 31
    body = "t.add(3); t.add(1, 5); t.add(2); for k, count in t { n = n * 100 + k as u64 * 10 + count; } send b;"
    assert sent(body, items).state["n"] == 1531


def test_L9_6_a_verdict_in_a_loop_ends_the_handler() -> None:
    assert sent('for i in 0..5 { if i == 3 { drop "three"; } } send b;').dropped == {"three": 1}


def test_L9_6_loops_have_as_many_names_as_there_are_parts() -> None:
    assert wrong("for k in m { } send b;", MAP) == ["E0603"]
    assert wrong("for k, v in 0..3 { } send b;", MAP) == ["E0603"]


# ---------------------------------------------------------------- L9.8

EVERYWHERE = """
  param p: u64 = 5;
  config q: u64 = 6;
  state { n: u64; m: map<u8, u8> { capacity 4; forever; when full drop; } }
  fn f(x: u64) -> u64 { x + p }
"""
USED = "n = p + q + f(1) + (now - now) as u64 + m.len;"  # 5 + 6 + 6 + 0 + 1


def test_L9_8_handlers_of_every_kind_may_use_params_config_now_state_and_functions() -> None:
    expected = 5 + 6 + 6 + 1
    items = EVERYWHERE + f"action use_all() {{ {USED} }}"
    for call in (USED, "use_all();"):
        assert sent(f"m[1] = 1; {call} send b;", items).state["n"] == expected
        timer = bare("m[1] = 1; send b;", items + f"every 1ns {{ {call} }}")
        assert run(timer, [(0, "a", PACKET), (1, "a", PACKET)]).state["n"] == expected
        end = bare("m[1] = 1; m[2] = 1; remove m[1]; send b;", items + f"on end m(k, v, why) {{ {call} }}")
        assert run(end, [(0, "a", PACKET)]).state["n"] == expected


@pytest.mark.parametrize("read", ["len as u64", "byte0.first as u64", "payload.len as u64"])
def test_L9_8_packets_only_in_packet_handlers(read: str) -> None:
    assert wrong("send b;", EVERYWHERE + f"every 1s {{ n = {read}; }}") != []
    assert wrong("send b;", EVERYWHERE + f"action a() {{ n = {read}; }} every 1s {{ a(); }}") != []
    assert wrong("send b;", EVERYWHERE + 'every 1s { drop "x"; }') == ["E0602"]
    assert wrong("send b;", EVERYWHERE + "every 1s { truncate 5B; }") != []


def test_L9_8_idle_and_age_use_key_value_params_and_config_scalars() -> None:
    items = """param p: duration = 5ns; config q: duration = 7ns;
      state {
        m: map<u8, u8> {
          capacity 8; idle if value == 1 { p } else if key == 2 { q } else { 20ns } max 1s; when full drop;
        }
        n: u64;
      }"""
    body = "if n == 0 { m[1] = 1; m[2] = 2; m[3] = 3; } n += 1; send b;"
    spec = bare(body, items)
    for end, expected in ((4, [1, 2, 3]), (5, [2, 3]), (7, [3]), (20, [])):
        outcome = run(spec, [(0, "a", PACKET), (end, "a", PACKET)])
        assert [k for k, _ in outcome.state["m"]] == expected


@pytest.mark.parametrize("use", ["now - now", "n as duration", "len as duration", "m.len as duration"])
def test_L9_8_idle_uses_nothing_else(use: str) -> None:
    items = f"state {{ n: u64; m: map<u8, u8> {{ capacity 8; idle {use} max 1s; when full drop; }} }}"
    assert wrong("send b;", items) != []


def test_L9_8_pure_functions_use_no_state_and_no_packet() -> None:
    for read in ("n", "len as u64", "byte0.first as u64", "q"):
        assert wrong("send b;", EVERYWHERE + f"fn g() -> u64 {{ {read} }}") != []
