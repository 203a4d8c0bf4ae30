"""The fields and edits of each class, packed by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.analysis.specs import EXAMPLES, ROOT, edits, fields, layout_of, program, said

from polysome.analysis.layout import WIRE, layout
from polysome.analysis.relevance import passing
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

TCP = ("ethernet", "ipv4", "tcp")


def nf(body: str, more: str = "") -> str:
    """An NF for all packets; `body` begins in line 5."""
    return f"use net.l4;\nnf t {{\n  port a, b; {more}\n  on packet {{\n{body}\n  }}\n}}\n"


def test_the_wire_has_room_for_34_bytes() -> None:
    assert (WIRE.overhead, WIRE.room) == (26, 34)
    assert [WIRE.frame(n) for n in (0, 34, 35)] == [60, 60, 61]


def test_the_load_balancer_is_as_the_design_promises() -> None:
    p = check(ROOT / "examples/load_balancer/load_balancer.nf", Report())
    one = layout_of(p, *TCP)
    assert fields(p, one) == [("ipv4", 9, 1, 0), ("ipv4", 12, 8, 1), ("tcp", 0, 4, 9)]
    assert edits(one) == [("ethernet.dst", 6, 0), ("ipv4.dst", 4, 6)]
    assert one.kept == () and one.whole is None
    assert layout_of(p, "ethernet", "vlan[0]", "ipv4", "tcp") == one
    assert layout_of(p, "ethernet", "ipv4", "udp").number != one.number


def test_edits_are_whole_bytes_in_wire_order(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        nf("""    require vlan[0] and ipv4 and tcp else drop "other";
    tcp.urgent = 1; ipv4.dscp = 2; ipv4.fragment_offset = 0; vlan[0].vid = 3; vlan[0].dei = 1;
    ethernet.src = 02:00:00:00:00:01;
    send b;"""),
    )
    assert edits(layout_of(p, "ethernet", "vlan[0]", "ipv4", "tcp")) == [
        ("ethernet.src", 6, 0),
        ("vlan[0].dei", 1, 6),
        ("vlan[0].vid", 2, 7),
        ("ipv4.dscp", 1, 9),
        ("ipv4.fragment_offset", 2, 10),
        ("tcp.urgent", 2, 12),
    ]
    assert edits(layout_of(p, *TCP)) == [], "packets that are never sent have no edits"


def test_a_field_that_a_sending_path_leaves_alone_is_made_relevant(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        nf("""    require ipv4 else drop "other";
    if ipv4.ttl == 1 { ipv4.dscp = 2; }
    send b;"""),
    )
    one = layout_of(p, *TCP)
    assert fields(p, one) == [("ipv4", 1, 1, 0), ("ipv4", 8, 1, 1)]
    assert said(p, one.kept) == [("ipv4", 1, 1, 6)]
    assert edits(one) == [("ipv4.dscp", 1, 0)]


@pytest.mark.parametrize(
    "body",
    [
        "if ipv4.ttl == 1 { ipv4.dscp = 2; send a; }\n    ipv4.dscp = 3;\n    send b;",
        "if ipv4.ttl == 1 { ipv4.dscp = 2; } else { ipv4.dscp = 3; }\n    send b;",
        'if ipv4.ttl == 1 { ipv4.dscp = 2; } else { drop "no matter"; }\n    send b;',
    ],
    ids=["two verdicts", "both branches", "the other path drops"],
)
def test_a_field_that_every_sending_path_writes_is_not(tmp_path: Path, body: str) -> None:
    p = program(tmp_path, nf(f'    require ipv4 else drop "other";\n    {body}'))
    one = layout_of(p, *TCP)
    assert fields(p, one) == [("ipv4", 8, 1, 0)] and one.kept == ()


def test_a_handler_of_another_port_is_a_path_too(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        """use net.l4;
nf t {
  port a, b;
  on packet from a { if ipv4 { ipv4.ttl = 64; } send b; }
  on packet from b { send a; }
}
""",
    )
    assert fields(p, layout_of(p, *TCP)) == [("ipv4", 8, 1, 0)]
    assert fields(p, layout_of(p, "ethernet", "arp")) == []


def test_a_loop_may_run_no_turn(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        nf(
            """    require ipv4 else drop "other";
    for x in xs { ipv4.ttl = x; }
    send b;""",
            "config xs: list<u8>;",
        ),
    )
    assert fields(p, layout_of(p, *TCP)) == [("ipv4", 8, 1, 0)]


# ---------------------------------------------------------------- headers that come and go


VLAN = ("ethernet", "vlan[0]", "ipv4", "tcp")


def test_what_is_popped_needs_no_edit(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        nf("""    require vlan[0] and not vlan[1] else drop "other";
    if vlan[0].vid == 1 { vlan[0].pcp = 3; pop vlan[0]..vlan[0]; send a; }
    vlan[0].pcp = 4;
    send b;"""),
    )
    one = layout_of(p, *VLAN)
    assert fields(p, one) == [("vlan[0]", 0, 2, 0)]
    assert edits(one) == [("shape", 1, 0), ("vlan[0].pcp", 1, 1)]
    assert one.shapes == ((0,), ()) and one.kept == ()


def test_a_push_brings_what_is_not_constant(tmp_path: Path) -> None:
    p = program(
        tmp_path,
        nf("""    require ipv4 else drop "other";
    push vlan { vid: ipv4.dst[11:0], pcp: 3 } before ipv4;
    send b;"""),
    )
    one = layout_of(p, *TCP)
    assert edits(one) == [("vlan.vid (pushed)", 2, 0)] and one.shapes == ((0,),)


def test_a_shaper_must_know_how_long_a_packet_leaves(tmp_path: Path) -> None:
    body = """    require outer.ipv4 and inner.ipv4 and gre and not inner.ethernet else drop "other";
    pop outer.ipv4..gre;
    send b;"""
    shape = "schedule { class 0 as u8; shape 1Mbps, 10KB; classes 1; idle 1s; buffer 1MB; when full drop; }"
    path = ("outer.ethernet", "outer.ipv4", "gre", "inner.ipv4")
    plain = program(tmp_path, nf(body).replace("net.l4", "net.tunnel"))
    assert fields(plain, layout_of(plain, *path)) == []
    shaped = program(tmp_path, nf(body, shape).replace("net.l4", "net.tunnel"))
    assert ("outer.ipv4", 0, 1, 0) in fields(shaped, layout_of(shaped, *path))


TRAILER = """use net.l4;
header note { size: u8; text: u16; }
parse note after udp when udp.dport == 7;
"""


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("truncate 60B;", "`truncate`: the checksum of udp covers what is cut off"),
        ("pop note;", "`pop` moves what the checksum of udp covers by an odd number of bytes"),
        (
            "push note { size: 1, text: 2 } before note;",
            "`push` moves what the checksum of udp covers by an odd number",
        ),
        ("push icmp { type: 8 } before note;", "the checksum of the pushed icmp covers the payload"),
        ("push ethernet { src: ethernet.src, dst: ethernet.dst } before ethernet;", ""),
        ("pop ethernet;", ""),
    ],
)
def test_a_checksum_that_needs_the_payload_sends_the_packet_whole(tmp_path: Path, statement: str, reason: str) -> None:
    text = nf(f'    require ipv4 and note else drop "other";\n    {statement}\n    send b;').replace(
        "use net.l4;\n", TRAILER
    )
    text = text.replace("pop note;", "pop note..note;").replace("pop ethernet;", "pop ethernet..ethernet;")
    p = program(tmp_path, text)
    one = layout_of(p, "ethernet", "ipv4", "udp", "note")
    assert (one.whole.reason if one.whole else "").startswith(reason) and (one.whole is None) == (reason == "")
    assert (one.number is None) == (reason != "")
    assert (one.fields, one.edits) == ((), ()) or reason == ""


def test_relevant_packet_goes_whole(tmp_path: Path) -> None:
    p = program(tmp_path, nf("    send b;", "relevant packet when udp;"))
    udp, tcp = layout_of(p, "ethernet", "ipv4", "udp"), layout_of(p, *TCP)
    assert udp.whole is not None and udp.whole.reason == "`relevant packet`" and udp.number is None
    assert tcp.whole is None and tcp.number == 1


# ---------------------------------------------------------------- all examples


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_class_has_one_layout_and_numbers_are_dense(path: Path) -> None:
    p: ir.Program = check(path, Report())
    found = layout(p).classes
    union = 0
    for one in found:
        assert one.classes and not one.classes & union
        union |= one.classes
        assert sum(s.length for s in one.fields) == one.fields_size
        assert [s.offset for s in one.fields] == [sum(s.length for s in one.fields[:n]) for n in range(len(one.fields))]
    assert union == passing(p)
    numbers = [one.number for one in found if one.number is not None]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) <= WIRE.class_numbers
