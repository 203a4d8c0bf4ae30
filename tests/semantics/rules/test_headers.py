"""LANGUAGE.md L4.1 to L4.6: headers, their ends, marked fields and defaults. Packets are hex, one header a word."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, errors, nf, run
from rules.packets import checksum, ethernet, icmp, ipv4, ipv6, tcp, udp, vlan


def spec(headers: str, parser: str, body: str = "", state: str = "") -> str:
    """An NF with a parser of its own, whose states are `parser`; it sends everything to b."""
    items = f"state {{ {state} }}" if state else ""
    return f"{headers}\nparser own {{ {parser} }}\nnf own {{ port a, b; {items}\n on packet {{ {body}\n send b; }} }}"


def arrive(text: str, frame: str | bytes) -> Outcome:
    data = bytes.fromhex(frame) if isinstance(frame, str) else frame
    return run(text, [(0, "a", data)])


# ---------------------------------------------------------------- L4.1

BITS = "header h { a: bit<4>; b: bit<12>; c: bit<1>; d: bit<7>; e: u16; f: bit<3>; g: bit<13>; }"


def test_L4_1_fields_are_in_wire_order_most_significant_bit_first() -> None:
    fields = {"a": 4, "b": 12, "c": 1, "d": 7, "e": 16, "f": 3, "g": 13}
    state = " ".join(f"is_{name}: bit<{width}>;" for name, width in fields.items())
    body = " ".join(f"is_{name} = h.{name};" for name in fields)
    text = spec(BITS, "state start { extract h; }", f"if h {{ {body} }}", state)
    # 12 34: a 1, b 234.  85 = 1 0000101: c 1, d 5.  be ef: e.  a0 07 = 101 00000 00000111: f 5, g 7
    assert list(arrive(text, "1234 85 beef a007").state.values()) == [1, 0x234, 1, 5, 0xBEEF, 5, 7]


def test_L4_1_fields_are_written_where_they_are_read_and_nothing_else_changes() -> None:
    body = "if h { h.b = 0xabc; h.d = 0x7f; h.g = 0; }"
    text = spec(BITS, "state start { extract h; }", body)
    # b: 1 2 34 → 1 abc;  d: 1 0000101 → 1 1111111;  g: 101 0…0111 → 101 0…0
    assert arrive(text, "1234 85 beef a007 ff").bytes == [bytes.fromhex("1abc ff beef a000 ff")]


def test_L4_1_fields_of_all_types() -> None:
    header = "enum K: u8 { x = 7 } header h { m: mac; i: ipv4; s: ipv6; t: bool; p: bit<7>; k: K; q: duration; }"
    state = "m: mac; i: ipv4; s: ipv6; t: bool; k: K; q: duration;"
    text = spec(
        header, "state start { extract h; }", "if h { " + " ".join(f"{n} = h.{n};" for n in "mistkq") + " }", state
    )
    frame = "0200000000ff 0a000001 20010db8000000000000000000000001 80 07 00000000000003e8"
    found = arrive(text, frame).state
    assert found == {"m": 0x0200000000FF, "i": 0x0A000001, "s": 0x20010DB8 << 96 | 1, "t": True, "k": 7, "q": 1000}


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("header h { a: bit<7>; }", "E0405"),  # no whole number of bytes
        ("header h { a: port; }", "E0406"),
        ("header h { o: rest; a: u8; }", "E0407"),
        ("header h { o: rest; p: rest; }", "E0407"),
        ("header h { a: u8; a: u8; }", "E0203"),
    ],
)
def test_L4_1_what_a_header_cannot_be(header: str, code: str) -> None:
    assert code in errors(spec(header, "state start { extract h; }"))


REST = "header h { n: u8; o: rest; size n; } header g { z: u8; }"
REST_PARSER = "state start { extract h; goto s; } state s { extract g; }"


def test_L4_1_rest_is_the_bytes_up_to_the_headers_size_and_is_read_in_slices() -> None:
    body = "if h { one = h.o[0..1]; two = h.o[1..3]; wide = h.o[0..16]; size = h.o.len; } if g { z = g.z; }"
    text = spec(REST, REST_PARSER, body, "one: u8; two: u16; wide: bit<128>; size: bytes; z: u8;")
    # size 4: itself and 3 bytes; what is behind the header reads 0, not the next header's bytes
    found = arrive(text, "04 aabbcc dd ee").state
    assert found == {"one": 0xAA, "two": 0xBBCC, "wide": 0xAABBCC << 104, "size": 3, "z": 0xDD}
    found = arrive(text, "01 dd ee").state
    assert found == {"one": 0, "two": 0, "wide": 0, "size": 0, "z": 0xDD}


def test_L4_1_rest_has_no_other_use() -> None:
    for body in ("let x = h.o[2..2];", "let x = h.o[3..1];", "let x = h.o == h.o;", "h.o = 5;"):
        assert errors(spec(REST, REST_PARSER, "require h; " + body)) != []


def test_L4_1_options_of_ipv4_and_tcp() -> None:
    body = "if ipv4 { four = ipv4.options[0..4]; } if tcp { last = tcp.options[4..8]; beyond = tcp.options[8..12]; }"
    text = nf(body + " send b;", "state { four: u32; last: u32; beyond: u32; }")
    frame = ethernet(ipv4(tcp(b"data", options=b"\2\4\5\xb4\1\1\4\2"), options=b"\x94\4\0\0"))
    assert arrive(text, frame).state == {"four": 0x94040000, "last": 0x01010402, "beyond": 0}


# ---------------------------------------------------------------- L4.2

SEEN = "if one { seen = seen | 1; } if two { seen = seen | 2; } if three { seen = seen | 4; } left = payload.len;"


def seen(headers: str, frame: str) -> tuple[int, int]:
    """Which of the headers one, two, three (a byte sequence) are valid, as bits; and the payload's length."""
    parser = "state start { extract one; goto s; } state s { extract two; goto t; } state t { extract three; }"
    found = arrive(spec(headers, parser, SEEN, "seen: u8; left: bytes;"), frame).state
    return found["seen"], found["left"]


PLAIN = "header one { a: u16; } header two { b: bit<24>; } header three { c: u8; }"


def test_L4_2_a_header_that_does_not_fit_is_not_valid_and_parsing_stops_there() -> None:
    # 2, then 3, then 1 bytes
    expected = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (3, 0), (7, 0), (7, 1)]
    assert [seen(PLAIN, "11" * length) for length in range(8)] == expected


def test_L4_2_a_header_that_is_not_well_formed_stops_parsing_there() -> None:
    headers = PLAIN.replace("b: bit<24>;", "b: bit<24>; valid b[7:0] == 5 and b != 0x010005;")
    assert seen(headers, "0000 000005 00 00") == (7, 1)
    assert seen(headers, "0000 000004 00 00") == (1, 5)
    assert seen(headers, "0000 010005 00 00") == (1, 5)


SIZED = "header one { n: u8; m: u8; o: rest; size n as u16 * 2; } header two { b: u8; } header three { c: u8; }"


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        ("02 00 aaaa bb cc dd", (7, 1)),  # size 4
        ("01 00 bb cc dd", (7, 1)),  # size 2: the fixed fields only
        ("00 00 bb cc dd", (0, 5)),  # size 0 is below the fixed fields
        ("03 00 aaaaaaaa", (1, 0)),  # size 6: it just fits
        ("04 00 aaaaaaaa", (0, 6)),  # size 8: two bytes are missing
        ("ff 00 aaaaaaaa", (0, 6)),
    ],
)
def test_L4_2_size_is_computed_from_the_headers_own_fields(frame: str, expected: tuple[int, int]) -> None:
    assert seen(SIZED, frame) == expected


@pytest.mark.parametrize(
    "rule", ["size len as u16;", "valid in_port == a;", "size other.x;", "end payload.len as u16;", "valid now > 0;"]
)
def test_L4_2_from_nothing_else(rule: str) -> None:
    assert errors(spec(f"header other {{ x: u8; }} header h {{ a: u8; {rule} }}", "state start { extract h; }")) != []


def test_L4_2_an_end_below_the_size_is_not_well_formed() -> None:
    headers = "header one { n: u8; m: u8; end n; } header two { b: u8; } header three { c: u8; }"
    assert seen(headers, "02 00 bb cc") == (1, 0)  # nothing behind the header
    assert seen(headers, "01 00 bb cc") == (0, 4)
    assert seen(headers, "00 00 bb cc") == (0, 4)


FULL = vlan(ipv4(tcp(b"data", options=b"\1" * 12), options=b"\1" * 4))


def test_L4_2_every_truncation_of_a_whole_packet() -> None:
    flags = {"ethernet": 14, "vlan[0]": 18, "ipv4": 42, "tcp": 74}  # 14, + 4, + 20 + 4, + 20 + 12 bytes
    body = " ".join(f"if {h} {{ seen = seen | {1 << i}; }}" for i, h in enumerate(flags))
    text = nf(body + " send b;", "state { seen: u8; }")
    frame = ethernet(FULL, 0x8100)
    assert len(frame) == 78
    for length in range(len(frame) + 1):
        outcome = arrive(text, frame[:length])
        assert outcome.state["seen"] == sum(1 << i for i, end in enumerate(flags.values()) if length >= end), length
        short = 42 <= length < 78  # only from there on does the IPv4 header say how long the packet is
        assert outcome.dropped == ({"short frame": 1} if short else {}), length
        assert outcome.bytes == ([] if short else [frame[:length]])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ((14, 0x65), "version 6 in IPv4"),
        ((14, 0x44), "header length 16, below the fixed 20 bytes"),
        ((14, 0x4F), "header length 60, more than there is"),
        ((17, 19), "total length 19, below the header's length"),
        ((23, 250), "unknown protocol"),
        ((46, 0x40), "TCP data offset 16 bytes"),
        ((46, 0xF0), "TCP data offset 60 bytes"),
    ],
)
def test_L4_2_what_is_wrong_in_one_header_leaves_those_before_it_valid(change: tuple[int, int], why: str) -> None:
    frame = bytearray(ethernet(ipv4(tcp(b"data"))))
    frame[change[0]] = change[1]
    text = nf("if ethernet { seen = 1; } if ipv4 { seen = 2; } if tcp { seen = 3; } send b;", "state { seen: u8; }")
    outcome = arrive(text, bytes(frame))
    assert outcome.state["seen"] == (1 if change[0] < 20 else 2), why
    assert outcome.bytes == [bytes(frame)], why  # what is not understood goes through as it is


# ---------------------------------------------------------------- L4.3, L4.4

LENGTHS = nf("whole = len; inside = payload.len; send b;", "state { whole: bytes; inside: bytes; }")


@pytest.mark.parametrize("trailer", [0, 1, 4, 18])
@pytest.mark.parametrize(
    ("packet", "inside"),
    [
        (ipv4(udp(b"four")), 4),  # 14 + 20 + 8 + 4 bytes
        (ipv6(udp(b"four")), 4),
        (ipv4(tcp(b"")), 0),
        (ipv4(b"opaque", protocol=200), 6),
        (ipv4(b""), 0),
    ],
)
def test_L4_3_bytes_behind_the_network_packet_are_no_part_of_it(packet: bytes, inside: int, trailer: int) -> None:
    frame = ethernet(packet)
    outcome = arrive(LENGTHS, frame + b"\xee" * trailer)
    assert outcome.state == {"whole": len(frame), "inside": inside}
    assert outcome.bytes == [frame]


def test_L4_3_without_a_header_that_says_so_the_frame_is_the_packet() -> None:
    frame = ethernet(b"\0\1" * 20, 0x9999) + b"\xee" * 9
    assert arrive(LENGTHS, frame).state == {"whole": len(frame), "inside": 49}
    assert arrive(LENGTHS, frame).bytes == [frame]


def test_L4_3_the_end_of_a_header_that_is_not_valid_does_not_count() -> None:
    packet = bytearray(ipv4(udp(b"four")))
    packet[0] = 0x55  # version 5; the total length says 32
    frame = ethernet(bytes(packet), 0x0800) + b"\xee" * 9
    outcome = arrive(LENGTHS, frame)
    assert outcome.state == {"whole": 55, "inside": 41} and outcome.bytes == [frame]  # 14 + 32 + 9


ENDS = "header one { n: u8; end n; } header two { m: u8; end m; } header three { c: u16; }"


@pytest.mark.parametrize(
    ("frame", "expected", "sent"),
    [
        ("06 03 cccc dddd ee", (7, 2), 6),  # `three` ends at 2's end: it fits
        (
            "06 02 cccc dddd ee",
            (3, 4),
            6,
        ),  # one byte too few for it; the payload reaches to the packet's end all the same
        ("06 01 cccc dddd ee", (3, 4), 6),
        ("06 ff cccc dddd ee", (7, 2), 6),  # beyond the packet's end: that counts
        ("03 ff cc dddd eeee", (3, 1), 3),  # `three` would need the trailer's first byte
        ("ff 03 cccc", (7, 0), None),  # the frame is short: what is there is parsed
        ("ff 03 cc", (3, 1), None),
    ],
)
def test_L4_3_a_later_end_narrows_what_following_headers_may_parse(
    frame: str, expected: tuple[int, int], sent: int | None
) -> None:
    assert seen(ENDS, frame) == expected
    parser = "state start { extract one; goto s; } state s { extract two; goto t; } state t { extract three; }"
    data = bytes.fromhex(frame)
    assert arrive(spec(ENDS, parser), frame).bytes == ([] if sent is None else [data[:sent]])


def test_L4_3_bytes_behind_a_udp_datagram_inside_its_packet_are_payload() -> None:
    frame = ethernet(ipv4(udp(b"four" + b"more", length=12, check=0)))
    assert arrive(LENGTHS, frame).state == {"whole": 14 + 20 + 8 + 8, "inside": 8}
    assert arrive(LENGTHS, frame).bytes == [frame]


def test_L4_4_a_short_frame_is_decided_like_any_other_then_dropped() -> None:
    text = nf("count += 1; if payload.len < 4B { small += 1; } send b;", "state { count: u8; small: u8; }")
    frame = ethernet(ipv4(udp(b"four")))
    outcome = run(text, [(0, "a", frame[:-1]), (1, "a", frame), (2, "a", frame[:-4])])
    assert outcome.dropped == {"short frame": 2} and outcome.bytes == [frame]
    assert outcome.state == {"count": 3, "small": 2}  # 3 and 0 bytes of the payload are there


def test_L4_4_its_length_is_as_claimed() -> None:
    frame = ethernet(ipv4(udp(b"four"), total_length=1000))
    outcome = arrive(LENGTHS, frame)
    assert outcome.state == {"whole": 1014, "inside": 4} and outcome.dropped == {"short frame": 1}


def test_L4_4_a_verdict_to_drop_counts_under_its_own_reason() -> None:
    assert arrive(nf('drop "mine";'), ethernet(ipv4(udp(b"four")))[:-1]).dropped == {"mine": 1}
    assert arrive(nf("bounce;"), ethernet(ipv4(udp(b"four")))[:-1]).dropped == {"short frame": 1}


# ---------------------------------------------------------------- L4.5, L4.6

MARKED = """
enum Kind: u8 { inner = 7, tail = 9 }
header outer {
  total: u8 length(header + rest); words: u8 length(header / 4); kind: u8 next Kind; spare: u8; a: u16; b: u16;
  pseudo a, b;
}
header inner {
  size: u16 length(rest); sum: u16 checksum(pseudo, header, rest); own: u16 checksum(header); x: u16 = 0x0101;
}
header tail { y: u8; }
"""
MARKED_PARSER = "state start { extract tail; }"


def emitted(what: str) -> bytes:
    return arrive(spec(MARKED, MARKED_PARSER, f"emit {what} to a;"), "00").emitted[0][2]


def test_L4_5_apply_sets_length_next_and_checksum_fields() -> None:
    found = emitted("outer { spare: 0xff, a: 0x1111, b: 0x2222 }, inner, tail { y: 3 } payload 0x4455 as u16")
    # outer: 8 bytes, behind it 8 + 1 + 2 = 11: total 19 = 0x13; 8 / 4 = 2 words; `inner` is member 7
    # inner: behind it 3 bytes. Checksums in the order of the fields: `sum`, while `own` is still 0, covers the pseudo
    # header (1111 2222, the number 7 that the header before says, the length 8 + 3 = 11), inner, tail and payload;
    # then `own` covers inner alone
    head = bytes.fromhex("0003 0000 0000 0101")
    sum_ = checksum(bytes.fromhex("1111 2222 0007 000b") + head + bytes.fromhex("03 4455"))
    own = checksum(bytes.fromhex("0003") + sum_.to_bytes(2) + bytes.fromhex("0000 0101"))
    inner = bytes.fromhex("0003") + sum_.to_bytes(2) + own.to_bytes(2) + bytes.fromhex("0101")
    assert found == bytes.fromhex("13 02 07 ff 1111 2222") + inner + bytes.fromhex("03 4455")


def test_L4_5_the_pseudo_header_has_the_number_that_the_header_directly_before_says() -> None:
    # a header between IPv6 and UDP: the protocol in the sum is 17, which that says, not what IPv6 says (RFC 8200, 8.1)
    body = "emit ipv6 { src: ::1, dst: ::2 }, ipv6_ext, udp { sport: 1, dport: 2 } payload 0x61 as u8 to a; bounce;"
    found = arrive(nf(body), b"").emitted[0][2]
    assert len(found) == 40 + 2 + 8 + 1 and found[40] == 17
    pseudo = found[8:40] + (9).to_bytes(4) + (17).to_bytes(4)
    assert found[48:50] != b"\0\0" and checksum(pseudo + found[42:]) == 0


@pytest.mark.parametrize("field", ["total", "words", "kind"])
def test_L4_5_marked_fields_are_read_only(field: str) -> None:
    text = spec(MARKED, "state start { extract outer; }", f"if outer {{ outer.{field} = 1; }}")
    assert errors(text) == ["E0410"]
    assert errors(text.replace(f"outer.{field} = 1;", f"if outer.{field} == 1 {{ }}")) == []


@pytest.mark.parametrize(
    "field", ["ipv4.ihl", "ipv4.total_length", "ipv4.protocol", "ipv4.checksum", "ethernet.ether_type"]
)
def test_L4_5_in_the_standard_library_too(field: str) -> None:
    assert errors(nf(f"if ipv4 {{ {field} = 1; }} bounce;")) == ["E0410"]


def test_L4_5_they_are_not_touched_when_nothing_that_they_say_changes() -> None:
    # all wrong: header checksum, UDP checksum; still the frame leaves as it came
    frame = ethernet(ipv4(udp(b"four", check=0x1234), check=0x4321))
    assert arrive(nf("if ipv4 { ipv4.ttl = 64; } bounce;"), frame).bytes == [frame]


def test_L4_5_rest_reaches_to_the_innermost_end_in_force() -> None:
    header = "header tag { x: u32; }\n"
    body = "if udp { push tag { x: 0x01020304 } before payload; } send b;"
    frame = ethernet(ipv4(udp(b"four" + b"more", length=12, check=0)))
    found = arrive(nf(body, declarations=header), frame).bytes[0]
    # the datagram said 12 of 16 bytes behind the IP header: 12 + 4; the packet 36: 36 + 4
    assert found == ethernet(ipv4(udp(b"\1\2\3\4" + b"four" + b"more", length=16, check=0)))


def test_L4_5_zero_is_none() -> None:
    no_sum = ethernet(ipv4(udp(b"four", check=0)))
    outcome = arrive(nf("if udp { udp.sport = 7; } bounce;"), no_sum)
    assert outcome.bytes == [ethernet(ipv4(udp(b"four", sport=7, check=0)))]
    # ICMP has no such rule: 0 is updated like any other. HC' = 65535 − acc with acc ≡ 65535 − 0 + (8 − 7) ≡ 1: fffe
    frame = bytearray(ethernet(ipv4(icmp(b"", identifier=7))))
    frame[36:38] = b"\0\0"
    found = arrive(nf("if icmp { icmp.identifier = 8; } bounce;"), bytes(frame)).bytes[0]
    assert found[36:38] == b"\xff\xfe"


@pytest.mark.parametrize(
    "header",
    [
        "header h { c: u8 checksum(header); }",
        "header h { a: u8; c: u16 checksum(header); d: u8; }",
        "header h { c: u32 checksum(header); }",
        "header h { c: u16 checksum(header, tail); }",
    ],
)
def test_L4_5_a_checksum_is_a_u16_at_an_even_byte_over_known_parts(header: str) -> None:
    assert errors(spec(header, "state start { extract h; }")) == ["E0409"]


def test_L4_5_next_names_an_enum_of_the_fields_width() -> None:
    assert errors(spec("enum E: u8 { a } header h { n: u16 next E; }", "state start { extract h; }")) == ["E0408"]
    assert errors(spec("enum E { a } header h { n: u8 next E; }", "state start { extract h; }")) == ["E0408"]
    assert errors(spec("header h { n: u8 next Nothing; }", "state start { extract h; }")) == ["E0204"]


DEFAULTS = "header d { a: u8 = 5; b: u8; c: u16 = K + 1; n: u8 length(header); o: rest; } const K: u16 = 0x0100;"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{ b: 1 }", "05 01 0101 05"),  # `rest` is empty: the header has 5 bytes
        ("{ b: 1, a: 2 }", "02 01 0101 05"),
        ("{ c: 7, b: 1 }", "05 01 0007 05"),
    ],
)
def test_L4_6_defaults_are_what_push_and_emit_use(given: str, expected: str) -> None:
    headers = DEFAULTS + " header one { a: u8; }"
    text = spec(
        headers, "state start { extract one; }", f"emit d {given} to a; if one {{ push d {given} before one; }}"
    )
    outcome = arrive(text, "aa")
    assert outcome.emitted[0][2].hex(" ") == bytes.fromhex(expected).hex(" ")
    assert outcome.bytes == [bytes.fromhex(expected + "aa")]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("{ a: 1 }", "E0310"),
        ("", "E0310"),
        ("{ b: 1, n: 5 }", "E0410"),
        ("{ b: 1, o: 5 }", "E0410"),
        ("{ b: 1, x: 5 }", "E0308"),
    ],
)
def test_L4_6_without_a_default_a_field_is_given_and_marked_ones_never(given: str, code: str) -> None:
    headers = DEFAULTS + " header one { a: u8; }"
    for statement in (f"emit d {given} to a;", f"if one {{ push d {given} before one; }}"):
        assert errors(spec(headers, "state start { extract one; }", statement)) == [code]


def test_L4_6_a_default_is_a_constant_that_fits() -> None:
    assert "E0305" in errors(spec("header h { a: u8 = 256; }", "state start { extract h; }"))
    assert errors(spec("header h { a: u8; b: u8 = a; }", "state start { extract h; }")) != []
