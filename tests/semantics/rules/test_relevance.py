"""LANGUAGE.md section 6: the contract."""

from __future__ import annotations

import pytest

from rules.harness import diagnostics, errors, run, warnings
from rules.packets import ethernet, icmp, ipv4, ipv6, tcp, udp

# Small headers: what is checked here is the bookkeeping. `a` leads to `b` (1), to `c` (2) or to nothing.
OWN = """
header a { kind: u8; x: u8; y: u16; }
header b { size: u8; z: u8; w: u32; o: rest; size size; }
header c { v: u16; valid v != 0xffff; }
header d { t: u8; }
parser own {
  state start { extract a; select a.kind { 1 => b; 2 => c; } }
  state b { extract b; goto d; }
  state c { extract c; goto d; }
  state d { extract d; }
  group bc = b | c;
  value sum: u16 = (if a { a.y } else { 0 }) + (if c { c.v } else { 0 });
  value start: u16 = payload[0..2];
  value odd: u8 = if d { d.t } else { 0 };
  class odd: u8 = if a { a.x % 2 } else { 0 };
}
"""
READ = "state { n: u8; m: u16; k: u32; flag: bool; s: bytes; }"


def own(relevant: str, body: str, items: str = "") -> str:
    return f"{OWN}\nnf own {{ port p, q; {READ} {items}\n {relevant}\n on packet {{\n{body}\n send q; }} }}"


# ---------------------------------------------------------------- L6.1

LISTED = [
    ("relevant a.x;", "n = a.x;"),
    ("relevant a.{x, y};", "n = a.x; m = a.y;"),
    ("relevant a;", "n = a.x; m = a.y;"),
    ("relevant a, b.z when b;", "if b { n = b.z; } else { n = a.x; }"),
    ("relevant a.x, bc when b or c;", "if b { n = b.z; } else if c { m = c.v; } else { n = a.x; }"),
    ("relevant sum;", "m = sum;"),
    ("relevant start;", "m = start;"),
    ("relevant payload[0..4];", "m = payload[1..3];"),
    ("relevant payload[0..2], payload[2..4];", "k = payload[0..4];"),
    ("relevant b.o when b;", "if b { m = b.o[0..2]; }"),
    ("relevant a[0..3];", "n = a.x;"),
    ("relevant a[1..3], a[3..4];", "m = a.y;"),
    ("relevant b[0..8] when b;", "if b { n = b.z; k = b.w; m = b.o[0..2]; }"),
    (
        "relevant packet;",
        "if b { n = b.z; } m = payload[0..2]; if a { emit a { kind: 1, x: 1, y: 1 } payload payload to p; }",
    ),
    ("relevant packet when c; relevant a.x;", "if c { m = c.v; } n = a.x;"),
    ("relevant a[0..20];", "emit d { t: 1 } payload packet_from(a, 20B) to p;"),
]


@pytest.mark.parametrize(("relevant", "body"), LISTED)
def test_L6_1_what_is_listed_may_be_read(relevant: str, body: str) -> None:
    assert errors(own(relevant, body)) == [] and "W0801" not in warnings(own(relevant, body))


NOT_LISTED = [
    ("relevant a.x;", "n = a.x; m = a.y;", "bytes 2 to 3 of a"),
    ("relevant a.x, b.w when b;", "n = a.x; if b { k = b.w; n = b.z; }", "byte 1 of b"),
    ("relevant a.x, b.z when b and not d;", "n = a.x; if b { n = b.z; }", "byte 1 of b"),
    ("relevant a.x;", "n = a.x; m = sum;", "bytes 2 to 3 of a"),
    ("relevant a.x, payload[0..4];", "n = a.x; k = payload[1..5];", "bytes 1 to 4 of the payload"),
    (
        "relevant a.x, payload[0..1], payload[2..3];",
        "n = a.x; k = 0 as u8 ++ payload[0..3];",
        "bytes 0 to 2 of the payload",
    ),
    ("relevant a.x, b.z when b;", "n = a.x; if b { n = b.z; m = b.o[0..2]; }", "bytes 6 to 7 of b"),
    ("relevant a[0..2];", "n = a.x; m = a.y;", "bytes 2 to 3 of a"),
    ("relevant a[0..3];", "n = a.x; m = a.y;", "bytes 2 to 3 of a"),
    ("relevant packet when b; relevant a.x;", "n = a.x; if c { m = c.v; } m = a.y;", "bytes 2 to 3 of a"),
    ("relevant a.x;", "n = a.x; emit d { t: 1 } payload payload to p;", "bytes 0 to the end of the payload"),
    ("relevant a[0..8];", "emit d { t: 1 } payload packet_from(a, 9B) to p;", "bytes 0 to 8 of a"),
]


@pytest.mark.parametrize(("relevant", "body", "what"), NOT_LISTED)
def test_L6_1_reading_anything_else_is_an_error_that_names_the_byte_and_the_line(
    relevant: str, body: str, what: str
) -> None:
    text = own(relevant, body)
    found = [d for d in diagnostics(text) if not d.warning]
    assert [d.code for d in found] == ["E0805"]
    assert found[0].label == f"needs {what}"
    assert found[0].span is not None and text[: found[0].span.start].count("\n") == text.split("\n").index(body)


def test_L6_1_also_what_conditions_actions_and_the_schedule_read() -> None:
    assert errors(own("relevant a.x;", "n = a.x; if a.y == 1 { n = 1; }")) == ["E0805"]
    assert errors(own("relevant a.x;", "n = a.x; look();", "action look() { m = a.y; }")) == ["E0805"]
    assert errors(own("relevant a.x;", "n = a.x; a.y += 1;")) == ["E0805"]
    plan = "schedule { class a.y; reframe 1ms, 9; }"
    assert errors(own("relevant a.x;", "n = a.x;", plan)) == ["E0805"]
    assert errors(own("relevant a.x, a.y;", "n = a.x;", plan)) == []
    priority = "schedule { class a.x; priority a.y; serve 1Gbps; buffer 1MB; when full drop; }"
    assert errors(own("relevant a.x;", "", priority)) == ["E0805"]
    assert errors(own("relevant a.{x, y};", "", priority)) == []


def test_L6_1_a_value_is_listed_with_its_class() -> None:
    plan = "schedule { class odd; reframe 1ms, 9; }"
    assert errors(own("relevant odd;", "", plan)) == []
    assert errors(own("relevant d.t when d;", "if d { n = d.t; }", plan)) == ["E0805"]  # the class reads a.x


@pytest.mark.parametrize("condition", ["a.x == 1", "payload.len > 3B", "n == 0", "in_port == p", "b and b.z == 1"])
def test_L6_1_when_is_over_header_tests(condition: str) -> None:
    assert "E0801" in errors(own(f"relevant a.x when {condition};", "if a { n = a.x; }"))


@pytest.mark.parametrize("condition", ["b", "b or c", "not b", "a and not (b or c)", "bc", "true"])
def test_L6_1_header_tests_are_headers_groups_and_not_and_or(condition: str) -> None:
    assert errors(own(f"relevant a.x when {condition};", "")) == []


@pytest.mark.parametrize(
    ("relevant", "code"),
    [
        *(
            ("relevant e;", "E0401"),
            ("relevant a.e;", "E0402"),
            ("relevant a.{x, e};", "E0402"),
            ("relevant payload;", "E0802"),
        ),
        *(("relevant bc.z;", "E0402"), ("relevant nothing.x;", "E0401")),
    ],
)
def test_L6_1_only_what_there_is_can_be_listed(relevant: str, code: str) -> None:
    assert errors(own(relevant, "")) == [code]


# ---------------------------------------------------------------- L6.2

# frames: kind, x, y …
PLAIN, WITH_B, WITH_C, WITH_CD = (
    bytes.fromhex(h) for h in ("00110022", "0111002206 33 44444444", "02110022 5555", "02110022 5555 66")
)


def handled(relevant: str, frame: bytes, body: str = "n += 1;") -> tuple[int, dict[str, int], list[str]]:
    outcome = run(own(relevant, body), [(0, "p", frame)])
    return outcome.state["n"], outcome.dropped, outcome.ports


@pytest.mark.parametrize(
    ("relevant", "seen"),
    [
        # which of: nothing at all, PLAIN, WITH_B, WITH_C, WITH_CD the handler sees
        ("relevant a.x;", "01111"),
        ("relevant b.z;", "00100"),
        ("relevant a.x, b.z;", "00100"),
        ("relevant bc;", "00111"),
        ("relevant a.x, b.z when b;", "01111"),
        ("relevant a.x when a;", "11111"),
        ("relevant c.v; relevant d.t;", "00001"),  # several lines add up
        ("relevant a[0..2];", "01111"),
        ("relevant c[0..1];", "00011"),
        *(("relevant sum;", "11111"), ("relevant payload[0..2];", "11111"), ("relevant packet;", "11111")),
    ],
)
def test_L6_2_headers_of_items_without_when_are_guaranteed(relevant: str, seen: str) -> None:
    for frame, expected in zip((b"", PLAIN, WITH_B, WITH_C, WITH_CD), seen, strict=True):
        n, dropped, _ = handled(relevant, frame)
        assert n == int(expected) and dropped == ({} if n else {"not parsed": 1}), frame


@pytest.mark.parametrize(
    ("verdict", "dropped", "ports"),
    [
        *(('drop "mine"', {"mine": 1}, []), ("send q", {}, ["q"]), ("send p", {}, ["p"]), ("bounce", {}, ["p"])),
        ("send {p, q}", {}, ["p", "q"]),
    ],
)
def test_L6_2_a_packet_that_lacks_one_gets_the_verdict_after_else(
    verdict: str, dropped: dict[str, int], ports: list[str]
) -> None:
    assert handled(f"relevant b.z else {verdict};", PLAIN) == (0, dropped, ports)
    assert handled(f"relevant a.x; relevant b.z else {verdict};", WITH_C) == (0, dropped, ports)
    assert handled(f"relevant b.z else {verdict};", WITH_B) == (1, {}, ["q"])


def test_L6_2_at_most_one_has_an_else() -> None:
    two = 'relevant a.x else drop "x"; relevant b.z else drop "y";'
    assert "E0803" in errors(own(two, "n = a.x; n = b.z;"))


def test_L6_2_a_packet_that_is_sent_on_is_not_changed() -> None:
    outcome = run(own("relevant b.z else send q;", "b.z = 9;"), [(0, "p", PLAIN), (0, "p", WITH_B)])
    assert outcome.bytes == [PLAIN, WITH_B[:5] + b"\x09" + WITH_B[6:]]


def test_L6_2_in_the_standard_library() -> None:
    text = """use net.l4;
    nf n { port p, q; state { n: u8; x: u16; } relevant ipv4.src, l4.sport else drop "other";
      on packet { n += 1; x = l4.sport; if ipv4.src == 10.0.0.1 { send q; } bounce; } }"""
    frames = [ipv4(tcp()), ipv4(udp()), ipv4(icmp()), ipv6(udp()), ipv4(b"x" * 8, protocol=17, fragment=1)]
    outcome = run(text, [(0, "p", ethernet(frame)) for frame in frames])
    assert outcome.state["n"] == 2 and outcome.dropped == {"other": 3}


# ---------------------------------------------------------------- L6.3, L6.4


@pytest.mark.parametrize(
    "body", ["a.y = 5;", "a.y = 5; m = a.y;", "if n == 0 { a.y = 5; } else { a.y = 6; } m = a.y;", "pop a;"]
)
def test_L6_3_a_field_that_is_only_written_needs_no_listing(body: str) -> None:
    assert errors(own("relevant a.x;", "n = a.x; " + body)) == []


@pytest.mark.parametrize(
    "body", ["m = a.y; a.y = 5;", "a.y = a.y + 1;", "a.y |= 1;", "if n == 0 { a.y = 5; } m = a.y;"]
)
def test_L6_3_one_that_is_read_before_it_is_surely_written_does(body: str) -> None:
    assert errors(own("relevant a.x;", "n = a.x; " + body)) == ["E0805"]


def test_L6_3_its_header_must_be_there_all_the_same() -> None:
    assert errors(own("relevant a.x;", "n = a.x; b.z = 5;")) == ["E0404"]


@pytest.mark.parametrize(
    ("relevant", "body", "places"),
    [
        ("relevant a.x, a.y;", "n = a.x;", ["a.y"]),
        ("relevant a.{x, y};", "n = a.x;", ["y"]),
        ("relevant a.x, b when b;", "n = a.x;", ["b when b"]),
        ("relevant a.x, b when b;", "n = a.x; if b { n = b.z; }", []),
        ("relevant a.x, sum;", "n = a.x;", ["sum"]),
        ("relevant a.x, payload[0..2];", "n = a.x;", ["payload[0..2]"]),
        ("relevant a.x, payload[0..2], payload[2..4];", "n = a.x; m = payload[0..2];", ["payload[2..4]"]),
        ("relevant a.x, payload[0..2], payload[2..4];", "n = a.x; m = payload[1..3];", []),
        ("relevant a.x, a.y;", "n = a.x; a.y = 1;", ["a.y"]),  # only written
        ("relevant a.x, a.y;", "n = a.x; m = a.y;", []),
    ],
)
def test_L6_3_what_is_declared_and_not_read_is_a_warning(relevant: str, body: str, places: list[str]) -> None:
    text = own(relevant, body)
    found = [text[d.span.start : d.span.end] for d in diagnostics(text) if d.code == "W0801" and d.span is not None]
    assert found == places and errors(text) == []


def test_L6_3_without_any_relevant_all_packets_reach_the_handlers() -> None:
    body = "n += 1; if a { m = a.y; } if b { k = b.w; }"
    assert errors(own("", body)) == []
    for frame in (b"", PLAIN, WITH_B, WITH_C):
        assert handled("", frame, body)[0] == 1


@pytest.mark.parametrize(
    "body",
    [
        "n = a.kind;",  # selected on
        "if b { n = b.size; }",  # says how long the header is
        "if c { m = c.v; }",  # says whether it is well formed
        "s = len;",
        "s = payload.len;",
        "if b { s = b.o.len; }",
        "flag = in_port == p;",
        "flag = bc;",
    ],
)
def test_L6_4_what_the_parser_goes_by_and_len_are_always_relevant(body: str) -> None:
    assert errors(own("relevant a.x;", "n = a.x; " + body)) == []


def test_L6_4_what_a_header_says_about_its_end_and_a_hook_looks_at_too() -> None:
    ends = OWN.replace("header d { t: u8; }", "header d { t: u8; end t; }")
    hook = "header e { u: u8; } parse e after c when a.y == 9;"
    for headers, body in ((ends, "if d { n = d.t; }"), (OWN + hook, "m = a.y;")):
        text = own("relevant a.x;", "n = a.x; " + body)
        assert errors(text) == ["E0805"]
        assert errors(text.replace(OWN, headers)) == []


def test_L6_4_the_class_of_a_plain_fifo_needs_no_listing() -> None:
    for plan in ("schedule { class a.y; fifo; }", "schedule { class sum; }", "schedule { class sum; fifo; }"):
        assert errors(own("relevant a.x;", "n = a.x;", plan)) == [], plan
    served = "schedule { class a.y; fifo; serve 1Gbps; buffer 1MB; when full drop; }"
    assert errors(own("relevant a.x;", "n = a.x;", served)) == ["E0805"]


def test_L6_4_in_the_standard_library_flow_may_be_a_class_for_nothing() -> None:
    text = """use net.l4;
    nf n { port p; relevant ipv4.src else drop "x"; schedule { class flow; fifo; }
      on packet { if ipv4.src == 1.1.1.1 { bounce; } bounce; } }"""
    assert errors(text) == []
    assert errors(text.replace("bounce; }", 'if flow.sport == 1 { bounce; } drop "x"; }', 1)) == ["E0805"]
