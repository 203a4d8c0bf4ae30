"""LANGUAGE.md L4.7 to L4.10: parsers. Most have one-byte headers a to e of their own; packets are hex."""

from __future__ import annotations

import pytest

from rules.harness import errors, nf, run
from rules.packets import ethernet, icmp, ipv4, udp, vlan
from rules.parser_specs import HEADERS, STACK, STACK_NAMES, bad, spec, valid

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
