"""LANGUAGE.md L5.4 and L5.5: flows of the standard library, and captures that name no port."""

from __future__ import annotations

import struct

import pytest

from polysome.engines.feed import Turns
from rules.harness import nf, run, start
from rules.packets import (
    AH,
    DESTINATION,
    ESP,
    FRAGMENT,
    HOP_BY_HOP,
    ICMP,
    ICMPV6,
    ROUTING,
    TCP,
    UDP,
    ethernet,
    extension,
    fragment6,
    icmp,
    icmpv6,
    ipv4,
    ipv6,
    number,
    tcp,
    udp,
    vlan,
)

Five = tuple[int, int, int, int, int]
MORE = 0x2000  # the flag `more fragments` of IPv4
FLOWS = nf(
    "f = flow; q = quoted_flow; part = fragment; send b;",
    "state { f: Flow; q: Flow; part: bool; }",
)


def four(sport: int, dport: int, protocol: int, src: str = "10.0.0.1", dst: str = "10.0.0.2") -> Five:
    """The flow of an IPv4 packet: IPv4-mapped addresses, ::ffff:a.b.c.d."""
    return (0xFFFF << 32 | number(src), 0xFFFF << 32 | number(dst), sport, dport, protocol)


def six(sport: int, dport: int, protocol: int, src: str = "2001:db8::1", dst: str = "2001:db8::2") -> Five:
    return (number(src), number(dst), sport, dport, protocol)


NONE: Five = (0, 0, 0, 0, 0)
SEGMENT = tcp(b"data").data  # without the right checksum: nobody looks at it
ROUTE = b"\0\0" + bytes(4)  # a routing header's content: type, segments left 0, 4 bytes


@pytest.mark.parametrize(
    ("packet", "flow"),
    [
        (ipv4(tcp(b"x", 1000, 80)), four(1000, 80, TCP)),
        (ipv4(udp(b"x", 1000, 53), options=b"\1" * 4), four(1000, 53, UDP)),
        (ipv4(icmp(type=8, identifier=7)), four(7, 7, ICMP)),
        (ipv4(icmp(type=0, identifier=7)), four(7, 7, ICMP)),
        (ipv4(icmp(type=13, identifier=7)), four(0, 0, ICMP)),  # not an echo
        (ipv4(icmp(ipv4(udp()), type=3, identifier=7)), four(0, 0, ICMP)),
        (ipv4(bytes(16), protocol=ESP), four(0, 0, ESP)),
        (ipv4(bytes(16), protocol=132), four(0, 0, 132)),
        (ipv4(SEGMENT[:10], protocol=TCP), four(0, 0, TCP)),  # TCP does not fit: absent parts are 0
        (ipv4(bytes([TCP, 1]) + bytes(10) + SEGMENT, protocol=AH), four(0, 0, AH)),  # what follows AH is opaque
        (ipv6(tcp(b"x", 1000, 80)), six(1000, 80, TCP)),
        (ipv6(udp(b"x", 1000, 53)), six(1000, 53, UDP)),
        (ipv6(icmpv6(type=128, identifier=7)), six(7, 7, ICMPV6)),
        (ipv6(icmpv6(type=129, identifier=7)), six(7, 7, ICMPV6)),
        (ipv6(icmpv6(type=135, identifier=7)), six(0, 0, ICMPV6)),
        (ipv6(b"", next_header=59), six(0, 0, 59)),
        # IPv6 extension headers: the protocol behind the last of them
        (ipv6(udp(b"x"), next_header=HOP_BY_HOP, extensions=extension(UDP)), six(1000, 53, UDP)),
        (
            ipv6(tcp(), next_header=DESTINATION, extensions=extension(ROUTING) + extension(TCP, ROUTE)),
            six(1000, 80, TCP),
        ),
        (
            ipv6(udp(), next_header=HOP_BY_HOP, extensions=extension(DESTINATION) * 3 + extension(UDP)),
            six(1000, 53, UDP),
        ),
        # a fifth is opaque: the protocol is the one that the fourth says
        (
            ipv6(udp(), next_header=HOP_BY_HOP, extensions=extension(DESTINATION) * 4 + extension(UDP)),
            six(0, 0, DESTINATION),
        ),
        (ipv6(bytes(16), next_header=DESTINATION, extensions=extension(ESP)), six(0, 0, ESP)),
        # a routing header with segments left is opaque (RFC 8200, section 8.1)
        (ipv6(tcp(), next_header=ROUTING, extensions=extension(TCP, b"\0\1" + bytes(4))), six(0, 0, ROUTING)),
        (
            ipv6(tcp(), next_header=DESTINATION, extensions=extension(ROUTING) + extension(TCP, b"\0\1" + bytes(4))),
            six(0, 0, ROUTING),
        ),
    ],
)
def test_L5_4_flow_is_the_five_tuple_of_every_packet(packet: bytes, flow: Five) -> None:
    for frame in (ethernet(packet), ethernet(vlan(packet), 0x8100)):
        assert run(FLOWS, [(0, "a", frame)]).state["f"] == flow


ARP = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + bytes(20)


@pytest.mark.parametrize(
    "frame", [b"", b"short", ethernet(ARP, 0x0806), ethernet(b"", 0x88CC), ethernet(ipv4(tcp())[:19], 0x0800)]
)
def test_L5_4_without_ip_it_is_all_0(frame: bytes) -> None:
    state = run(FLOWS, [(0, "a", frame)]).state
    assert state["f"] == state["q"] == NONE and state["part"] is False


@pytest.mark.parametrize(
    ("packet", "flow", "part"),
    [
        (ipv4(udp(b"x" * 8), fragment=MORE), four(1000, 53, UDP), True),  # the first has the ports
        (ipv4(b"x" * 8, protocol=UDP, fragment=MORE | 2), four(0, 0, UDP), True),
        (ipv4(b"x" * 8, protocol=UDP, fragment=2), four(0, 0, UDP), True),
        (ipv4(udp(b"x"), fragment=0x4000), four(1000, 53, UDP), False),  # only `don't fragment`
        (ipv6(udp(b"x"), next_header=FRAGMENT, extensions=fragment6(UDP, more=1)), six(1000, 53, UDP), True),
        (ipv6(b"x" * 8, next_header=FRAGMENT, extensions=fragment6(UDP, 2, 1)), six(0, 0, UDP), True),
        (ipv6(b"x" * 8, next_header=FRAGMENT, extensions=fragment6(UDP, 2)), six(0, 0, UDP), True),
        (ipv6(udp(b"x"), next_header=FRAGMENT, extensions=fragment6(UDP)), six(1000, 53, UDP), False),  # RFC 6946
        (
            ipv6(udp(b"x"), next_header=HOP_BY_HOP, extensions=extension(FRAGMENT) + fragment6(UDP)),
            six(1000, 53, UDP),
            False,
        ),
    ],
)
def test_L5_4_fragment_says_whether_the_packet_is_part_of_a_larger_one(packet: bytes, flow: Five, part: bool) -> None:
    state = run(FLOWS, [(0, "a", ethernet(packet))]).state
    assert (state["f"], state["part"]) == (flow, part)


def test_L5_4_as_a_class_every_fragment_has_ports_0() -> None:
    # `reframe` sends class by class. Classes: the whole datagram; the two fragments; TCP. So 0, then 1 and 3, then 2.
    frames = [
        ethernet(ipv4(udp(b"x" * 8))),
        ethernet(ipv4(udp(b"x" * 8), fragment=MORE)),
        ethernet(ipv4(tcp(b""))),
        ethernet(ipv4(b"x" * 8, protocol=UDP, fragment=2)),
    ]
    text = nf("send b;", "schedule { class flow; reframe 1s, 4; }")
    outcome = run(text, [(i, "a", frame) for i, frame in enumerate(frames)])
    assert [order for _, _, _, order in outcome.left] == [0, 1, 3, 2]


@pytest.mark.parametrize(
    ("quote", "flow"),
    [
        (ipv4(udp(b"x", 1000, 53)), four(1000, 53, UDP)),
        (ipv4(tcp(b"x", 1000, 80))[:28], four(1000, 80, TCP)),  # the least there is: 8 bytes behind the IP header
        (ipv4(tcp(b"x", 1000, 80))[:24], four(1000, 80, TCP)),  # the ports are there
        (ipv4(tcp(b"x", 1000, 80))[:23], four(0, 0, TCP)),  # the second port is cut
        (ipv4(tcp(b"x", 1000, 80))[:20], four(0, 0, TCP)),
        (ipv4(tcp(b"x", 1000, 80))[:19], NONE),
        (ipv4(tcp(b"x", 1000, 80), options=b"\1" * 8)[:36], four(1000, 80, TCP)),
        (ipv4(icmp(b"x", type=8, identifier=9)), four(9, 9, ICMP)),
        (ipv4(icmp(b"x", type=8, identifier=9))[:26], four(9, 9, ICMP)),  # type … identifier: 6 bytes
        (ipv4(icmp(b"x", type=8, identifier=9))[:25], four(0, 0, ICMP)),  # its low byte is missing: reads 9 >> 8 = 0
        (ipv4(b"x" * 8, protocol=UDP, fragment=2), four(0, 0, UDP)),
        (ipv4(bytes(8), protocol=ESP), four(0, 0, ESP)),
    ],
)
@pytest.mark.parametrize("type", [3, 4, 5, 11, 12])
def test_L5_4_quoted_flow_of_icmp_errors(quote: bytes, flow: Five, type: int) -> None:
    frame = ethernet(ipv4(icmp(quote, type=type, identifier=0, sequence=0), src="192.0.2.9"))
    state = run(FLOWS, [(0, "a", frame)]).state
    assert state["q"] == flow and state["f"] == four(0, 0, ICMP, "192.0.2.9")


@pytest.mark.parametrize(
    ("quote", "flow"),
    [
        (ipv6(udp(b"x", 1000, 53)), six(1000, 53, UDP)),
        (ipv6(udp(b"x", 1000, 53))[:44], six(1000, 53, UDP)),
        (ipv6(udp(b"x", 1000, 53))[:43], six(0, 0, UDP)),
        (ipv6(udp(b"x", 1000, 53))[:39], NONE),
        (ipv6(icmpv6(b"x", type=128, identifier=9)), six(9, 9, ICMPV6)),
        (
            ipv6(udp(b"x"), next_header=HOP_BY_HOP, extensions=extension(UDP)),
            six(0, 0, HOP_BY_HOP),
        ),  # opaque in a quote
    ],
)
@pytest.mark.parametrize("type", [1, 2, 3, 4])
def test_L5_4_quoted_flow_of_icmpv6_errors(quote: bytes, flow: Five, type: int) -> None:
    frame = ethernet(ipv6(icmpv6(quote, type=type, identifier=0, sequence=0)))
    assert run(FLOWS, [(0, "a", frame)]).state["q"] == flow


@pytest.mark.parametrize("type", [0, 8, 13])
def test_L5_4_what_is_no_error_quotes_nothing(type: int) -> None:
    assert run(FLOWS, [(0, "a", ethernet(ipv4(icmp(ipv4(udp()), type=type))))]).state["q"] == NONE


def test_L5_4_reversed_swaps_the_ends() -> None:
    text = nf("r = flow.reversed; again = flow.reversed.reversed == flow; send b;", "state { r: Flow; again: bool; }")
    state = run(text, [(0, "a", ethernet(ipv4(udp(b"", 1000, 53))))]).state
    assert state == {"r": four(53, 1000, UDP, "10.0.0.2", "10.0.0.1"), "again": True}


@pytest.mark.parametrize(
    ("src", "dst", "sport", "dport", "swapped"),
    [
        ("10.0.0.1", "10.0.0.2", 9, 1, False),  # the address decides
        ("10.0.0.2", "10.0.0.1", 1, 9, True),
        ("10.0.0.1", "10.0.0.1", 1, 9, False),  # equal: the port
        ("10.0.0.1", "10.0.0.1", 9, 1, True),
        ("10.0.0.1", "10.0.0.1", 5, 5, False),
        ("9.255.255.255", "10.0.0.0", 9, 1, False),
    ],
)
def test_L5_4_canonical_is_the_smaller_of_a_flow_and_its_reverse(
    src: str, dst: str, sport: int, dport: int, swapped: bool
) -> None:
    text = nf("c = flow.canonical; send b;", "state { c: Flow; }")
    found = run(text, [(0, "a", ethernet(ipv4(udp(b"", sport, dport), src, dst)))]).state["c"]
    expected = four(dport, sport, UDP, dst, src) if swapped else four(sport, dport, UDP, src, dst)
    assert found == expected


TUNNEL = nf(
    "f = flow; o = outer_flow; i = inner_flow; send b;", "state { f: Flow; o: Flow; i: Flow; }", use="net.tunnel"
)


def test_L5_4_in_a_tunnel_flow_is_the_innermost() -> None:
    inside = ethernet(ipv4(udp(b"x", 5, 6), "1.1.1.1", "2.2.2.2"))
    vxlan = bytes.fromhex("08000000 00007700")
    state = run(TUNNEL, [(0, "a", ethernet(ipv4(udp(vxlan + inside, 49152, 4789))))]).state
    outer, inner = four(49152, 4789, UDP), four(5, 6, UDP, "1.1.1.1", "2.2.2.2")
    assert state == {"f": inner, "o": outer, "i": inner}
    state = run(TUNNEL, [(0, "a", ethernet(ipv4(ipv6(udp(b"x", 5, 6)), protocol=41)))]).state
    assert state == {"f": six(5, 6, UDP), "o": four(0, 0, 41), "i": six(5, 6, UDP)}
    state = run(TUNNEL, [(0, "a", ethernet(ipv4(udp(b"x", 5, 6))))]).state
    assert state == {"f": four(5, 6, UDP), "o": four(5, 6, UDP), "i": NONE}


@pytest.mark.parametrize("cut", range(14 + 20 + 8 + 8 + 14 + 20 + 8 + 1 + 1))
def test_L5_4_a_tunnel_truncated_at_every_byte(cut: int) -> None:
    inside = ethernet(ipv4(udp(b"x", 5, 6)))
    frame = ethernet(ipv4(udp(bytes.fromhex("08000000 00007700") + inside, 49152, 4789)))
    outcome = run(TUNNEL, [(0, "a", frame[:cut])])
    outer = NONE if cut < 34 else four(49152, 4789, UDP) if cut >= 42 else four(0, 0, UDP)
    inner = NONE if cut < 84 else four(5, 6, UDP) if cut >= 92 else four(0, 0, UDP)
    assert (outcome.state["o"], outcome.state["i"]) == (outer, inner)
    assert outcome.dropped == ({"short frame": 1} if 34 <= cut < len(frame) else {})


# ---------------------------------------------------------------- L5.5


def turns(frames: list[bytes], handlers: str, ports: str = "p, q, r") -> list[str]:
    machine, _ = start(f"use net.l4;\nnf n {{ port {ports}; {handlers} }}")
    chosen = Turns(machine)
    return [machine.program.ports[chosen.port(frame)] for frame in frames]


def conversation(n: int, back: bool = False) -> bytes:
    """A packet of the n-th conversation, or the answer to it."""
    if back:
        return ethernet(ipv4(udp(b"", 53, 1000 + n), "10.0.0.2", "10.0.0.1"))
    return ethernet(ipv4(udp(b"", 1000 + n, 53)))


ALL = "on packet { bounce; }"


def test_L5_5_the_first_packet_of_each_conversation_takes_the_next_port_in_turn() -> None:
    assert turns([conversation(n) for n in range(5)], ALL) == ["p", "q", "r", "p", "q"]


def test_L5_5_the_same_flow_the_same_port_and_the_reverse_the_port_after_it() -> None:
    frames = [
        conversation(0),
        conversation(0),
        conversation(0, True),
        conversation(1),
        conversation(1, True),
        conversation(0),
    ]
    assert turns(frames, ALL) == ["p", "p", "q", "q", "r", "p"]
    # of the last port, the port after it is the first
    frames = [*(conversation(n) for n in range(3)), conversation(2, True), conversation(2, True), conversation(2)]
    assert turns(frames, ALL) == ["p", "q", "r", "p", "p", "r"]


def test_L5_5_an_answer_takes_no_turn() -> None:
    frames = [conversation(0), conversation(0, True), conversation(1), conversation(1, True), conversation(2)]
    assert turns(frames, ALL) == ["p", "q", "q", "r", "r"]


def test_L5_5_a_packet_without_a_flow_takes_the_next_port() -> None:
    arp = ethernet(ARP, 0x0806)
    assert turns([arp, arp, conversation(0), arp, conversation(0), arp], ALL) == ["p", "q", "r", "p", "r", "q"]


def test_L5_5_only_handled_ports_count_in_order_of_declaration() -> None:
    handlers = "on packet from r { bounce; } on packet from p { bounce; }"
    assert turns([conversation(n) for n in range(3)], handlers) == ["p", "r", "p"]
    assert turns([conversation(0), conversation(1), conversation(1, True)], handlers) == ["p", "r", "p"]
    assert turns([conversation(0), conversation(0, True), conversation(1)], "on packet from q { bounce; }") == ["q"] * 3


def test_L5_5_fragments_stay_with_their_protocols_flow() -> None:
    # the first fragment has ports and is of the flow; a later one has none, and so is a flow of its own
    first, later = ipv4(udp(b"x" * 8, 1000, 53), fragment=MORE), ipv4(b"x" * 8, protocol=UDP, fragment=2)
    assert turns([conversation(0), ethernet(first), ethernet(later), ethernet(later)], ALL) == ["p", "p", "q", "q"]


def test_L5_5_a_parser_without_a_flow_has_packets_without_flows() -> None:
    text = "header h { x: u8; } parser own { state start { extract h; } } nf n { port p, q; on packet { bounce; } }"
    machine, _ = start(text)
    chosen = Turns(machine)
    assert [chosen.port(b"\1") for _ in range(3)] == [0, 1, 0]
