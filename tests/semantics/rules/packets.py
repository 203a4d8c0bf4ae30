"""Builds packets, apart from the compiler: header layouts from the RFCs by `struct`, checksums in full (RFC 1071).

`frame = ethernet(ipv4(tcp(b"data", sport=1000), src="10.0.0.1"))`. What a layer-4 function returns knows where its
checksum is; the IP header around it fills that in, because the pseudo header is the IP header's.
"""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass

ICMP, TCP, UDP, ESP, AH, ICMPV6 = 1, 6, 17, 50, 51, 58
HOP_BY_HOP, ROUTING, FRAGMENT, DESTINATION = 0, 43, 44, 60
ETHER_IPV4, ETHER_ARP, ETHER_VLAN, ETHER_QINQ, ETHER_IPV6 = 0x0800, 0x0806, 0x8100, 0x88A8, 0x86DD
ETHERNET, IPV4, IPV6 = 14, 20, 40  # lengths of the headers without options


def checksum(data: bytes) -> int:
    """RFC 1071: the one's complement of the one's complement sum of the 16-bit words, a zero byte behind an odd one."""
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))


def ip(text: str) -> bytes:
    return ipaddress.ip_address(text).packed


def number(text: str) -> int:
    """An address as the interpreter has it."""
    return int.from_bytes(mac(text) if text.count(":") == 5 and "::" not in text else ip(text))


@dataclass(frozen=True)
class Layer4:
    """A layer-4 packet with zeros for its checksum, which is at byte `at` (None: none, or it stays as it is)."""

    protocol: int
    data: bytes
    at: int | None
    pseudo: bool = True

    def under(self, pseudo: bytes) -> bytes:
        """The bytes, with the checksum over `pseudo` and them."""
        if self.at is None:
            return self.data
        found = checksum((pseudo if self.pseudo else b"") + self.data)
        if self.protocol == UDP and found == 0:
            found = 0xFFFF  # RFC 768: zero would mean that there is none
        return self.data[: self.at] + struct.pack("!H", found) + self.data[self.at + 2 :]


# ---------------------------------------------------------------- layer 4


def tcp(
    payload: bytes = b"",
    sport: int = 1000,
    dport: int = 80,
    flags: int = 0x10,
    sequence: int = 1,
    acknowledgement: int = 2,
    window: int = 0x2000,
    options: bytes = b"",
    check: int | None = None,
) -> Layer4:
    """RFC 9293. `flags`: FIN 1, SYN 2, RST 4, PSH 8, ACK 16. A given `check` stays as it is."""
    words = 5 + len(options) // 4
    head = struct.pack("!HHIIBBHHH", sport, dport, sequence, acknowledgement, words << 4, flags, window, check or 0, 0)
    return Layer4(TCP, head + options + payload, None if check is not None else 16)


def udp(
    payload: bytes = b"", sport: int = 1000, dport: int = 53, length: int | None = None, check: int | None = None
) -> Layer4:
    """RFC 768. A given `check` (0: none) or `length` stays as it is."""
    length = 8 + len(payload) if length is None else length
    return Layer4(
        UDP, struct.pack("!HHHH", sport, dport, length, check or 0) + payload, None if check is not None else 6
    )


def icmp(payload: bytes = b"", type: int = 8, code: int = 0, identifier: int = 7, sequence: int = 1) -> Layer4:
    """RFC 792, an echo request by default."""
    return Layer4(ICMP, struct.pack("!BBHHH", type, code, 0, identifier, sequence) + payload, 2, pseudo=False)


def icmpv6(payload: bytes = b"", type: int = 128, code: int = 0, identifier: int = 7, sequence: int = 1) -> Layer4:
    """RFC 4443, an echo request by default."""
    return Layer4(ICMPV6, struct.pack("!BBHHH", type, code, 0, identifier, sequence) + payload, 2)


# ---------------------------------------------------------------- layers 3 and 2


def ipv4(
    inner: Layer4 | bytes,
    src: str = "10.0.0.1",
    dst: str = "10.0.0.2",
    protocol: int | None = None,
    ttl: int = 64,
    tos: int = 0,
    identification: int = 0,
    fragment: int = 0,
    options: bytes = b"",
    total_length: int | None = None,
    check: int | None = None,
) -> bytes:
    """RFC 791. `fragment` is the 16 bits of flags (DF 0x4000, MF 0x2000) and offset in 8-byte units."""
    if isinstance(inner, Layer4):
        protocol = inner.protocol if protocol is None else protocol
        inner = inner.under(ip(src) + ip(dst) + struct.pack("!HH", inner.protocol, len(inner.data)))
    size = 20 + len(options)
    length = size + len(inner) if total_length is None else total_length
    first = struct.pack("!BBHHHBB", 0x40 + size // 4, tos, length, identification, fragment, ttl, protocol or 0)
    rest = ip(src) + ip(dst) + options
    found = checksum(first + rest) if check is None else check
    return first + struct.pack("!H", found) + rest + inner


def ipv6(
    inner: Layer4 | bytes,
    src: str = "2001:db8::1",
    dst: str = "2001:db8::2",
    next_header: int | None = None,
    hop_limit: int = 64,
    traffic_class: int = 0,
    flow_label: int = 0,
    extensions: bytes = b"",
    payload_length: int | None = None,
) -> bytes:
    """RFC 8200. `extensions` go between this header and `inner`; `next_header` then names the first of them."""
    if isinstance(inner, Layer4):
        next_header = inner.protocol if next_header is None else next_header
        inner = inner.under(ip(src) + ip(dst) + struct.pack("!II", len(inner.data), inner.protocol))
    length = len(extensions) + len(inner) if payload_length is None else payload_length
    word = 6 << 28 | traffic_class << 20 | flow_label
    return struct.pack("!IHBB", word, length, next_header or 0, hop_limit) + ip(src) + ip(dst) + extensions + inner


def extension(next_header: int, content: bytes = b"\1\4\0\0\0\0") -> bytes:
    """A hop-by-hop, routing or destination options header (RFC 8200); by default six bytes of padding (PadN)."""
    assert len(content) % 8 == 6
    return bytes([next_header, (len(content) - 6) // 8]) + content


def fragment6(next_header: int, offset: int = 0, more: int = 0, identification: int = 9) -> bytes:
    """RFC 8200, section 4.5; `offset` in 8-byte units."""
    return struct.pack("!BBHI", next_header, 0, offset << 3 | more, identification)


def ethernet(
    inner: bytes, type: int | None = None, src: str = "02:00:00:00:00:01", dst: str = "02:00:00:00:00:02"
) -> bytes:
    """An Ethernet II frame; without `type`, that of an IP packet of the version that `inner` begins with."""
    return mac(dst) + mac(src) + struct.pack("!H", _type(inner) if type is None else type) + inner


def vlan(inner: bytes, vid: int = 5, type: int | None = None, pcp: int = 0) -> bytes:
    """What follows the ether type 8100 (IEEE 802.1Q): tag and type of what is inside."""
    return struct.pack("!HH", pcp << 13 | vid, _type(inner) if type is None else type) + inner


def _type(inner: bytes) -> int:
    return ETHER_IPV6 if inner[:1] and inner[0] >> 4 == 6 else ETHER_IPV4
