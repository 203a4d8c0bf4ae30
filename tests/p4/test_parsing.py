"""Parsers: select, masks, lookahead, errors, port metadata, and headers whose fields begin within bytes."""

from __future__ import annotations

import pytest
from tests.p4.skeleton import program
from tests.p4.soft import ethernet, run

pytestmark = pytest.mark.slow

PORTS = "".join(f"port {n}\n" for n in range(1, 10))

# Leaves through the port that says which state the parser ended in.
SELECT = program(
    types="header pair_h { bit<16> a; bit<8> b; bit<8> c; } header tail_h { bit<8> x; }",
    inner="pair_h pair; tail_h tail;",
    metadata="PortId_t way;",
    states="""
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        md.way = 0;
        transition select(hdr.ethernet.ether_type) {
            0x0800: two;
            0x0900 &&& 0xff00: masked;
            0x0a00: ahead;
            0x0b00: refuse;
            default: way_1;
        }
    }
    state two {
        pkt.extract(hdr.pair);
        transition select(hdr.pair.a, hdr.pair.b, hdr.pair.c) {
            (1, 2 &&& 0x0f, _): way_2;
            (1, _, 5): way_3;
            (0x8000 &&& 0x8000, _, _): way_4;
        }
    }
    state way_1 { md.way = 1; transition accept; }
    state way_2 { md.way = 2; transition accept; }
    state way_3 { md.way = 3; transition accept; }
    state way_4 { md.way = 4; transition accept; }
    state masked { md.way = 5; transition accept; }
    state ahead {
        transition select(pkt.lookahead<bit<4>>()) {
            0xf: tail;
            default: way_6;
        }
    }
    state tail { pkt.advance(16); pkt.extract(hdr.tail); md.way = 7; transition accept; }
    state way_6 { md.way = 6; transition accept; }
    state refuse { transition reject; }""",
    apply="tm.ucast_egress_port = md.way; tm.bypass_egress = 1;",
)


@pytest.mark.parametrize(
    ("kind", "rest", "way"),
    [
        ("0800", "0001 12 00", 2),
        ("0800", "0001 13 05", 3),
        ("0800", "8001 12 05", 4),
        ("0800", "0002 12 05", None),  # no case matches
        ("0800", "0001 12", None),  # too short
        ("0900", "", 5),
        ("09ff", "", 5),
        ("0a00", "f0 01 02 03", 7),
        ("0a00", "e0", 6),
        ("0a00", "", None),  # nothing to look at
        ("0a00", "f0", None),  # nothing to advance over
        ("0b00", "", None),
        ("0c00", "", 1),
    ],
)
def test_a_select_chooses_the_first_case_that_matches(kind: str, rest: str, way: int | None) -> None:
    frame = ethernet(rest, kind=kind)
    found = run(SELECT, f"{PORTS}in 1 0 {frame}\nrun 0\ndrops")
    # What `advance` skips is no part of any header: it does not leave.
    shown = frame.replace("f0010203", "0203") if way == 7 else frame
    assert found[:-1] == ([f"out {way} 0 {shown}"] if way is not None else [])
    assert f"ingress_parser={int(way is None)} " in found[-1]


ERRORS = program(
    types="header pair_h { bit<16> a; bit<16> b; }",
    inner="pair_h pair;",
    states="""
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) { 0x0800: more; }
    }
    state more { pkt.extract(hdr.pair); transition accept; }""",
    apply="""
    tm.bypass_egress = 1;
    if (prsr.parser_err == PARSER_ERROR_OK) {
        tm.ucast_egress_port = 1;
    } else if (prsr.parser_err == PARSER_ERROR_NO_MATCH) {
        tm.ucast_egress_port = 2;
    } else if (prsr.parser_err == PARSER_ERROR_PARTIAL_HDR && !hdr.pair.isValid()) {
        tm.ucast_egress_port = 3;
    }""",
)


def test_a_program_that_reads_the_parser_error_gets_the_packet() -> None:
    frames = [ethernet("00010002"), ethernet(kind="0801"), ethernet("000100")]
    found = run(ERRORS, PORTS + "".join(f"in 1 {i} {f}\n" for i, f in enumerate(frames)) + "run 9\ndrops")
    assert found[:3] == [f"out {i + 1} {i} {f}" for i, f in enumerate(frames)]
    assert "ingress_parser=0" in found[3]


ROLES = program(
    types="struct port_t { bit<8> role; bit<16> a; bit<40> rest; }",
    metadata="port_t port;",
    apply="""
    tm.bypass_egress = 1;
    tm.ucast_egress_port = (bit<9>)md.port.role;
    hdr.ethernet.ether_type = md.port.a;""",
).replace("pkt.advance(PORT_METADATA_SIZE);", "md.port = port_metadata_unpack<port_t>(pkt);")


def test_port_metadata_come_from_the_port() -> None:
    found = run(ROLES, f"port 1 metadata=0x02abcd0000000000\nport 2\nin 1 0 {ethernet('55')}\nrun 0")
    assert found == [f"out 2 0 {ethernet('55', kind='abcd')}"]


ODD = program(
    types="""header odd_h {
        bit<3> a; bit<13> b; bit<1> c; bit<33> d; bit<6> e; bit<48> f; bit<128> g; bit<192> h; bit<5> i; bit<3> j;
    }""",
    inner="odd_h odd;",
    start="transition parse_ethernet;",
    states="state parse_ethernet { pkt.extract(hdr.ethernet); pkt.extract(hdr.odd); transition accept; }",
    apply="""
    tm.bypass_egress = 1;
    tm.ucast_egress_port = 2;
    hdr.odd.a = ~hdr.odd.a;
    hdr.odd.b[11:4] = 0x5a;
    hdr.odd.d = hdr.odd.d + 1;
    hdr.odd.e[0:0] = ~hdr.odd.e[0:0];
    hdr.odd.g = hdr.odd.g ^ 1;
    hdr.odd.i = 0;""",
)


def test_fields_begin_and_end_within_bytes() -> None:
    def packed(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, i: int, j: int) -> str:
        value = 0
        for field, width in zip((a, b, c, d, e, f, g, h, i, j), (3, 13, 1, 33, 6, 48, 128, 192, 5, 3), strict=True):
            assert field >> width == 0
            value = value << width | field
        return value.to_bytes(54, "big").hex()

    f, g, h = 0x0102030405FF, 0xFEDCBA98765432100123456789ABCDEF, int.from_bytes(bytes(range(100, 124)), "big")
    before = packed(0b101, 0x1ABC, 1, 0x1FFFFFFFF, 0b101010, f, g, h, 21, 6)
    after = packed(0b010, 0x15AC, 1, 0, 0b101011, f, g ^ 1, h, 0, 6)
    assert run(ODD, f"{PORTS}in 1 0 {ethernet(before + '77')}\nrun 0") == [f"out 2 0 {ethernet(after + '77')}"]


def test_egress_drops_what_its_parser_cannot_take_apart() -> None:
    p4 = program(
        egress_headers="ethernet_h ethernet; ethernet_h more;",
        apply="tm.ucast_egress_port = 2;",
        egress_start="pkt.extract(hdr.ethernet); pkt.extract(hdr.more); transition accept;",
    )
    found = run(p4, f"{PORTS}in 1 0 {ethernet('11' * 13)}\nin 1 0 {ethernet('11' * 14)}\nrun 0\ndrops")
    assert found[0] == f"out 2 0 {ethernet('11' * 14)}" and "egress_parser=1" in found[1]
