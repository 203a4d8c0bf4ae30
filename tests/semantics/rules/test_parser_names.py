"""LANGUAGE.md L4.11 to L4.14: groups and values of parsers, hooks, classes; which parser an NF has."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, errors, nf, program, run
from rules.packets import ethernet, ipv4, ipv6, tcp, udp
from rules.parser_specs import STACK, STACK_NAMES, spec, valid

# ---------------------------------------------------------------- L4.11, L4.12

GROUPS = """
header a { x: u8; } header b { y: u8; z: u16; } header c { z: u16; y: u8; w: u8; } header d { y: u16; z: u16; }
parser own {
  state start { extract a; select a.x { 1 => b; 2 => c; 3 => d; } }
  state b { extract b; } state c { extract c; } state d { extract d; }
  group bc = b | c;
  group all.of = b | c | d;
}
"""


def group(body: str, frame: str) -> Outcome:
    return run(spec(GROUPS, body, "state { out: u16; }", "", "a"), [(0, "p", bytes.fromhex(frame))])


def test_L4_11_a_group_names_whichever_header_is_valid() -> None:
    body = "if bc { out = bc.y as u16; bc.y = 0xee; }"
    assert group(body, "01 42 0000").state["out"] == 0x42
    assert group(body, "01 42 0000").bytes == [bytes.fromhex("01 ee 0000")]
    assert group(body, "02 0000 43 00").state["out"] == 0x43
    assert group(body, "02 0000 43 00").bytes == [bytes.fromhex("02 0000 ee 00")]
    assert group(body, "03 0042 0000").state["out"] == 0
    assert group("if all.of { out = all.of.z; }", "03 0042 0777").state["out"] == 0x777


def test_L4_11_it_has_the_fields_that_all_have_with_the_same_type() -> None:
    assert errors(spec(GROUPS, "if bc { bc.w = 1; }", "", "", "a")) == ["E0402"]
    assert errors(spec(GROUPS, "if all.of { all.of.y = 1; }", "", "", "a")) == ["E0403"]
    assert errors(spec(GROUPS, "if bc { let y = all.of.z; }", "", "", "a")) == []
    assert errors(spec(GROUPS, "if all.of { let y = bc.y; }", "", "", "a")) == ["E0404"]


def test_L4_11_a_group_may_be_selected_on() -> None:
    parser = """parser own { state start { extract a; select a.x { 1 => b; 2 => c; } } state b { extract b; goto s; }
      state c { extract c; goto s; } state s { select bc.x { 7 => d; } } state d { extract d; } group bc = b | c; }"""
    assert [valid(parser, frame) for frame in ("01 07 00", "02 07 00", "01 08 00")] == ["a b d", "a c d", "a b"]


VALUES = """
header a { x: u8; } header b { y: u8; }
parser own {
  state start { extract a; goto s; } state s { extract b; }
  value first: u8 = if a { a.x } else { 0xff };
  value sum: u16 = first as u16 + (if b { b.y as u16 } else { 1000 });
  value size: bytes = len + payload.len;
}
"""


def test_L4_11_a_value_is_computed_and_may_use_those_before_it() -> None:
    text = spec(VALUES, "one = first; two = sum; three = size;", "state { one: u8; two: u16; three: bytes; }", "", "a")
    for frame, expected in (("05 06 00", (5, 11, 4)), ("05", (5, 1005, 1)), ("", (0xFF, 1255, 0))):
        state = run(text, [(0, "p", bytes.fromhex(frame))]).state
        assert (state["one"], state["two"], state["three"]) == expected


def test_L4_11_it_is_that_of_the_packet_as_it_arrived() -> None:
    body = "if a { a.x = 9; } one = first; two = sum; if a { three = a.x; }"
    text = spec(VALUES, body, "state { one: u8; two: u16; three: u8; }", "", "a")
    state = run(text, [(0, "p", bytes.fromhex("05 06"))]).state
    assert (state["one"], state["two"], state["three"]) == (5, 11, 9)


@pytest.mark.parametrize(
    "value", ["value v: u8 = w; value w: u8 = 1;", "value v: u8 = v;", "value v: u8 = b.y;", "value v: time = now;"]
)
def test_L4_11_what_a_value_cannot_use(value: str) -> None:
    assert errors(spec(VALUES.replace("value size", f"{value} value size"), "", "", "", "a")) != []


CLASSES = """
header a { x: u8; }
parser own {
  state start { extract a; }
  value v: u8 = if a { a.x } else { 0 };
  class v: u8 = v % 2;
}
"""


def order(schedule: str) -> list[int]:
    """The order in which packets with the bytes 1, 2, 3, 4 leave a buffer that groups them by class."""
    text = spec(CLASSES, "", schedule, "", "a")
    outcome = run(text, [(i, "p", bytes([i + 1]) * 20) for i in range(4)])
    return [data[0] for data in outcome.bytes]


def test_L4_12_class_beside_value_is_what_it_means_in_a_class_clause() -> None:
    assert order("schedule { class v; reframe 1s, 4; }") == [1, 3, 2, 4]  # classes: odd, then even
    assert order("schedule { class v + 0; reframe 1s, 4; }") == [1, 3, 2, 4]
    assert order("schedule { class (v, 1 as u8); reframe 1s, 4; }") == [1, 3, 2, 4]


def test_L4_12_elsewhere_the_value_has_its_own_meaning() -> None:
    text = spec(CLASSES, "out = v;", "state { out: u8; }", "", "a")
    assert run(text, [(0, "p", b"\x05")]).state["out"] == 5


@pytest.mark.parametrize(
    "values",
    ["class w: u8 = 1;", "value w: u8 = 1; class w: u16 = 1;", "value v: u8 = 2;", "class w: u8 = 1; value w: u8 = 1;"],
)
def test_L4_12_it_stands_behind_the_value_and_has_its_type(values: str) -> None:
    assert errors(spec(CLASSES.replace("class v: u8 = v % 2;", values), "", "", "", "a")) != []


# ---------------------------------------------------------------- L4.13, L4.14


def test_L4_13_a_hook_parses_a_header_behind_another() -> None:
    hook = "header mine { magic: u16; n: u8; }\nparse mine after udp when udp.dport == 7777;\n"
    text = nf("if mine { n = mine.n; mine.n = 9; } left = payload.len; send b;", "state { n: u8; left: bytes; }", hook)
    outcome = run(text, [(0, "a", ethernet(ipv4(udp(b"\x12\x34\x05rest", dport=7777))))])
    assert outcome.state == {"n": 5, "left": 4}
    assert outcome.bytes == [ethernet(ipv4(udp(b"\x12\x34\x09rest", dport=7777)))]  # the UDP checksum covers it
    assert run(text, [(0, "a", ethernet(ipv4(udp(b"\x12\x34\x05rest", dport=7778))))]).state == {"n": 0, "left": 7}
    assert run(text, [(0, "a", ethernet(ipv6(udp(b"\x12\x34\x05", dport=7777))))]).state == {"n": 5, "left": 0}
    assert run(text, [(0, "a", ethernet(ipv4(udp(b"\x12\x34", dport=7777))))]).state == {"n": 0, "left": 2}


HOOKED = "parser own { state start { extract a; select a.x { 1 => s; } } state s { extract b; } }\n"


@pytest.mark.parametrize(
    ("hooks", "frame", "expected"),
    [
        ("parse c after a;", "01 02 03", "a c"),  # before the state's own select
        ("parse c after a when a.x == 2;", "01 02 03", "a b"),
        ("parse c after a when a.x == 2;", "02 02 03", "a c"),
        ("parse c after a when a.x < 2; parse d after a when a.x < 3; parse e after a;", "01 02", "a c"),  # in order
        ("parse c after a when a.x < 2; parse d after a when a.x < 3; parse e after a;", "02 02", "a d"),
        ("parse c after a when a.x < 2; parse d after a when a.x < 3; parse e after a;", "03 02", "a e"),
        ("parse c after b;", "01 02 03", "a b c"),
        ("parse c after b; parse d after c when c.x == 3;", "01 02 03 04", "a b c d"),  # behind a hooked header
        ("parse c after b; parse d after c when a.x == 1 and c.x == 4;", "01 02 03 04", "a b c"),
        ("parse c after a when peek(8) == 7;", "01 07", "a c"),
        ("parse c after a when peek(8) == 7;", "01 08", "a b"),
        ("parse c after a;", "01", "a"),
    ],
)
def test_L4_13_hooks_come_first_and_in_order(hooks: str, frame: str, expected: str) -> None:
    assert valid(HOOKED + hooks, frame) == expected


def test_L4_13_as_names_the_instance() -> None:
    assert valid(HOOKED + "parse a as again.a after b;", "01 02 03", ["a", "b", "again.a"]) == "a b again.a"
    assert errors(spec(HOOKED + "parse c as b after a when a.x == 2;", "", names="a")) == ["E0413"]


def test_L4_13_behind_every_place_where_the_header_is_extracted() -> None:
    apart = """parser own {
      state start { extract a; select a.x { 1 => s; 2 => t; } }
      state s { extract b; } state t { extract c; goto u; } state u { extract b; }
    }"""
    hook = "\nparse d after b;"
    assert valid(apart + hook, "01 02 03", "abcd") == "a b d"
    assert valid(apart + hook, "02 02 03 04", "abcd") == "a b c d"
    names = [*STACK_NAMES, "d"]
    assert valid(STACK + "parse d after v when v[0].x == 9;", "01 09 02", names) == "a v[0] d"
    assert valid(STACK + "parse d after v[1];", "01 01 02 03", names) == "a v[0] v[1] d"
    assert valid(STACK + "parse d after v[1];", "01 02 03", names) == "a v[0] c"
    assert errors(spec(HOOKED + "parse d after c;", names="a")) == ["E0401"]


def test_L4_13_the_condition_reads_what_is_there() -> None:
    assert errors(spec(HOOKED + "parse d after a when b.x == 1;", names="a")) == ["E0404"]
    assert errors(spec(HOOKED + "parse d after a when a.x;", names="a")) == ["E0301"]


def classes(text: str) -> set[tuple[str, ...]]:
    parser = program(text).parser
    return {tuple(parser.instances[i].name for i in path) for path in parser.classes}


def test_L4_14_the_parse_class_is_the_sequence_of_valid_headers() -> None:
    found = classes(spec(HOOKED + "parse c after b when a.x == 1;", names="ab"))
    assert found == {(), ("a",), ("a", "b"), ("a", "b", "c")}
    both = """parser own {
      state start { extract a; select a.x { 1 => b; 2 => c; } }
      state b { extract b; goto e; } state c { extract c; goto e; } state e { extract e; }
    }"""
    found = classes(spec(both, names="a"))
    assert found == {(), ("a",), ("a", "b"), ("a", "c"), ("a", "b", "e"), ("a", "c", "e")}


OTHER = "header z { x: u8; } parser other { state start { extract z; } }"


def test_L4_14_the_own_files_parser_goes_before_all_others() -> None:
    text = "use net.l4;\n" + spec("parser own { state start { extract a; } }", "", names="a")
    assert program(text).parser.name == "own"


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        *(
            ("use net.l4; use other;", "other"),
            ("use other; use net.l4;", "l4"),
            ("use other; use net.tunnel; use plain;", "tunnel"),
        ),
        *(("use net.l4; use net.tunnel; use again;", "l4"), ("use again; use other;", "other")),
    ],
)
def test_L4_14_else_the_one_visible_through_the_last_use(uses: str, expected: str) -> None:
    files = {"other.nf": OTHER, "plain.nf": "const K: u8 = 1;", "again.nf": "use net.l4; const L: u8 = 1;"}
    text = f"{uses}\nnf own {{ port p; on packet {{ bounce; }} }}"
    assert program(text, files=files).parser.name == expected


def test_L4_14_without_a_parser_there_is_no_nf() -> None:
    assert errors("nf own { port p; on packet { bounce; } }") == ["E0222"]


def test_L4_14_a_parser_has_at_most_4096_classes() -> None:
    tall = """parser own {
      state start { extract a as v[..8]; select v[last].x { 1 => start; 2 => w; } }
      state w { extract b as w[..8]; select w[last].x { 1 => start; 2 => w; } }
    }"""
    assert errors(spec(tall, names=[])) == ["E0416"]
    assert run(nf("bounce;"), [(0, "a", ethernet(ipv4(tcp(b""))))]).counters.sent == 1
