"""LANGUAGE.md L9.7: packets that the NF makes."""

from __future__ import annotations

import pytest

from rules.harness import Outcome, bare, errors, nf, run
from rules.packets import ethernet, icmp, icmpv6, ipv4, ipv6, udp, vlan

TO_2 = "ethernet { dst: 02:00:00:00:00:02, src: 02:00:00:00:00:01 }"
IP = "ipv4 { src: 10.0.0.1, dst: 10.0.0.2 }"
ARRIVED = ethernet(ipv4(udp(b"abcdefgh")))


def made(body: str, data: bytes = ARRIVED, items: str = "", declarations: str = "") -> list[bytes]:
    outcome = run(nf(body + '\ndrop "done";', items, declarations), [(5, "a", data)])
    assert outcome.dropped == {"done": 1}
    return [packet for _, _, packet in outcome.emitted]


def one(body: str, data: bytes = ARRIVED, declarations: str = "") -> bytes:
    (packet,) = made(body, data, declarations=declarations)
    return packet


def test_L9_7_emit_is_no_verdict() -> None:
    outcome = run(nf(f"emit {TO_2} to b; send a;"), [(5, "b", ARRIVED)])
    assert ([p for p, _, _ in outcome.emitted], outcome.ports) == (["b"], ["a"])
    assert errors(nf(f"emit {TO_2} to b;")) == ["E0609"]


def test_L9_7_headers_come_in_order_then_the_payload() -> None:
    body = f"emit {TO_2}, {IP}, udp {{ sport: 1000, dport: 53 }} payload payload to b;"
    assert one(body) == ARRIVED


def test_L9_7_lengths_and_next_fields_are_computed() -> None:
    body = f"""emit {TO_2}, vlan {{ vid: 9 }}, ipv6 {{ src: ::1, dst: ::2 }}, udp {{ sport: 1, dport: 2 }}
      payload payload[0..3] to b;"""
    assert one(body) == ethernet(vlan(ipv6(udp(b"abc", 1, 2), "::1", "::2"), 9), 0x8100)


def test_L9_7_what_is_not_given_is_the_default_and_a_rest_is_empty() -> None:
    body = f"emit {TO_2}, {IP}, tcp {{ sport: 1, dport: 2, sequence: 3, window: 4 }} to b;"
    packet = one(body)
    assert len(packet) == 14 + 20 + 20
    assert packet[46:48] == bytes([0x50, 0])  # five words, no flags
    assert errors(nf('emit ipv4 { src: 10.0.0.1 } to b; drop "x";')) != []
    assert errors(nf('emit ipv4 { src: 10.0.0.1, dst: 10.0.0.2, checksum: 1 } to b; drop "x";')) == ["E0410"]


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        ("payload", b"abcdefgh"),
        ("payload[2..5]", b"cde"),
        ("payload[0..20]", b"abcdefgh"),  # more than 16 bytes are bytes: cut at the end
        ("payload[6..10]", b"gh\0\0"),  # up to 16 bytes are an integer: bytes beyond the end read 0
        ("0x0102030405 as bit<40>", b"\1\2\3\4\5"),
        ("7 as u8", b"\7"),
        ("packet_from(udp, 10)", udp(b"abcdefgh").under(b"\x0a\0\0\1\x0a\0\0\2\0\x11\0\x10")[:10]),
        ("packet_from(ethernet, 9999)", ARRIVED),
    ],
)
def test_L9_7_payloads(payload: str, expected: bytes) -> None:
    assert one(f"require udp; emit {TO_2} payload {payload} to b;")[14:] == expected


def test_L9_7_integers_of_whole_bytes_only() -> None:
    assert errors(nf(f'emit {TO_2} payload 5 as bit<12> to b; drop "x";')) == ["E0606"]
    assert errors(nf(f'emit {TO_2} payload true to b; drop "x";')) == ["E0606"]


def test_L9_7_packet_from_is_the_packet_as_it_arrived() -> None:
    body = f"require ipv4; ipv4.ttl = 1; pop ethernet; emit {TO_2} payload packet_from(ipv4, 1000) to b;"
    assert one(body)[14:] == ARRIVED[14:]


def test_L9_7_packet_from_ends_with_the_network_packet() -> None:
    body = f"require ipv4; emit {TO_2} payload packet_from(ethernet, 1000) to b;"
    assert one(body, ARRIVED + b"trailer")[14:] == ARRIVED


def test_L9_7_an_icmp_error() -> None:
    body = f"require ipv4; emit {TO_2}, {IP}, icmp {{ type: 11 }} payload packet_from(ipv4, 28) to b;"
    assert one(body) == ethernet(ipv4(icmp(ARRIVED[14:42], 11, 0, 0, 0)))
    body = f"""require ipv6; emit {TO_2}, ipv6 {{ src: ::1, dst: ::2 }}, icmpv6 {{ type: 3 }}
      payload packet_from(ipv6, 1232) to b;"""
    data = ethernet(ipv6(udp(b"abc")))
    assert one(body, data) == ethernet(ipv6(icmpv6(data[14:], 3, 0, 0, 0), "::1", "::2"))


def test_L9_7_fields_are_read_as_last_written() -> None:
    body = f"require ipv4; ipv4.ttl = 7; emit {TO_2}, {IP.replace(' }', ', ttl: ipv4.ttl }')} to b;"
    assert one(body)[22] == 7


def test_L9_7_a_header_of_ones_own() -> None:
    declarations = "header mine { a: bit<4> = 5; b: bit<12>; }"
    body = f"emit {TO_2}, {IP}, udp {{ sport: 1, dport: 2 }}, mine {{ b: 0x123 }} to b;"
    assert one(body, declarations=declarations) == ethernet(ipv4(udp(b"\x51\x23", 1, 2)))


def emissions(spec: str, times: list[int]) -> Outcome:
    return run(spec, [(time, "a", b"\x07") for time in times])


def test_L9_7_it_leaves_at_once_and_past_the_schedule() -> None:
    spec = bare(
        "emit byte0 { first: 1 } to b; send b;",
        "schedule { class byte0.first; reframe 10ns, 64; } relevant byte0.first;",
    )
    outcome = emissions(spec, [0, 20])
    assert outcome.emitted == [("b", 0, b"\1"), ("b", 20, b"\1")]
    assert outcome.left == [("b", 10, b"\x07", 0)]


def test_L9_7_timers_and_ends_of_entries_emit_too() -> None:
    items = """state { m: map<u8, u8> { capacity 4; idle 3ns; when full drop; } }
      on end m(k, v, why) { emit byte0 { first: k } to b; }
      every 5ns { emit byte0 { first: 99 } to a; }"""
    outcome = emissions(bare('m[8] = 1; drop "x";', items), [0, 6])
    assert outcome.emitted == [("b", 3, b"\x08"), ("a", 5, b"\x63")]


def test_L9_7_it_is_counted_apart() -> None:
    outcome = emissions(bare("emit byte0 { first: 1 } to b; emit byte0 { first: 2 } to a; send b;"), [0])
    counters = outcome.counters
    assert (counters.packets_in, counters.sent, counters.copies, counters.emitted) == (1, 1, 1, 2)


def test_L9_7_emitted_although_the_packet_is_dropped() -> None:
    outcome = emissions(bare('emit byte0 { first: 1 } to b; drop "x";'), [0])
    assert (outcome.dropped, len(outcome.emitted)) == ({"x": 1}, 1)
    trapped = emissions(bare("emit byte0 { first: 1 } to b; t[9] = 1; send b;", "state { t: array<u8>[2]; }"), [0])
    assert len(trapped.emitted) == 1 and trapped.left == []
