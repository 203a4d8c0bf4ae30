"""The verifier of checksums on the wire, against dpkt, a second verifier written apart from it, and real captures."""

from __future__ import annotations

import struct
from pathlib import Path

import dpkt
import pytest
from tests.semantics.verify import verify

from polysome.captures.errors import CaptureError
from polysome.captures.read import open_capture
from polysome.testing.wire import checksums, network_end, ones_sum, wrong_checksums

CAPTURES = Path(__file__).resolve().parents[3] / "shared" / "captures" / "ndpi"

A4, B4 = bytes([10, 0, 0, 1]), bytes([192, 0, 2, 7])
A6, B6 = bytes(15) + b"\1", b"\x20\x01" + bytes(13) + b"\7"
MACS = bytes.fromhex("020000000001 020000000002")


def tcp(payload: bytes = b"odd") -> dpkt.tcp.TCP:
    return dpkt.tcp.TCP(sport=1234, dport=80, seq=7, flags=16, opts=b"\1\1\1\0", data=payload)


def udp(payload: bytes = b"payload", dport: int = 53) -> dpkt.udp.UDP:
    datagram = dpkt.udp.UDP(sport=999, dport=dport, data=payload)
    datagram.ulen = 8 + len(payload)
    return datagram


def ipv4(protocol: int, payload: object, opts: bytes = b"", **fields: int) -> dpkt.ip.IP:
    packet = dpkt.ip.IP(src=A4, dst=B4, p=protocol, ttl=9, data=payload, opts=opts, **fields)
    packet.hl = 5 + len(opts) // 4
    packet.len = len(packet)
    return dpkt.ip.IP(bytes(packet))


def ipv6(protocol: int, payload: object) -> dpkt.ip6.IP6:
    packet = dpkt.ip6.IP6(src=A6, dst=B6, nxt=protocol, hlim=9, data=payload, plen=len(payload))  # type: ignore[arg-type]
    packet.extension_hdrs = {}
    return packet


def frame(packet: object, kind: int = 0x0800, tags: bytes = b"") -> bytes:
    return MACS + tags + struct.pack(">H", kind) + bytes(packet)  # type: ignore[call-overload]


def vxlan(inner: bytes, zero: bool) -> bytes:
    data = bytes.fromhex("0800000000002a00") + inner
    outer = bytearray(frame(ipv4(17, udp(data, 4789))))
    if zero:
        outer[40:42] = b"\0\0"
    return bytes(outer)


def with_extension(kind: int, header: bytes) -> bytes:
    """UDP over IPv6 behind an extension header of 8 bytes; `header` is what follows its next header field."""
    plain = bytes(ipv6(17, udp()))
    packet = bytearray(plain[:40] + bytes([17]) + header + plain[40:])
    packet[6] = kind
    packet[4:6] = struct.pack(">H", len(packet) - 40)
    return frame(packet, 0x86DD)


def icmp_error() -> bytes:
    quote = bytes(ipv4(17, udp()))[:28]
    return frame(ipv4(1, dpkt.icmp.ICMP(type=3, code=3, data=bytes(4) + quote)))


def neighbour_solicitation() -> bytes:
    return frame(ipv6(58, dpkt.icmp6.ICMP6(type=135, code=0, data=bytes(4) + B6)), 0x86DD)


TAG = b"\x81\x00\x00\x05"
SERVICE = b"\x88\xa8\x00\x06"

FRAMES = {
    "tcp": (frame(ipv4(6, tcp())), ["IPv4 header", "TCP"]),
    "options": (frame(ipv4(6, tcp(), b"\x94\x04\0\0")), ["IPv4 header", "TCP"]),
    "udp": (frame(ipv4(17, udp())), ["IPv4 header", "UDP"]),
    "icmp": (
        frame(ipv4(1, dpkt.icmp.ICMP(type=8, data=dpkt.icmp.ICMP.Echo(id=3, seq=4, data=b"abc")))),
        ["IPv4 header", "ICMP"],
    ),
    "tag": (frame(ipv4(6, tcp()), tags=TAG), ["IPv4 header", "TCP"]),
    "two tags": (frame(ipv4(6, tcp()), tags=SERVICE + TAG), ["IPv4 header", "TCP"]),
    "ipv6 tcp": (frame(ipv6(6, tcp()), 0x86DD), ["TCP"]),
    "ipv6 udp": (frame(ipv6(17, udp()), 0x86DD), ["UDP"]),
    "hop by hop": (with_extension(0, b"\0" + b"\1\4\0\0\0\0"), ["UDP"]),
    "atomic fragment": (with_extension(44, bytes(7)), ["UDP"]),
    "neighbour discovery": (neighbour_solicitation(), ["ICMPv6"]),
    "icmp error": (icmp_error(), ["IPv4 header", "ICMP", "quoted IPv4 header"]),
    "vxlan": (
        vxlan(frame(ipv4(6, tcp())), zero=False),
        ["IPv4 header", "UDP", "inner IPv4 header", "inner TCP"],
    ),
    "vxlan, zero": (
        vxlan(frame(ipv6(17, udp()), 0x86DD), zero=True),
        ["IPv4 header", "UDP", "inner UDP"],
    ),
    "ip in ip": (frame(ipv4(4, ipv4(6, tcp()))), ["IPv4 header", "inner IPv4 header", "inner TCP"]),
}


@pytest.mark.parametrize("name", FRAMES)
def test_what_dpkt_makes_is_right_and_any_change_of_a_checksum_is_wrong(name: str) -> None:
    data, names = FRAMES[name]
    found = checksums(data)
    assert [c.name for c in found] == names
    assert wrong_checksums(data) == ()
    for c in found:
        assert struct.unpack_from(">H", data, c.at)[0] == c.value
        broken = bytearray(data)
        broken[c.at] ^= 0x10
        hit = wrong_checksums(bytes(broken))
        # An outer checksum covers the broken one too, unless it says that there is none.
        around = {"quoted IPv4 header": ["ICMP"], "inner IPv4 header": ["UDP"], "inner TCP": ["UDP"], "inner UDP": []}
        assert list(hit) == [n for n in names if n in [c.name, *around.get(c.name, [])]] or (c.none and not hit)


def test_bytes_covered() -> None:
    """Each byte behind the link header matters to some checksum, but the TTL twice never."""
    data, _ = FRAMES["options"]
    for at in range(14, len(data)):
        broken = bytearray(data)
        broken[at] ^= 0x01
        assert wrong_checksums(bytes(broken)) or at in (16, 17)  # another length: cut, or other bytes are covered


def test_zero_is_none_over_ipv4_only() -> None:
    four, six = bytearray(FRAMES["udp"][0]), bytearray(FRAMES["ipv6 udp"][0])
    four[40:42] = six[60:62] = b"\0\0"
    assert wrong_checksums(bytes(four)) == ()
    assert wrong_checksums(bytes(six)) == ("UDP",)
    six[56:58] = struct.pack(">H", 6081)
    assert wrong_checksums(bytes(six)) == (), "a tunnel's (RFC 6935)"
    six[56:58] = struct.pack(">H", 6082)
    assert wrong_checksums(bytes(six)) == ("UDP",)


def test_where_the_network_packet_ends() -> None:
    for data, _ in FRAMES.values():
        assert network_end(data) == network_end(data + b"trailer") == len(data)
        assert network_end(data[:-1]) == len(data) - 1


def test_how_wrong_is_kept_by_an_incremental_update() -> None:
    data = bytearray(FRAMES["tcp"][0])
    data[50] ^= 0xFF
    before = checksums(bytes(data))[0].residual
    data[22] -= 1  # TTL
    old, new = struct.unpack_from(">H", data, 24)[0], 0
    new = 0xFFFF - ((0xFFFF - old - 0x0100) % 0xFFFF or 0xFFFF)
    data[24:26] = struct.pack(">H", new)
    assert checksums(bytes(data))[0].residual == before


@pytest.mark.parametrize("flags", [0x2000, 0x0001, 0x2005])
def test_fragments_have_no_layer_4(flags: int) -> None:
    data = bytearray(FRAMES["tcp"][0])
    data[20:22] = struct.pack(">H", flags)
    data[24:26] = b"\0\0"
    data[24:26] = struct.pack(">H", 0xFFFF - ones_sum(bytes(data[14:34])))
    assert [c.name for c in checksums(bytes(data))] == ["IPv4 header"]
    assert wrong_checksums(bytes(data)) == ()


@pytest.mark.parametrize(
    "header",
    [b"\0\0\1" + bytes(4), b"\0\0\x08" + bytes(4), b"\x09" + bytes(6)],
    ids=["more fragments", "later fragment", "longer than the packet"],
)
def test_what_cannot_be_told_behind_extension_headers(header: bytes) -> None:
    kind = 0 if header[0] == 9 else 44
    assert checksums(with_extension(kind, header)) == ()


def test_a_source_route_under_way_is_left_out() -> None:
    assert checksums(with_extension(43, b"\0\0\1" + bytes(4))) == ()
    assert len(checksums(with_extension(43, b"\0\0\0" + bytes(4)))) == 1


@pytest.mark.parametrize("name", FRAMES)
def test_cut_anywhere_it_does_not_fail_and_says_nothing_wrong(name: str) -> None:
    data, _ = FRAMES[name]
    assert all(wrong_checksums(data[:n]) == () for n in range(len(data)))


def test_trailers_are_no_part() -> None:
    assert all(wrong_checksums(data + b"\xaa\x55\xaa") == () for data, _ in FRAMES.values())


NAMES = {"ipv4": "IPv4 header", "tcp": "TCP", "udp": "UDP", "icmp": "ICMP", "icmpv6": "ICMPv6"}


def second_opinion(data: bytes) -> dict[str, bool]:
    """What the other verifier says, of what both judge."""
    found = {}
    for name, right in verify(data).right.items():
        *prefix, last = name.split(".")
        if last in NAMES:
            found[" ".join([*prefix, NAMES[last]])] = right
    return found


@pytest.mark.skipif(not CAPTURES.is_dir(), reason="the folder of real captures is not here")
def test_real_captures() -> None:
    """The first frames of each: both verifiers say the same wherever both judge, and most checksums are right."""
    judged = disagree = right = 0
    for path in sorted(CAPTURES.glob("*.pcap*")):
        try:
            for n, captured in enumerate(open_capture(path)):
                if n == 60:
                    break
                mine = {c.name: c.right for c in checksums(captured.data)}
                for name, fine in second_opinion(captured.data).items():
                    if name in mine:
                        judged += 1
                        right += fine
                        disagree += fine != mine[name]
        except CaptureError:
            continue
    assert judged > 5000 and right > 0.5 * judged
    assert disagree == 0
