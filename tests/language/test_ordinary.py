"""Packets that no NF has a reason to refuse beside its own (`stdlib/test/ordinary.nf`), at all edges."""

from __future__ import annotations

import itertools

import pytest
from tests.testing.judge.kit import ethernet, icmp, ipv4, ipv6, judged, run, spec, tcp, udp, vlan

PARSERS = {
    "l4": "use net.l4;",
    "small": "use net.ipv4; use net.ethernet; parser p { state start { extract ethernet; "
    "select ethernet.ether_type { EtherType.ipv4 => v4; } } state v4 { extract ipv4; } }",
}
ONE = ("ordinary", "between_hosts", "goes_on", "begins")
TWO = ("may_answer", "same_flags")
SYN, ACK, FIN, RST, PSH, URG = 2, 16, 1, 4, 8, 32


def says(*frames: bytes, parser: str = "l4") -> set[str]:
    """The functions that say yes of a packet (of two: first and second)."""
    names, packets = (ONE, "p") if len(frames) == 1 else (TWO, "p, q")
    asked = " ".join(f"property {n} {{ for {packets} in trace expect {n}({packets}); }}" for n in names)
    text = f"{PARSERS[parser]} use test.ordinary; nf f {{ port a, b; on packet {{ send b; }} {asked} }}"
    execution = run(spec(text), [(10**9, "a", frame) for frame in frames])
    return {name for name in names if judged(execution, name).failure is None}


def addressed(source: str, destination: str = "") -> bytes:
    six = ":" in source
    return ethernet(
        (ipv6 if six else ipv4)(udp(), src=source, dst=destination or ("2001:db8::9" if six else "10.9.9.9"))
    )


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (ethernet(ipv4(udp(bytes(1294 - 42)))), True),
        (ethernet(ipv4(udp(bytes(1295 - 42)))), False),
        *((ethernet(ipv4(udp(), ttl=ttl)), ttl > 31) for ttl in (0, 1, 2, 31, 32, 255)),
        *((ethernet(ipv6(udp(), hop_limit=limit)), limit > 31) for limit in (0, 1, 2, 31, 32, 255)),
        (ethernet(ipv4(udp(), options=bytes(4))), False),
        (ethernet(ipv4(icmp())), True),
        (ethernet(bytes(40), type=0x0806), False),
        (bytes(13), False),
    ],
)
def test_what_is_ordinary(frame: bytes, expected: bool) -> None:
    assert ("ordinary" in says(frame)) == expected
    if len(frame) > 14 and frame[12:14] == b"\x08\x00":
        assert ("ordinary" in says(frame, parser="small")) == expected


@pytest.mark.parametrize(
    ("addresses", "of_hosts"),
    [
        (("0.0.0.0", "0.255.255.255", "127.0.0.0", "127.255.255.255"), False),
        (("169.254.0.0", "169.254.255.255", "224.0.0.0", "255.255.255.255"), False),
        (("1.0.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "223.255.255.255"), True),
        (("::", "::1", "fe80::", "febf:ffff::", "ff00::", "ffff::1"), False),
        (("::2", "fe7f:ffff::", "fec0::", "feff:ffff::", "2001:db8::1"), True),
    ],
)
def test_addresses_of_hosts(addresses: tuple[str, ...], of_hosts: bool) -> None:
    for address in addresses:
        beside = "2001:db8::9" if ":" in address else "10.9.9.9"
        for frame in (addressed(address), addressed(beside, address)):
            assert ({"ordinary", "between_hosts"} <= says(frame)) == of_hosts, address


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (addressed("10.0.0.1", "10.0.0.1"), False),
        (addressed("2001:db8::1", "2001:db8::1"), False),
        (ethernet(ipv4(udp()), src="03:00:00:00:00:01"), False),
        (ethernet(ipv4(udp()), dst="ff:ff:ff:ff:ff:ff"), False),
        (ethernet(ipv4(udp()), dst="fe:ff:ff:ff:ff:ff"), True),
        (ethernet(vlan(ipv4(udp())), type=0x8100), False),
        (ethernet(vlan(ipv4(udp())), type=0x88A8), False),
        (ethernet(ipv4(udp(), ttl=1, options=bytes(4))), True),
        *(
            (ethernet(ipv4(layer(sport=sport, dport=dport))), bool(sport and dport))
            for layer in (udp, tcp)
            for sport, dport in ((0, 1), (1, 0), (1, 1), (65535, 65535))
        ),
    ],
)
def test_what_goes_between_hosts(frame: bytes, expected: bool) -> None:
    assert ("between_hosts" in says(frame)) == expected


def test_segments_of_tcp_by_their_flags() -> None:
    """All 64 combinations."""
    for flags in range(64):
        said = says(ethernet(ipv4(tcp(flags=flags))))
        assert ("goes_on" in said) == (not flags & (FIN | RST | URG) and bool(flags & (SYN | ACK))), flags
        assert ("begins" in said) == (flags & ~PSH == SYN), flags
    assert {"goes_on", "begins"} <= says(ethernet(ipv4(udp())))


def test_answers_to_segments() -> None:
    """A SYN is answered by SYN and ACK, and what has an ACK alone by the same."""
    kinds = (SYN, SYN | ACK, ACK, ACK | PSH, FIN | ACK, RST, RST | ACK, URG | ACK, 0, PSH)
    right = {(SYN, SYN | ACK), *itertools.product((ACK, ACK | PSH), repeat=2)}
    for first, second in itertools.product(kinds, repeat=2):
        frames = [ethernet(ipv4(tcp(flags=flags))) for flags in (first, second)]
        assert ("may_answer" in says(*frames)) == ((first, second) in right), (first, second)
    assert says(ethernet(ipv4(udp())), ethernet(ipv4(udp()))) == {"may_answer", "same_flags"}


def test_flags_that_are_the_same() -> None:
    """Each of the eight makes a difference; where only the second is a segment, they have not the same."""
    for flags in (0, 0xFF):
        assert "same_flags" in says(*2 * [ethernet(ipv4(tcp(flags=flags)))])
        for bit in range(8):
            pair = [ethernet(ipv4(tcp(flags=flags ^ other))) for other in (0, 1 << bit)]
            assert "same_flags" not in says(*pair), (flags, bit)
    assert "same_flags" not in says(ethernet(ipv4(udp())), ethernet(ipv4(tcp())))


@pytest.mark.parametrize(
    ("ether_type", "is_untagged"), [(0x0800, True), (0x8100, False), (0x88A8, False), (0x88CC, True)]
)
def test_what_is_untagged(ether_type: int, is_untagged: bool) -> None:
    asked = "property one { for p in trace expect untagged(p.in.ethernet.ether_type); }"
    text = f"use net.l4; use test.tags; nf f {{ port a, b; on packet {{ send b; }} {asked} }}"
    execution = run(spec(text), [(10**9, "a", ethernet(bytes(30), type=ether_type))])
    assert (judged(execution, "one").failure is None) == is_untagged
