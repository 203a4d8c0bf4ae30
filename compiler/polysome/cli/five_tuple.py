"""A packet from what people write of one: `tcp 198.51.100.7:40000 -> 192.0.2.1:80`."""

from __future__ import annotations

import ipaddress
import re
import struct
from dataclasses import dataclass

from polysome.analysis.frames import repaired

ADDRESSES = bytes.fromhex("020000000002020000000001")  # of the Ethernet header: to, from
PAYLOAD = b"polysome trace"  # of UDP and of an echo request
TTL = 64
IDENTIFIER = 1  # of an echo request, unless one is given
FORM = "Write for example `tcp 198.51.100.7:40000 -> 192.0.2.1:80`, `udp [2001:db8::1]:53 -> [2001:db8::2]:53` or \
`icmp 198.51.100.7 -> 192.0.2.1`."

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class BadFlow(ValueError):
    """What is wrong with the text."""


@dataclass(frozen=True)
class FiveTuple:
    """`protocol`: tcp, udp or icmp, whose `sport` is the identifier of an echo request."""

    protocol: str
    src: Address
    dst: Address
    sport: int
    dport: int

    def packet(self) -> bytes:
        """An Ethernet frame with right lengths and checksums: a TCP SYN, a UDP datagram or an ICMP echo request."""
        six = self.src.version == 6
        if self.protocol == "tcp":
            number, content = 6, struct.pack(">HHIIBBHHH", self.sport, self.dport, 0, 0, 5 << 4, 2, 65535, 0, 0)
        elif self.protocol == "udp":
            number, content = 17, struct.pack(">HHHH", self.sport, self.dport, 8 + len(PAYLOAD), 0xFFFF) + PAYLOAD
        else:
            number, kind = (58, 128) if six else (1, 8)
            content = struct.pack(">BBHHH", kind, 0, 0, self.sport, 1) + PAYLOAD
        if six:
            head = struct.pack(">IHBB", 6 << 28, len(content), number, TTL)
        else:
            head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(content), 0, 1 << 14, TTL, number, 0)
        kind = 0x86DD if six else 0x0800
        addresses = self.src.packed + self.dst.packed
        return repaired(ADDRESSES + kind.to_bytes(2, "big") + head + addresses + content)


def five_tuple(text: str) -> FiveTuple:
    """BadFlow says what is wrong with `text`."""
    words = text.replace("->", " -> ").split()
    if len(words) != 4 or words[2] != "->":
        raise BadFlow(f"`{text}` is not PROTOCOL SOURCE -> DESTINATION")
    protocol = words[0].lower()
    if protocol not in ("tcp", "udp", "icmp"):
        raise BadFlow(f"there is no protocol `{words[0]}`: tcp, udp and icmp are known")
    (src, sport), (dst, dport) = (_end(word) for word in (words[1], words[3]))
    if src.version != dst.version:
        raise BadFlow(f"{src} and {dst} are of two versions of IP")
    if protocol == "icmp":
        if dport is not None:
            raise BadFlow("an echo request has an identifier, behind its source, and no ports")
        return FiveTuple(protocol, src, dst, IDENTIFIER if sport is None else sport, 0)
    if sport is None or dport is None:
        raise BadFlow(f"`{words[1] if sport is None else words[3]}` lacks a port")
    return FiveTuple(protocol, src, dst, sport, dport)


def _end(text: str) -> tuple[Address, int | None]:
    """`192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`."""
    found = re.fullmatch(r"\[(?P<six>[^\]]*)\](:(?P<a>.*))?|(?P<four>[^:]*)(:(?P<b>[^:]*))?|(?P<plain>.*)", text)
    assert found is not None
    address, port = found["six"] or found["four"] or found["plain"] or "", found["a"] or found["b"]
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        raise BadFlow(f"`{address or text}` is no address of IPv4 or IPv6") from None
    if port is None and not text.endswith(":"):
        return known, None
    if port is None or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise BadFlow(f"`{port or ''}` is no port: 0 to 65535")
    return known, int(port)
