"""LANGUAGE.md L9.1 to L9.5: handlers, verdicts, actions. L9.6, L9.8: test_loops_and_uses.py; L9.7: test_emit.py."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, bare, errors, nf, run
from rules.packets import ethernet, ipv4, udp

PACKET = b"\x07rest"


def sent(body: str, items: str = "", ports: str = "a, b, c, d", port: str = "a", declarations: str = "") -> Outcome:
    """One packet, which arrives at port `a`, through the handler of all ports."""
    return run(bare(body, items, declarations, ports), [(5, port, PACKET)])


def wrong(body: str, items: str = "", declarations: str = "") -> list[str]:
    return errors(bare(body, items, declarations))


def handlers(text: str, ports: str = "a, b, c") -> str:
    """A spec with these items and no handler of its own."""
    declared = "header byte0 { first: u8; }\nparser bare { state start { extract byte0; } }\n"
    return f"{declared}nf tiny {{ port {ports};\n{text}\n}}\n"


# ---------------------------------------------------------------- L9.1


def test_L9_1_each_port_has_its_handler_and_one_handler_has_the_rest() -> None:
    spec = handlers('on packet from a { drop "a"; } on packet { drop "rest"; }')
    outcome = run(spec, [(0, port, PACKET) for port in "abcc"])
    assert outcome.dropped == {"a": 1, "rest": 3}


def test_L9_1_one_handler_may_have_several_ports() -> None:
    spec = handlers('on packet from a, c { drop "a or c"; } on packet from b { drop "b"; }')
    assert run(spec, [(0, port, PACKET) for port in "abc"]).dropped == {"a or c": 2, "b": 1}


def test_L9_1_a_packet_from_a_port_without_handler_is_dropped() -> None:
    spec = handlers("on packet from a { send b; } state { n: u64; }")
    outcome = run(spec, [(0, "b", PACKET), (0, "a", PACKET), (0, "c", PACKET)])
    assert (outcome.dropped, outcome.ports) == ({"no handler": 2}, ["b"])


def test_L9_1_a_port_has_one_handler() -> None:
    assert errors(handlers("on packet from a { send b; } on packet from a, b { send c; }")) == ["E0608"]
    assert errors(handlers("on packet { send b; } on packet { send c; }")) == ["E0608"]
    assert errors(handlers("on packet from z { send b; }")) != []
    assert errors(handlers("")) == ["E0607"]


# ---------------------------------------------------------------- L9.2


def test_L9_2_send_to_a_port() -> None:
    outcome = sent("send c;")
    assert outcome.left == [("c", 5, PACKET, 0)]


def test_L9_2_send_to_a_set_is_one_copy_each_in_the_order_of_declaration() -> None:
    assert sent("send {d, b, c};").left == [(port, 5, PACKET, 0) for port in "bcd"]


def test_L9_2_copies_are_identical() -> None:
    outcome = sent("require byte0; byte0.first = 9; send {a, b};")
    assert outcome.bytes == [b"\x09rest"] * 2


def test_L9_2_an_empty_set_is_a_drop() -> None:
    outcome = sent("send ports - {a, b, c, d};")
    assert (outcome.left, outcome.dropped) == ([], {"empty port set": 1})


def test_L9_2_bounce_sends_back() -> None:
    assert sent("bounce;", port="c").ports == ["c"]


def test_L9_2_drop_has_a_reason() -> None:
    assert sent('drop "because";').dropped == {"because": 1}
    assert wrong("drop;") == ["E0109"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "if byte0 { send a; }",
        "let x: u8 = 1;",
        "for i in 0..3 { send a; }",
        'if byte0 { drop "x"; } else if byte0 { send a; }',
    ],
)
def test_L9_2_every_path_ends_in_a_verdict(body: str) -> None:
    assert wrong(body) == ["E0609"]


@pytest.mark.parametrize(
    "body",
    [
        'if byte0 { send a; } else { drop "x"; }',
        'if byte0 { send a; } drop "x";',
        'if byte0 { if in_port == a { send a; } else { bounce; } } else { drop "x"; }',
    ],
)
def test_L9_2_in_branches_too(body: str) -> None:
    assert wrong(body) == []


@pytest.mark.parametrize(
    "body", ["send a; send b;", "send a; let x: u8 = 1;", 'if byte0 { send a; } else { bounce; } drop "x";']
)
def test_L9_2_nothing_follows_a_verdict(body: str) -> None:
    assert wrong(body) == ["E0601"]


def test_L9_2_a_port_may_be_a_value() -> None:
    assert sent("let to = if len == 5B { d } else { b }; send to;").ports == ["d"]


# ---------------------------------------------------------------- L9.3


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ports", "abcd"),
        ("ports - in_port", "bcd"),
        ("ports - {a, c}", "bd"),
        ("{a, b} - {b, c}", "a"),
        ("{a, b} + {b, c}", "abc"),
        ("ports - in_port - d", "bc"),
        ("{in_port, d}", "ad"),
    ],
)
def test_L9_3_sets_of_ports(expression: str, expected: str) -> None:
    assert "".join(sent(f"send {expression};").ports) == expected


def test_L9_3_membership() -> None:
    assert sent("if in_port in {a, c} { send b; } send d;").ports == ["b"]
    assert sent("if in_port in ports - in_port { send b; } send d;").ports == ["d"]


# ---------------------------------------------------------------- L9.4


def test_L9_4_require_ends_the_handler_unless_its_condition_holds() -> None:
    assert sent('require len == 5B else drop "long"; send b;').ports == ["b"]
    assert sent('require len == 6B else drop "long"; send b;').dropped == {"long": 1}
    assert sent("require len == 6B else send c; send b;").ports == ["c"]
    assert sent("require len == 6B else bounce; send b;").ports == ["a"]


def test_L9_4_the_default_is_a_drop() -> None:
    assert sent("require len == 6B; send b;").dropped == {"requirement not met": 1}


def test_L9_4_else_may_be_a_block_that_ends() -> None:
    items = "state { n: u64; }"
    outcome = sent("require len == 6B else { n = 7; send c; }; send b;", items)
    assert (outcome.ports, outcome.state["n"]) == (["c"], 7)
    assert wrong("require len == 6B else { n = 7; }; send b;", items) == ["E0329"]


def test_L9_4_what_was_required_is_known_behind_it() -> None:
    assert wrong("require byte0; byte0.first = 1; send b;") == []
    assert wrong("if byte0 { } byte0.first = 1; send b;") == ["E0404"]


# ---------------------------------------------------------------- L9.5


def test_L9_5_an_action_is_done_where_it_is_called() -> None:
    items = "state { n: u64; } action count(by: u64) { n += by; }"
    assert sent("count(2); count(n); send b;", items).state["n"] == 4


def test_L9_5_an_action_may_end_in_a_verdict() -> None:
    items = 'action short(most: bytes) { require len <= most else drop "too long"; } action out() { send c; }'
    assert sent("short(4B); send b;", items).dropped == {"too long": 1}
    assert sent("short(5B); out();", items).ports == ["c"]
    assert wrong("out(); send b;", "action out() { send a; }") == ["E0601"]


def test_L9_5_its_parameters_are_values_of_the_caller() -> None:
    items = "state { n: u64; } action twice(x: u64) { let y = x * 2; n = y; }"
    outcome = sent("let y: u64 = 1; let x: u64 = 5; twice(x + 1); n += y; send b;", items)
    assert outcome.state["n"] == 13


def test_L9_5_no_recursion() -> None:
    assert "E0324" in wrong("one(); send b;", "action one() { two(); } action two() { one(); }")


def test_L9_5_a_blocks_actions_see_the_blocks_own_state() -> None:
    block = "block counter { param step: u64 = 3; state { n: u64; } action count() { n += step; } }"
    items = "use counter as x; use counter as y { step: 10 }; state { n: u64; }"
    spec = f"use counter;\n{bare('x.count(); x.count(); y.count(); n = x.n; send b;', items)}"
    state = run(spec, [(0, "a", PACKET)], files={"counter.nf": block}).state
    assert (state["x.n"], state["y.n"], state["n"]) == (6, 10, 6)


# ---------------------------------------------------------------- all of it


def test_L9_2_the_handler_sees_headers_and_the_copies_leave_with_edits() -> None:
    spec = nf("require ipv4; ipv4.ttl -= 1; send ports - in_port;", ports="a, b, c")
    outcome = run(spec, [(9, "b", ethernet(ipv4(udp(b"abc"))))])
    expected = ethernet(ipv4(udp(b"abc"), ttl=63))
    assert outcome.left == [("a", 9, expected, 0), ("c", 9, expected, 0)]
