"""LANGUAGE.md L4.7 to L4.14: parsers. Most have one-byte headers a to e of their own; packets are hex."""

from __future__ import annotations

import re

import pytest

from rules.harness import Outcome, errors, nf, program, run
from rules.packets import ethernet, icmp, ipv4, ipv6, tcp, udp, vlan

HEADERS = "".join(f"header {name} {{ x: u8; }} " for name in "abcde")
Names = str | list[str] | None  # None: those of a to e that the parser extracts


def extracted(parser: str, names: Names) -> list[str]:
    return (
        list(dict.fromkeys(re.findall(r"\b(?:extract|parse) ([a-e])\b(?! as)", parser)))
        if names is None
        else list(names)
    )


def spec(parser: str, body: str = "", items: str = "", headers: str = HEADERS, names: Names = None) -> str:
    """Sends to q; `path` has one bit for each of the named headers that is valid, the first one's the lowest."""
    bits = " ".join(f"if {name} {{ path = path | {1 << i}; }}" for i, name in enumerate(extracted(parser, names)))
    state = "state { path: u64; left: bytes; }"
    handler = f"on packet {{ {bits} left = payload.len; {body} send q; }}"
    return f"{headers}\n{parser}\nnf own {{ port p, q; {state} {items}\n {handler} }}"


def valid(parser: str, frame: str, names: Names = None, headers: str = HEADERS) -> str:
    """The valid headers, by name."""
    outcome = run(spec(parser, headers=headers, names=names), [(0, "p", bytes.fromhex(frame))])
    found = (name for i, name in enumerate(extracted(parser, names)) if outcome.state["path"] >> i & 1)
    return " ".join(sorted(found) if names is None else found)


def bad(parser: str) -> list[str]:
    return errors(f"{HEADERS}\nparser own {{ {parser} }}\nnf own {{ port p; on packet {{ bounce; }} }}")


# ---------------------------------------------------------------- L4.7


def test_L4_7_parsing_begins_at_start_and_goes_on() -> None:
    parser = """parser own {
      state two { extract b; goto three; } state start { extract a; goto two; } state three { extract c; }
    }"""
    assert valid(parser, "01 02 03 04") == "a b c"
    assert valid(parser, "01 02") == "a b"
    assert valid(parser, "") == ""


def test_L4_7_a_state_without_a_transition_accepts() -> None:
    assert valid("parser own { state start { extract a; } state other { extract b; } }", "01 02") == "a"
    assert valid("parser own { state start { extract a; goto accept; } }", "01 02") == "a"
    assert valid("parser own { state start { } }", "01 02") == ""


def test_L4_7_a_state_need_not_extract() -> None:
    parser = """parser own {
      state start { select peek(8) { 1 => one; 2 => other; } } state one { extract a; } state other { extract b; }
    }"""
    assert [valid(parser, frame) for frame in ("01", "02", "03", "")] == ["a", "b", "", ""]


SELECT = """
parser own {
  state start { extract a; select a.x { CASES } }
  state b { extract b; } state c { extract c; } state d { extract d; } state e { extract e; }
}
const FIVE: u8 = 5;
enum Kind: u8 { nine = 9 }
"""


@pytest.mark.parametrize(
    ("cases", "taken"),
    [
        # what follows a 0, 4, 5, 6, 9, 255
        ("5 => b;", ("", "", "b", "", "", "")),
        ("FIVE => b; Kind.nine => c; 2 * 3 => d;", ("", "", "b", "d", "c", "")),
        ("5 => b; 5 => c; _ => d; 0 => e;", ("d", "d", "b", "d", "d", "d")),  # the first that matches
        ("4..6 => b;", ("", "b", "b", "", "", "")),  # 6 excluded
        ("0..1, 6, 9 => b; 4..7 => c;", ("b", "c", "c", "b", "b", "")),
        ("250..255 => b; 255 => c;", ("", "", "", "", "", "c")),
        ("5..5 => b; _ => accept;", ("", "", "", "", "", "")),  # an empty range
        ("0x05 => accept; _ => b;", ("b", "b", "", "b", "b", "b")),
    ],
)
def test_L4_7_select_takes_the_first_case_that_matches(cases: str, taken: tuple[str, ...]) -> None:
    parser = SELECT.replace("CASES", cases)
    found = [valid(parser, f"{first:02x} 77") for first in (0, 4, 5, 6, 9, 255)]
    assert found == [f"a {name}".strip() for name in taken]


def test_L4_7_tuples_match_part_by_part() -> None:
    parser = """parser own {
      state start { extract a; goto two; }
      state two { extract b; select (a.x, b.x, a.x[0:0]) { (1, 2, _), (3, _, 1) => c; (_, 4..6, 0) => d; } }
      state c { extract c; } state d { extract d; }
    }"""
    for frame, follower in (
        *(("01 02", "c"), ("01 03", ""), ("03 09", "c"), ("02 05", "d"), ("01 05", ""), ("02 06", ""), ("03 05", "c")),
    ):
        assert valid(parser, frame + "77") == f"a b {follower}".strip(), frame


@pytest.mark.parametrize(
    ("parser", "code"),
    [
        ("state begin { extract a; }", "E0412"),
        ("state start { extract z; }", "E0411"),
        ("state start { extract a; goto nowhere; }", "E0414"),
        ("state start { extract a; select a.x { 1 => nowhere; } }", "E0414"),
        ("state start { extract a; select a.x { (1, 2) => accept; } }", "E0415"),
        ("state start { extract a; select (a.x, a.x) { 1 => accept; } }", "E0415"),
        ("state start { extract a; select a.y { 1 => accept; } }", "E0402"),
        ("state start { extract a; select a.x { 256 => accept; } }", "E0305"),
        ("state start { extract a; select a.x { b.x => accept; } } state s { extract b; }", "E0303"),
        ("state start { extract a; } state start { extract b; }", "E0203"),
        ("state start { extract a; goto s; } state s { extract b as a; }", "E0413"),
    ],
)
def test_L4_7_what_a_parser_cannot_be(parser: str, code: str) -> None:
    assert code in bad(parser)


def test_L4_7_no_path_extracts_one_name_twice() -> None:
    assert bad("state start { extract a; goto s; } state s { extract a; }") == ["E0418"]
    assert bad("state start { extract a; goto start; }") == ["E0418"]
    apart = """state start { extract a; select a.x { 1 => s; 2 => t; } }
      state s { extract b; } state t { extract b; goto u; } state u { extract c; }"""
    assert bad(apart) == []
    assert [valid(f"parser own {{ {apart} }}", frame) for frame in ("01 0203", "02 0203")] == ["a b", "a b c"]


def test_L4_7_no_path_goes_round_without_extracting() -> None:
    assert bad("state start { extract a; goto s; } state s { goto t; } state t { select peek(8) { 1 => s; } }") == [
        "E0419"
    ]
    assert bad("state start { goto start; }") == ["E0419"]


def test_L4_7_a_select_reads_what_was_extracted_on_every_path_to_it() -> None:
    fork = (
        "state start { extract a; select a.x { 1 => s; 2 => t; } } state s { extract b; goto u; } state t { goto u; } "
    )
    assert bad(fork + "state u { select b.x { 3 => v; } } state v { extract c; }") == ["E0404"]
    guarded = (
        fork
        + "state u { select if b { b.x } else { 9 } { 3 => v; 9 => w; } } state v { extract c; } state w { extract d; }"
    )
    assert bad(guarded) == []
    assert valid(f"parser own {{ {guarded} }}", "01 03 44") == "a b c"
    assert valid(f"parser own {{ {guarded} }}", "02 44") == "a d"


# ---------------------------------------------------------------- L4.8

STACK = """parser own {
  state start { extract a; select a.x { 1 => stack; 2 => end; } }
  state stack { extract b as v[..3]; select v[last].x { 1 => stack; 2 => end; } }
  state end { extract c; }
}"""
STACK_NAMES = ["a", "v[0]", "v[1]", "v[2]", "c"]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("02 cc", "a c"),
        ("01 02 cc", "a v[0] c"),
        ("01 01 02 cc", "a v[0] v[1] c"),
        ("01 01 01 02 cc", "a v[0] v[1] v[2] c"),
        ("01 01 01 01 02 cc", "a v[0] v[1] v[2]"),  # full: parsing stops
        ("01 01", "a v[0]"),
        ("01 07 02", "a v[0]"),
    ],
)
def test_L4_8_extract_takes_the_next_free_place_of_a_stack(frame: str, expected: str) -> None:
    assert valid(STACK, frame, STACK_NAMES) == expected


def test_L4_8_places_are_numbered_as_on_the_wire() -> None:
    body = "if v[2] { sum = v[0].x ++ v[1].x ++ v[2].x; v[1].x = 0xee; }"
    text = spec(STACK, body, "state { sum: bit<24>; }", names="a")
    outcome = run(text, [(0, "p", bytes.fromhex("01 01 01 02 cc"))])
    assert outcome.state["sum"] == 0x010102 and outcome.bytes == [bytes.fromhex("01 01 ee 02 cc")]


@pytest.mark.parametrize("use", ["if v[last] { }", "if v { }", "if v[3] { }", "if v[0] { left = v[1].x as bytes; }"])
def test_L4_8_last_stands_in_a_select_only_and_a_place_must_exist(use: str) -> None:
    assert errors(spec(STACK, use)) != []


def test_L4_8_last_needs_a_place_that_was_taken() -> None:
    assert bad("state start { extract a; select v[last].x { 1 => s; } } state s { extract b as v[..2]; }") != []


def test_L4_8_two_vlan_tags_are_parsed_and_a_third_is_payload() -> None:
    text = nf(
        "if vlan[0] { n = 1; } if vlan[1] { n = 2; } if ipv4 { n += 10; } left = payload.len; send b;",
        "state { n: u8; left: bytes; }",
    )
    inside = ipv4(udp(b"four"))  # 32 bytes
    packets = [
        (ethernet(inside), 10, 4),
        (ethernet(vlan(inside), 0x8100), 11, 4),
        (ethernet(vlan(vlan(inside), type=0x8100), 0x88A8), 12, 4),
        (ethernet(vlan(vlan(vlan(inside), type=0x8100), type=0x8100), 0x88A8), 2, 36),  # the tag's 4 bytes and 32
    ]
    for frame, n, left in packets:
        outcome = run(text, [(0, "a", frame + b"\xee")])
        assert (outcome.state["n"], outcome.state["left"]) == (n, left + (n == 2))  # without IPv4 there is no trailer


# ---------------------------------------------------------------- L4.9

CUT = """
header q { one: u8; two: u8; three: u16; n: u8; opt: rest; size n as u16; valid one != 9; }
header a { x: u8; }
parser own {
  state start { extract a; goto s; }
  state s { extract q as quote.q cut 2; goto t; }
  state t { extract a as tail; }
}
"""
CUT_NAMES = ["a", "quote.q", "tail"]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("00", "a"),
        ("00 11", "a"),  # one byte of the two that must be there
        ("00 11 22", "a quote.q"),
        ("00 11 22 33", "a quote.q"),
        ("00 11 22 3333", "a quote.q"),
        ("00 09 22 3333", "a quote.q"),  # `valid` counts only if all fixed fields are there
        ("00 11 22 3333 05", "a quote.q"),
        ("00 11 22 3333 05 77", "a quote.q tail"),
        ("00 09 22 3333 05 77", "a"),  # now it counts
        ("00 11 22 3333 04 77", "a"),  # a size below the fixed fields
        ("00 11 22 3333 07 aa", "a quote.q"),  # cut in its options
        ("00 11 22 3333 07 aabb 77", "a quote.q tail"),
    ],
)
def test_L4_9_a_quote_is_content_with_its_first_bytes_if_the_packet_ends_there(frame: str, expected: str) -> None:
    assert valid(CUT, frame, CUT_NAMES, "") == expected


@pytest.mark.parametrize(
    ("frame", "fields"),
    [
        # one, two, three, n, first two bytes of opt
        ("00 11 22", (0x11, 0x22, 0, 0, 0)),
        ("00 11 22 33", (0x11, 0x22, 0x3300, 0, 0)),
        ("00 11 22 3344", (0x11, 0x22, 0x3344, 0, 0)),
        ("00 11 22 3344 07 aa", (0x11, 0x22, 0x3344, 7, 0xAA00)),
        ("00 11 22 3344 07 aabb", (0x11, 0x22, 0x3344, 7, 0xAABB)),
    ],
)
def test_L4_9_fields_beyond_read_0_and_writes_to_them_vanish(frame: str, fields: tuple[int, ...]) -> None:
    body = """if quote.q {
      one = quote.q.one; two = quote.q.two; three = quote.q.three; n = quote.q.n; opt = quote.q.opt[0..2];
      quote.q.one = 0xee; quote.q.three = 0xeeee; quote.q.n = 0xee;
    }"""
    items = "state { one: u8; two: u8; three: u16; n: u8; opt: u16; }"
    data = bytes.fromhex(frame)
    outcome = run(spec(CUT, body, items, "", "a"), [(0, "p", data)])
    assert tuple(outcome.state[k] for k in ("one", "two", "three", "n", "opt")) == fields
    expected = b"\0\xee" + data[2:3] + b"\xee" * len(data[3:6]) + data[6:]
    assert outcome.bytes == [expected]


def test_L4_9_the_end_of_the_enclosing_packet_cuts_too() -> None:
    parser = CUT.replace("header a { x: u8; }", "header a { x: u8; end x; }")
    # `a` says that the packet has 3 bytes: the quote has two of them; what is behind is a trailer
    outcome = run(
        spec(parser, "if quote.q { quote.q.three = 0xffff; }", "", "", "a"),
        [(0, "p", bytes.fromhex("03 11 22 3344 05"))],
    )
    assert outcome.bytes == [bytes.fromhex("03 11 22")]


QUOTED = ipv4(udp(b"sixteen bytes...", sport=1000, dport=53), src="192.0.2.1", dst="192.0.2.2", options=b"\1" * 4)


@pytest.mark.parametrize("length", range(len(QUOTED) + 1))
def test_L4_9_quotes_in_icmp_cut_at_every_length(length: int) -> None:
    names = {"icmp": 0, "icmp.quoted.ipv4": 20, "icmp.quoted.udp": 28}  # the least bytes of the quote
    body = " ".join(f"if {h} {{ seen += 1; }}" for h in names)
    body += """
      if icmp.quoted.ipv4 { src = icmp.quoted.ipv4.src; }
      if icmp.quoted.udp { ports = icmp.quoted.udp.sport ++ icmp.quoted.udp.dport; sum = icmp.quoted.udp.checksum; }
      send b;
    """
    text = nf(body, "state { seen: u8; src: ipv4; ports: u32; sum: u16; }")
    frame = ethernet(ipv4(icmp(QUOTED[:length], type=3, code=3, identifier=0, sequence=0)))
    outcome = run(text, [(0, "a", frame)])
    seen = sum(length >= least for least in names.values())
    # QUOTED is 24 bytes of IPv4, then ports (24 to 28), length (to 30), checksum (to 32)
    there = QUOTED[30 : min(length, 32)].ljust(2, b"\0")
    expected = {
        "seen": seen,
        "src": 0xC0000201 if length >= 20 else 0,
        "ports": 1000 << 16 | 53 if length >= 28 else 0,
        "sum": int.from_bytes(there) if length >= 28 else 0,
    }
    assert outcome.state == expected and outcome.bytes == [frame]


def test_L4_9_lengths_and_next_fields_of_a_quote_are_never_set() -> None:
    header = "header tag { x: u32; }\n"
    body = "if icmp.quoted.udp { push tag { x: 0 } before payload; } send b;"
    frame = ethernet(ipv4(icmp(QUOTED[:40], type=3, code=3, identifier=0, sequence=0)))
    found = run(nf(body, declarations=header), [(0, "a", frame)]).bytes[0]
    assert found[42 : 42 + 32] == QUOTED[:32]  # nothing of the quoted headers changed


def test_L4_9_cut_above_the_fixed_fields_asks_for_no_more_than_these() -> None:
    parser = "parser own { state start { extract a; goto s; } state s { extract b as w.b cut 9; } }"
    assert valid(parser, "01 02", ["a", "w.b"]) == "a w.b"


# ---------------------------------------------------------------- L4.10


def test_L4_10_peek_is_the_next_bits_and_0_beyond_the_end() -> None:
    parser = """parser own {
      state start { extract a; select (peek(4), peek(12)[7:0], peek(128)[0:0]) {
        (0x1, 0x23, 0) => b; (0x1, 0x20, 0) => c; (0, 0, 0) => d; (0xf, 0xff, 1) => e; } }
      state b { extract b; } state c { extract c; } state d { extract d; } state e { extract e; }
    }"""
    assert valid(parser, "00 12 34") == "a b"
    assert valid(parser, "00 12") == "a c"  # the 12 bits are 1 2 0: what is not there reads 0
    assert valid(parser, "00 00") == "a d"
    assert valid(parser, "00") == "a"  # all 0, but there is no room for d
    assert valid(parser, "00" + "ff" * 16) == "a e"
    assert valid(parser, "00" + "ff" * 15) == "a"  # the last of 128 bits is 0


def test_L4_10_the_end_is_the_innermost_one_in_force() -> None:
    headers = HEADERS.replace("header a { x: u8; }", "header a { x: u8; end x; }")
    parser = """parser own {
      state start { extract a; select peek(16) { 0x2200 => b; 0x2233 => c; } }
      state b { extract b; } state c { extract c; }
    }"""
    assert valid(parser, "02 22 33", headers=headers) == "a b"
    assert valid(parser, "03 22 33", headers=headers) == "a c"


def test_L4_10_peek_stands_in_a_select_only_with_1_to_128_bits() -> None:
    assert bad("state start { extract a; select peek(129) { 1 => accept; } }") == ["E0323"]
    assert bad("state start { extract a; select peek(0) { 1 => accept; } }") == ["E0323"]
    assert errors(nf("let x = peek(8); bounce;")) == ["E0323"]


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
