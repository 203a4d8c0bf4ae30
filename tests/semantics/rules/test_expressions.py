"""LANGUAGE.md L3.7 to L3.10 and L3.13 to L3.16: how expressions are evaluated, `in`, `as`, functions, constants."""

from __future__ import annotations

import pytest

from polysome.kinds.values import Prefix
from rules.harness import Trapped, bare, errors, nf, run, value, value_errors
from rules.packets import number

ANY = b"\0" * 20
SHAPES = """
struct Inner { p: u8, q: u16 }
struct Outer { a: Inner, t: (u8, Inner), e: Colour }
enum Colour { red, green, blue }
enum Code: u8 { one = 1, two, ten = 10, eleven }
"""


# ---------------------------------------------------------------- L3.7 to L3.10


@pytest.mark.parametrize(
    "text", ["5 / x", "5 % x", "1s / y == 0", "(5B / y) == 1bps", "(5 / y) == 1pps", "1s / z == y", "1s % y == y"]
)
def test_L3_7_division_by_zero_ends_the_handler(text: str) -> None:
    type = "u8" if "==" not in text else "bool"
    with pytest.raises(Trapped, match=r"^division by zero \(spec\.nf:\d+\)$"):
        value(text, type, before="let x = 0 as u8; let y: duration = 0; let z = 0 as u64;")


CHANGES = "state { taken: token_bucket(1pps, 1); }"  # `taken.take(1)` is true once, then false


def test_L3_8_and_and_or_evaluate_their_right_side_only_if_it_matters() -> None:
    before = "let x = 0 as u8;"
    assert value("x != 0 and 5 / x == 1", "bool", before=before) is False
    assert value("x == 0 or 5 / x == 1", "bool", before=before) is True
    for text in ("x == 0 and 5 / x == 1", "x != 0 or 5 / x == 1"):
        with pytest.raises(Trapped, match="division by zero"):
            value(text, "bool", before=before)


def test_L3_8_what_is_not_evaluated_changes_nothing() -> None:
    assert value("taken.take(1)", "bool", before="if false and taken.take(1) { }", items=CHANGES)
    assert not value("taken.take(1)", "bool", before="if true and taken.take(1) { }", items=CHANGES)
    assert value("taken.take(1)", "bool", before="if true or taken.take(1) { }", items=CHANGES)
    one = "fn one(b: bool) -> u8 { 1 }"
    other = "let y = if true { 1 as u8 } else { one(taken.take(1)) };"
    assert value("taken.take(1)", "bool", before=other, items=CHANGES, declarations=one)


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        ("(taken.take(1), taken.take(1))", "(bool, bool)", (True, False)),
        ("S { p: taken.take(1), q: taken.take(1) }", "S", (True, False)),
        ("S { q: taken.take(1), p: taken.take(1) }", "S", (False, True)),  # q is written first
        ("pair(taken.take(1), taken.take(1))", "(bool, bool)", (True, False)),
        ("taken.take(1) == taken.take(1)", "bool", False),
        ("taken.take(1) as u8 ++ taken.take(1) as u8", "u16", 0x0100),
        ("taken.take(1) as u8 - taken.take(1) as u8", "u8", 1),
        ("max(taken.take(1) as u8 * 2, taken.take(1) as u8 * 3)", "u8", 2),
    ],
)
def test_L3_8_all_else_is_evaluated_left_to_right(text: str, type: str, expected: object) -> None:
    declarations = "struct S { p: bool, q: bool } fn pair(p: bool, q: bool) -> (bool, bool) { (p, q) }"
    assert value(text, type, items=CHANGES, declarations=declarations) == expected


def test_L3_8_the_leftmost_end_is_the_one_that_counts() -> None:
    items = "config l: list<u8>;"
    more = {"before": "let x = 0 as u8;", "items": items, "declarations": "struct S { p: u8, q: u8 }"}
    for text, type in (
        *(
            ("l[0] + 1 / x", "u8"),
            ("S { q: l[0], p: 1 / x }", "S"),
            ("(l[0], 1 / x)", "(u8, u8)"),
            ("l[0] in {1 / x}", "bool"),
        ),
        *(("min(l[0], 1 / x)", "u8"), ("l[0] == 1 / x", "bool"), ("hash(l[0], 1 / x)", "u64")),
    ):
        with pytest.raises(Trapped, match="empty list"):
            value(text, type, **more)  # type: ignore[arg-type]
    for text, type in (("S { q: 1 / x, p: l[0] }", "S"), ("1 / x in {l[0]}", "bool"), ("1 / x in l", "bool")):
        with pytest.raises(Trapped, match="division by zero"):
            value(text, type, **more)  # type: ignore[arg-type]


def test_L3_9_if_is_a_value_and_so_is_the_last_expression_of_a_block() -> None:
    assert value("if x == 1 { 10 } else { 20 }", "u8", before="let x = 1 as u8;") == 10
    assert value("if x == 1 { 10 } else if x == 2 { 20 } else { 30 }", "u8", before="let x = 2 as u8;") == 20
    assert value("1 + if x == 1 { let y = x + 1; let z = y * 2; z } else { 0 }", "u8", before="let x = 1 as u8;") == 5
    declarations = "fn f(x: u8) -> u8 { let y = x + 1; if y == 3 { let z: u8 = 9; z } else { y } }"
    assert [value(f"f({x})", "u8", declarations=declarations) for x in (1, 2)] == [2, 9]


def test_L3_9_an_if_that_is_a_value_has_a_value_on_both_sides() -> None:
    for text in ("if true { 1; } else { 2 }", "if true { 1 } else { }"):
        assert value_errors(text, "u8") != []
    assert value_errors("if true { 1 as u8 } else { 2 as u16 }", "u8") == ["E0301"]
    assert value_errors("if true { send a; 1 } else { 2 }", "u8") == ["E0312"]


TRAPS = [
    ("x = l[3];", r"index past the end"),
    ("x = l[1];", r"index past the end"),
    ("x = none[0];", r"empty list"),
    ("x = lev[0];", r"empty list"),
    ("x = arr[4];", r"index past the end of arr"),
    ("arr[4] = 1;", r"index past the end of arr"),
    ("x = 1 / zero;", r"division by zero"),
    ("x = x % zero;", r"division by zero"),
    ("m[1] = 1; m[2] = 2;", r"m full"),
    ("two[1] = 7; two[2] = 7;", r"index back of two taken"),
]
TRAP_ITEMS = """
  config l: list<u8>;
  config none: list<u8>;
  config lev: maglev<u8>;
  state {
    x: u8; zero: u8; before: u8; after: u8; arr: array<u8>[4];
    m: map<u8, u8> { capacity 1; idle 1h; when full drop; }
    two: map<u8, u8> { capacity 9; idle 1h; when full drop; }
    index back: two by value;
  }
"""


@pytest.mark.parametrize(("body", "reason"), TRAPS)
def test_L3_10_nothing_traps_the_handler_ends_in_a_drop_that_names_the_place(body: str, reason: str) -> None:
    spec = bare(f"before = 1;\n{body}\nafter = 1; bounce;", TRAP_ITEMS)
    line = spec.split("\n").index(body) + 1
    outcome = run(spec, [(0, "a", ANY), (1, "a", ANY)], {"l": (5,)})
    assert outcome.dropped == {f"{reason} (spec.nf:{line})": 2} and not outcome.left
    assert outcome.state["before"] == 1 and outcome.state["after"] == 0  # writes already made stay


def test_L3_10_a_full_map_with_pass_or_evict_does_not_end_the_handler() -> None:
    for what in ("pass", "evict oldest"):
        items = TRAP_ITEMS.replace("capacity 1; idle 1h; when full drop", f"capacity 1; idle 1h; when full {what}")
        assert run(bare("m[1] = 1; m[2] = 2; bounce;", items), [(0, "a", ANY)]).dropped == {}


def test_L3_10_a_handler_without_a_packet_just_ends() -> None:
    items = (
        TRAP_ITEMS
        + """
      state { short: map<u8, u8> { capacity 9; idle 5ns; when full drop; } ended: u8; timed: u8; }
      every 10ns { timed += 1; x = 1 / zero; timed += 100; }
      on end short(k, v, why) { ended += 1; x = l[k]; ended += 100; }
    """
    )
    outcome = run(bare("short[9] = 0; bounce;", items), [(0, "a", ANY), (20, "a", ANY)])
    assert outcome.state["timed"] == 2 and outcome.state["ended"] == 1
    assert outcome.dropped == {} and outcome.counters.sent == 2


# ---------------------------------------------------------------- L3.13, L3.14


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("10.9.9.9 in 10.0.0.0/8", True), ("11.0.0.0 in 10.0.0.0/8", False), ("2001:db8::5 in 2001:db8::/32", True)),
        *(("::1 in 10.0.0.0/8", False), ("10.0.0.1 in ::/0", False)),  # never of the other family
        *(("10.1.1.1 in nets[0]", True), ("10.2.1.1 in nets[0]", False), ("2001:db8::1 in nets[1]", True)),
        *(("x in {1, 2}", True), ("x in {1, 3}", False), ("x in numbers", True), ("5 in numbers", False)),
        *(("x in list", True), ("9 in list", False), ("x in table", True), ("9 in table", False), ("x in seen", False)),
        *(("in_port in {a, b}", True), ("in_port in {b}", False), ("in_port in ports - in_port", False)),
        *(("x in box.many", True), ("9 in box.many", False)),
    ],
)
def test_L3_13_in(text: str, expected: bool) -> None:
    items = """
      config nets: list<prefix>; config numbers: set<u8>; config list: list<u8>; config table: map<u8, u8>;
      config box: Box;
      state { seen: map<u8, u8> { capacity 3; idle 1h; when full drop; } }
    """
    ten, documentation = Prefix(32, 0x0A010000, 16), Prefix(128, 0x20010DB8 << 96, 32)
    config = {
        "nets": (ten, documentation),
        "numbers": frozenset((2, 4)),
        "list": (7, 2),
        "table": {2: 9},
        "box": ((2, 3),),
    }
    declarations = "struct Box { many: list<u8> }"
    found = value(text, "bool", before="let x = 2 as u8;", items=items, config=config, declarations=declarations)
    assert found is expected


def test_L3_13_in_wants_one_type() -> None:
    for text in ("1 as u16 in {1 as u8}", "1 in 2", "5 as u8 in 10.0.0.0/8", "10.0.0.1 in {::1}"):
        assert value_errors(text, "bool") != []


@pytest.mark.parametrize(
    ("text", "type", "expected"),
    [
        *(("0x1234 as u16 as u8", "u8", 0x34), ("0x12 as u8 as bit<128>", "bit<128>", 0x12)),
        *(("10.0.0.1 as u32", "u32", 0x0A000001), ("10.0.0.1 as u8", "u8", 1), ("10.0.0.1 as u64", "u64", 0x0A000001)),
        *(("5 as u8 as ipv4", "ipv4", 5), ("0x123456789a as u64 as ipv4", "ipv4", 0x3456789A)),
        *(("02:00:00:00:00:01 as u64", "u64", 0x020000000001), ("1 as u64 as mac", "mac", 1)),
        *(("7 as ipv6", "ipv6", 7), ("5s as u64", "u64", 5 * 10**9), ("5s as u8", "u8", 5 * 10**9 % 256)),
        *(("7 as u8 as duration", "duration", 7), ("7 as u64 as time", "time", 7), ("3 as u8 as bytes", "bytes", 3)),
        (f"{2**64 + 5} as bit<65> as bytes", "bytes", 5),
        *(("9 as bitrate", "bitrate", 9), ("9 as packetrate", "packetrate", 9)),
        ("10.0.0.1 as ipv6", "ipv6", number("::ffff:10.0.0.1")),
        *(("2001:db8::102:304 as ipv4", "ipv4", 0x01020304), ("10.0.0.1 as ipv6 as ipv4", "ipv4", 0x0A000001)),
        *(("true as u8", "u8", 1), ("false as u64", "u64", 0), ("(3 as u8 == 3) as bit<1>", "bit<1>", 1)),
        *(("Code.eleven as u8", "u8", 11), ("Code.eleven as u32", "u32", 11), ("Code.eleven as bit<2>", "bit<2>", 3)),
    ],
)
def test_L3_14_as(text: str, type: str, expected: int) -> None:
    assert value(text, type, declarations=SHAPES) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("1 as u8 as bool", "10.0.0.1 as mac", "10.0.0.1 as duration", "1s as time", "1s as bytes", "1s as ipv4"),
        *("Colour.red as u8", "1 as u8 as Colour", "1 as u8 as Code", "Code.one as ipv4", "true as ipv4", "a as u16"),
        *("(1 as u8, 2 as u8) as u16", "02:00:00:00:00:01 as ipv6", "02:00:00:00:00:01 as ipv4"),
    ],
)
def test_L3_14_nothing_else(text: str) -> None:
    found = [value_errors(text, type, declarations=SHAPES) for type in ("u8", "u16", "bool", "ipv4")]
    assert found == [["E0314"]] * 4


# ---------------------------------------------------------------- L3.15, L3.16


def test_L3_15_min_and_max() -> None:
    for text, type, expected in (
        *(
            ("min(x, 200)", "u8", 5),
            ("max(x, 200)", "u8", 200),
            ("min(5, 6)", "u8", 5),
            ("max(1s, 2s)", "duration", 2 * 10**9),
        ),
        *(
            ("min(10.0.0.1, 9.0.0.1)", "ipv4", 0x09000001),
            ("max(Code.one, Code.ten)", "u8", 10),
            ("max(x, Code.ten)", "u8", 10),
        ),
    ):
        assert value(text, type, before="let x = 5 as u8;", declarations=SHAPES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "min(x, 1 as u16)",
        "max(1s, 1KB)",
        "min(true, false)",
        "min(Colour.red, Colour.red)",
        "min((1, 2), (1, 2))",
        "min(x)",
    ],
)
def test_L3_15_of_two_of_one_type_that_has_an_order(text: str) -> None:
    assert value_errors(text, "u8", before="let x = 5 as u8;", declarations=SHAPES) != []


FUNCTIONS = """
struct S { a: u8, b: u8 }
fn sum(s: S) -> u8 { s.a + s.b }
fn scaled(s: S, by: u8) -> u8 { s.sum * by }
fn a(s: S) -> u8 { 99 }
fn twice(x: u8) -> u8 { let y = x; y + x }
fn limited(x: u8) -> u8 { min(x, LIMIT) }
const LIMIT: u8 = 6;
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("sum(s)", 7), ("s.sum", 7), ("s.sum()", 7), ("s.scaled(2)", 14), ("scaled(s, 3)", 21), ("s.sum.twice", 14)),
        *(("s.a", 3), ("a(s)", 99), ("s.sum.limited", 6), ("limited(5)", 5), ("x.twice.twice", 20)),
        ("S { a: 1, b: 1 }.sum", 2),
    ],
)
def test_L3_15_functions_and_the_dot(text: str, expected: int) -> None:
    before = "let s = S { a: 3, b: 4 }; let x = 5 as u8;"
    assert value(text, "u8", before=before, declarations=FUNCTIONS) == expected


def test_L3_15_a_function_sees_its_arguments_params_and_constants() -> None:
    items = "param factor: u8 = 3; fn times(x: u8) -> u8 { x * factor + LIMIT }"
    assert value("times(2)", "u8", items=items, declarations=FUNCTIONS) == 12
    assert value("times(2)", "u8", items=items, declarations=FUNCTIONS, params={"factor": "10"}) == 26


@pytest.mark.parametrize(
    ("body", "items"),
    [
        *(
            ("x", "state { x: u8; }"),
            ("c", "config c: u8 = 1;"),
            ("len as u8", ""),
            ("now as u8", ""),
            ("byte0.first", ""),
        ),
        *(("if byte0 { 1 } else { 2 }", ""), ("in_port as u8", ""), ("t[0]", "config t: list<u8>;")),
    ],
)
def test_L3_15_and_nothing_else(body: str, items: str) -> None:
    assert "E0316" in value_errors("f(1)", "u8", items=f"{items} fn f(y: u8) -> u8 {{ {body} }}")


def test_L3_15_no_recursion_no_statements_no_missing_value() -> None:
    assert value_errors("f(1)", "u8", declarations="fn f(x: u8) -> u8 { f(x) }") == ["E0324"]
    two = "fn f(x: u8) -> u8 { g(x) } fn g(x: u8) -> u8 { if x == 0 { 0 } else { f(x - 1) } }"
    assert value_errors("f(1)", "u8", declarations=two) == ["E0324"]
    assert value_errors("f(1)", "u8", declarations="fn f(x: u8) -> u8 { let y = x; }") == ["E0325"]
    assert "E0312" in value_errors("f(1)", "u8", declarations='fn f(x: u8) -> u8 { drop "no"; x }')
    assert value_errors("f(1, 2)", "u8", declarations="fn f(x: u8) -> u8 { x }") == ["E0321"]
    assert value_errors("f()", "u8", declarations="fn f(x: u8) -> u8 { x }") == ["E0321"]
    assert value_errors("f(x)", "u8", before="let x = 1 as u16;", declarations="fn f(x: u8) -> u8 { x }") == ["E0301"]


def test_L3_16_constants_are_computed_from_constants() -> None:
    declarations = "const A: duration = B * 2; const B: duration = 1s + 500ms; const P: (u8, ipv4) = (7, 10.0.0.1);"
    assert value("A", "duration", declarations=declarations) == 3 * 10**9
    assert value("P.1", "ipv4", declarations=declarations) == 0x0A000001
    assert value_errors("C", "u8", declarations="const C: u8 = D; const D: u8 = C;") == ["E0324"]
    assert value_errors("C", "u8", declarations="const C: u8 = 1 / 0;") == ["E0304"]
    assert value_errors("C", "time", declarations="const C: time = now;") == ["E0316"]
    assert value_errors("C", "u8", declarations="const C: u8 = 256;") == ["E0305"]


def test_L3_16_a_constant_means_the_same_wherever_it_is_used() -> None:
    declarations = "const A: u8 = B; const B: u8 = 1;"
    assert value("A + B", "u8", before="let B = 7 as u8;", declarations=declarations) == 8


def test_L3_16_a_param_may_be_overridden() -> None:
    items = "param n: u8 = 3; param d: duration = n as duration; param who: ipv4 = 10.0.0.1;"
    assert value("n", "u8", items=items) == 3
    assert value("n", "u8", items=items, params={"n": "2 * 4"}) == 8
    assert value("d", "duration", items=items, params={"d": "1.5s"}) == 1_500_000_000
    assert value("who", "ipv4", items=items, params={"who": "10.9.9.9"}) == 0x0A090909


@pytest.mark.parametrize("text", ["256", "1s", "true", "x", "1 +"])
def test_L3_16_by_a_constant_of_its_type(text: str) -> None:
    assert errors(bare("bounce;", "param n: u8 = 3;"), params={"n": text}) != []


def test_L3_16_params_are_given_or_have_a_default_and_are_known() -> None:
    assert errors(bare("bounce;", "param n: u8;")) == ["E0219"]
    assert errors(bare("bounce;", "param n: u8;"), params={"n": "1"}) == []
    assert errors(bare("bounce;", "param n: u8 = 1;"), params={"m": "1"}) == ["E0220"]
    assert errors(bare("n = 2; bounce;", "param n: u8 = 1;")) != []


def test_L3_16_param_seed_exists_everywhere() -> None:
    assert value("seed", "bit<128>") == 0
    assert value("seed", "bit<128>", params={"seed": str(2**128 - 1)}) == 2**128 - 1
    assert value("seed", "bit<128>", items="param seed: bit<128> = 5;") == 5
    assert run(nf("bounce;"), [(0, "a", ANY)], params={"seed": "7"}).counters.sent == 1
