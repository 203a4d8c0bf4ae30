"""LANGUAGE.md L5.1 to L5.3 and L5.6: what a handler sees of a packet. Flows and turns are in test_flows.py."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, bare, diagnostics, errors, nf, run
from rules.packets import ethernet, icmp, icmpv6, ip, ipv4, ipv6, number, tcp, udp, vlan

S = 10**9


def one(text: str, frame: bytes, port: str = "a", time: int = 0) -> Outcome:
    return run(text, [(time, port, frame)])


# ---------------------------------------------------------------- L5.1

SIZES = nf("whole = len; inside = payload.len; send b;", "state { whole: bytes; inside: bytes; }")


@pytest.mark.parametrize(
    ("frame", "inside"),
    [
        (ethernet(ipv4(tcp(b"12345"))), 5),
        (ethernet(ipv4(tcp(b"12345", options=b"\1" * 8), options=b"\1" * 8)), 5),
        (ethernet(vlan(ipv6(udp(b"12345"))), 0x8100), 5),
        (ethernet(ipv4(icmp(b"12345"))), 5),
        (ethernet(ipv4(udp(b"12345").data, protocol=17, fragment=100)), 13),  # a later fragment: no UDP header
        (ethernet(ipv4(b"12345", protocol=132)), 5),  # SCTP: opaque
        (ethernet(b"12345", 0x1234), 5),
        (b"12345", 5),  # too short for Ethernet: no header at all
        (b"", 0),
    ],
)
def test_L5_1_len_and_payload_len(frame: bytes, inside: int) -> None:
    assert one(SIZES, frame).state == {"whole": len(frame), "inside": inside}
    if len(frame) > 14 and frame[12:14] in (b"\x08\0", b"\x81\0"):
        assert one(SIZES, frame + b"trailer").state == {"whole": len(frame), "inside": inside}


def test_L5_1_in_port_and_now() -> None:
    text = bare("where_from = in_port; at = now; bounce;", "state { where_from: port; at: time; }", ports="x, y, z")
    for i, port in enumerate(("x", "y", "z")):
        outcome = one(text, b"\0", port, 5 * S + i)
        assert outcome.state == {"where_from": i, "at": 5 * S + i} and outcome.ports == [port]


SLICES = """
  first = payload[0..1]; four = payload[2..6]; all = payload[0..16]; late = payload[100..102]; send b;
"""
SLICE_STATE = "state { first: u8; four: u32; all: bit<128>; late: u16; }"


@pytest.mark.parametrize("length", range(20))
def test_L5_1_bytes_of_the_payload_beyond_its_end_read_0(length: int) -> None:
    payload = bytes(range(1, length + 1))
    padded = payload.ljust(102, b"\0")
    state = one(nf(SLICES, SLICE_STATE), ethernet(ipv4(udp(payload))) + b"\xee" * 8).state
    expected = {"first": padded[0], "four": int.from_bytes(padded[2:6]), "all": int.from_bytes(padded[:16]), "late": 0}
    assert state == expected  # never a byte of the trailer


def test_L5_1_payload_begins_behind_the_last_valid_header() -> None:
    text = nf("x = payload[0..2]; send b;", "state { x: u16; }")
    assert one(text, ethernet(ipv4(tcp(b"AB", options=b"\1" * 4)))).state["x"] == 0x4142
    assert one(text, ethernet(ipv4(b"AB", protocol=132))).state["x"] == 0x4142
    assert one(text, ethernet(b"AB", 0x9000)).state["x"] == 0x4142
    bad = bytearray(ethernet(ipv4(tcp(b"AB"))))
    bad[46] = 0  # TCP is not well formed: its bytes are payload (source port 1000 = 03e8)
    assert one(text, bytes(bad)).state["x"] == 0x03E8


@pytest.mark.parametrize("bounds", ["0..17", "5..5", "6..5", "n..4", "0..n"])
def test_L5_1_a_slice_has_constant_bounds_and_is_an_integer_of_1_to_16_bytes(bounds: str) -> None:
    assert errors(nf(f"let n = 3 as u8; let x: bit<128> = payload[{bounds}]; bounce;")) != []


def test_L5_1_bounds_may_be_constants_and_params() -> None:
    text = nf("x = payload[AT..AT + size]; send b;", "param size: u8 = 2; state { x: u16; }", "const AT: u8 = 1;")
    assert one(text, ethernet(ipv4(udp(b"ABCD")))).state["x"] == 0x4243


# ---------------------------------------------------------------- L5.2


def test_L5_2_a_field_reads_back_what_was_last_written() -> None:
    body = """
      require ipv4 else drop "no";
      before = ipv4.ttl; ipv4.ttl -= 1; after = ipv4.ttl; ipv4.ttl = ipv4.ttl * 2; last = ipv4.ttl;
      if ipv4.ttl == 126 { ipv4.dscp = 3; }
      send b;
    """
    outcome = one(nf(body, "state { before: u8; after: u8; last: u8; }"), ethernet(ipv4(udp(b"x"))))
    assert outcome.state == {"before": 64, "after": 63, "last": 126}
    assert outcome.bytes == [ethernet(ipv4(udp(b"x"), ttl=126, tos=3 << 2))]


def test_L5_2_fields_beside_a_written_one_keep_their_values() -> None:
    body = "require ipv4; ipv4.dscp = 63; ecn = ipv4.ecn; ihl = ipv4.ihl; send b;"
    outcome = one(nf(body, "state { ecn: bit<2>; ihl: bit<4>; }"), ethernet(ipv4(udp(b"x"), tos=0x02)))
    assert outcome.state == {"ecn": 2, "ihl": 5}
    assert outcome.bytes == [ethernet(ipv4(udp(b"x"), tos=0xFE))]


def test_L5_2_values_len_and_payload_keep_what_they_were_at_arrival() -> None:
    body = """
      require l4 and ipv4 else drop "no";
      ipv4.src = 9.9.9.9; l4.sport = 9; truncate 40B;
      source = flow.src; port_was = flow.sport; again = l4.sport;
      whole = len; inside = payload.len; start = payload[0..4];
      send b;
    """
    items = "state { source: ipv6; port_was: u16; whole: bytes; inside: bytes; start: u32; again: u16; }"
    state = one(nf(body, items), ethernet(ipv4(udp(b"ABCD", sport=1000), src="10.0.0.1"))).state
    assert state == {
        "source": number("::ffff:10.0.0.1"),
        "port_was": 1000,
        "whole": 46,
        "inside": 4,
        "start": 0x41424344,
        "again": 9,
    }


def test_L5_2_header_names_mean_the_headers_as_parsed() -> None:
    # the pushed IPv4 header is not `ipv4`, and the popped tag is still there to read
    body = """
      require ipv4 and vlan[0] else drop "no";
      push ipv4 { src: 1.1.1.1, dst: 2.2.2.2 } before ipv4;
      pop vlan[0];
      source = ipv4.src; tag = vlan[0].vid; still = vlan[0];
      ipv4.ttl = 7;
      send b;
    """
    outcome = one(
        nf(body, "state { source: ipv4; tag: bit<12>; still: bool; }"), ethernet(vlan(ipv4(udp(b"x")), 77), 0x8100)
    )
    assert outcome.state == {"source": number("10.0.0.1"), "tag": 77, "still": True}
    assert outcome.bytes == [ethernet(ipv4(ipv4(udp(b"x"), ttl=7), "1.1.1.1", "2.2.2.2", protocol=4))]


def test_L5_2_each_packet_and_each_copy_begins_anew() -> None:
    text = nf("require ipv4; seen = ipv4.ttl; ipv4.ttl = 1; send {a, b};", "state { seen: u8; }")
    frame = ethernet(ipv4(udp(b"x")))
    outcome = run(text, [(0, "a", frame), (1, "a", frame)])
    assert outcome.state["seen"] == 64 and outcome.bytes == [ethernet(ipv4(udp(b"x"), ttl=1))] * 4


# ---------------------------------------------------------------- L5.3


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("if ipv4 { n = 1; }", ipv4(udp(b""))),
        ("if l4 { n = 1; }", ipv6(tcp(b""))),
        ("if ip and not ipv4 { n = 1; }", ipv6(b"", next_header=59)),
        ("if icmp.quoted.ipv4 { n = 1; }", ipv4(icmp(ipv4(udp(b"")), type=3))),
        ("if icmpv6.quoted.l4 { n = 1; }", ipv6(icmpv6(ipv6(udp(b"")), type=1))),
    ],
)
def test_L5_3_a_header_or_group_is_a_condition(body: str, kind: bytes) -> None:
    text = nf(body + " send b;", "state { n: u8; }")
    assert one(text, ethernet(kind)).state["n"] == 1
    assert one(text, ethernet(b"", 0x9999)).state["n"] == 0


ALLOWED = [
    "if ipv4 { x = ipv4.ttl; }",
    "if ipv4 { } else if ipv6 { x = ipv6.hop_limit; }",
    "if not ipv4 { } else { x = ipv4.ttl; }",
    "if ipv4 and ipv4.ttl == 1 { x = ipv4.ttl; }",
    "if not ipv4 or ipv4.ttl == 1 { }",
    "x = if ipv4 { ipv4.ttl } else { 0 };",
    "require ipv4; x = ipv4.ttl;",
    "require not vlan[0] and ipv4; x = ipv4.ttl;",
    'if not ipv4 { drop "x"; } x = ipv4.ttl;',
    'if ipv6 { drop "x"; } if l4 { x = ipv4.ttl; }',  # l4 is behind one of the two
    "require l4; require not udp; x = tcp.urg as u8;",
    "require tcp or udp; y = l4.sport;",
    "if tcp { y = l4.dport; }",  # a member of the group
    "if l4 { if tcp { } else { y = udp.sport; } }",
    "if tcp { ethernet.src = 00:00:00:00:00:00; x = ip.dscp as u8; }",  # what comes before it on every path
    "if vlan[1] { z = vlan[0].vid; }",
    "if icmp.quoted.udp { y = icmp.quoted.udp.sport; x = icmp.type; z = icmp.quoted.ipv4.fragment_offset[11:0]; }",
    "require ipv4; helper();",
    "for i in 0..3 { if ipv4 { x = ipv4.ttl; } }",
    'if ipv4 { if ipv4.ttl == 0 { drop "x"; } x = ipv4.ttl; }',
    "if (ipv4 and true) or false { x = ipv4.ttl; }",
]
FORBIDDEN = [
    "x = ipv4.ttl;",
    "ipv4.ttl = 1;",
    "if ipv4 { } x = ipv4.ttl;",
    "if ipv4 { } else { x = ipv4.ttl; }",
    "if ipv4 or ipv6 { x = ipv4.ttl; }",
    "if ipv4.ttl == 1 { }",
    "if ipv4 or ipv4.ttl == 1 { }",
    "x = if ipv4 { 1 } else { ipv4.ttl };",
    "require ipv6; x = ipv4.ttl;",
    "require not ipv4; x = ipv4.ttl;",
    "require ip; x = ip.ttl;",
    "require ipv4; y = l4.sport;",
    "require l4; y = tcp.sport;",
    "if tcp { x = ipv4.ttl; }",
    "if vlan[0] { z = vlan[1].vid; }",
    "if icmp { y = icmp.quoted.udp.sport; }",
    "for i in 0..3 { x = ipv4.ttl; }",
    "x = if true or ipv4 { ipv4.ttl } else { 0 };",
]
ITEMS = "state { x: u8; y: u16; z: bit<12>; } action helper() { x = ipv4.ttl; }"


def all_of(bodies: list[str]) -> str:
    """A spec that runs body k on the k-th packet (counted from 0), each on a line of its own."""
    lines = "\n".join(f'if turn == {k} {{ turn += 1; {body} drop "end"; }}' for k, body in enumerate(bodies))
    return nf(lines + "\nbounce;", ITEMS + "state { turn: u8; }")


def test_L5_3_fields_of_headers_that_are_surely_valid() -> None:
    assert errors(all_of(ALLOWED)) == []


def test_L5_3_no_field_of_a_header_that_may_be_absent() -> None:
    text = all_of(FORBIDDEN)
    found = diagnostics(text)
    assert {d.code for d in found} == {"E0404", "E0402"}
    assert [d.code for d in found].count("E0402") == 1  # `ip.ttl`: a group has only common fields
    lines = {text.count("\n", 0, d.span.start) for d in found if d.span is not None}
    first = text.count("\n", 0, text.index("if turn == 0"))
    assert lines == set(range(first, first + len(FORBIDDEN)))


def test_L5_3_not_in_an_action_either() -> None:
    assert errors(nf("helper(); bounce;", ITEMS)) == ["E0404"]


def test_L5_3_relevant_with_else_makes_headers_sure() -> None:
    assert (
        errors(
            nf(
                "x = ipv4.ttl; y = l4.sport; bounce;",
                ITEMS.split(" action")[0] + 'relevant ipv4.ttl, l4.sport else drop "x";',
            )
        )
        == []
    )
    assert errors(nf("x = ipv4.ttl; bounce;", "state { x: u8; } relevant ipv4.ttl when ipv4;")) == ["E0404"]


@pytest.mark.parametrize(
    "frame",
    [
        ethernet(ipv4(udp(b"x"))),
        ethernet(ipv6(tcp(b"x"))),
        ethernet(vlan(ipv4(icmp(b""))), 0x8100),
        ethernet(b"", 0x9999),
        b"",
    ],
)
def test_L5_3_what_is_allowed_never_fails(frame: bytes) -> None:
    outcome = run(all_of(ALLOWED), [(0, "a", frame)] * len(ALLOWED))
    assert outcome.state["turn"] == len(ALLOWED) and not outcome.left


# ---------------------------------------------------------------- L5.6

ORDER = """use net.l4;
nf order {
  port a, b, deaf;
  relevant ipv4.ttl, l4.sport else drop "lacking";
  state { handled: u8; }
  on packet from a { handled += 1; if ipv4.ttl == 1 { drop "ttl"; } send b; }
  on packet from b { if l4.sport == 0 { bounce; } bounce; }
}
"""


@pytest.mark.parametrize(
    ("port", "frame", "dropped", "handled"),
    [
        ("deaf", ethernet(ipv4(udp(b"x")))[:-1], "no handler", 0),  # also short
        ("deaf", ethernet(ipv6(udp(b"x"))), "no handler", 0),  # also lacking
        ("a", ethernet(ipv6(udp(b"x")))[:-1], "lacking", 0),  # also short
        ("a", ethernet(ipv4(udp(b"x"), ttl=1))[:-1], "ttl", 1),  # also short
        ("a", ethernet(ipv4(udp(b"x")))[:-1], "short frame", 1),
        ("a", ethernet(ipv4(udp(b"x"))), None, 1),
    ],
)
def test_L5_6_the_order_of_reasons(port: str, frame: bytes, dropped: str | None, handled: int) -> None:
    outcome = one(ORDER, frame, port)
    assert outcome.dropped == ({} if dropped is None else {dropped: 1})
    assert outcome.state["handled"] == handled and len(outcome.left) == (dropped is None)


def test_L5_6_a_packet_that_lacks_a_header_is_sent_on_only_if_it_is_whole() -> None:
    text = ORDER.replace('else drop "lacking"', "else send b")
    frame = ethernet(ipv6(udp(b"x")))
    assert one(text, frame).bytes == [frame] and one(text, frame[:-1]).dropped == {"short frame": 1}
    assert one(text, frame + ip("::")).bytes == [frame]  # without its trailer
