"""The checksums of a frame as any receiver on the wire sees them: from its bytes alone, by the RFCs.

It knows nothing of specs, parsers or engines, and shares no code with them, so that it can judge all of them.
Ethernet, two VLAN tags (IEEE 802.1Q), IPv4 with options (RFC 791), IPv6 with extension headers (RFC 8200), TCP (RFC
9293), UDP (RFC 768), ICMP (RFC 792), ICMPv6 (RFC 4443; neighbour discovery too), the sum of RFC 1071; inside VXLAN
(RFC 7348) and inside IP in IP (RFC 2003, 4213). Of what an ICMP error quotes, the IPv4 header. What cannot be told from
one frame is left out: layer 4 of fragments and of what is cut, what lies behind an IPv6 routing header that is not yet
used up, behind ESP and AH, and headers that are not well formed.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

VLAN_TAGS = (0x8100, 0x88A8)
ETHER_IPV4, ETHER_IPV6 = 0x0800, 0x86DD
ICMP, IPV4, TCP, UDP, IPV6, ROUTING, FRAGMENT, ICMPV6 = 1, 4, 6, 17, 41, 43, 44, 58
EXTENSIONS = (0, ROUTING, 60)  # hop by hop, routing, destination options: next header and length first
MOST_EXTENSIONS = 8  # a packet with more is not judged
ICMP_QUOTING = (3, 4, 5, 11, 12)  # unreachable, source quench, redirect, time exceeded, parameter problem
VXLAN_PORT, VXLAN_FLAGS = 4789, 0x08
# Tunnels, whose UDP checksum may be zero over IPv6 too (RFC 6935): GTP-U, LISP, GRE, VXLAN, its GPE, GUE, GENEVE, MPLS.
TUNNEL_PORTS = frozenset({2152, 4341, 4754, VXLAN_PORT, 4790, 6080, 6081, 6635})
NESTING = 4  # tunnels within tunnels that are looked into


@dataclass(frozen=True, slots=True)
class Checksum:
    """One checksum found in a frame.

    `name`: "IPv4 header", "TCP", "UDP", "ICMP", "ICMPv6", after "inner " for each tunnel it is in, "quoted " within an
    ICMP error. `at`: the field's first byte in the frame; `value`: the field. `residual`: the ones' complement sum of
    all it covers, itself included, modulo 65535: 0 if it is right, else how wrong it is. `none`: a UDP checksum of
    zero, which says that there is none (over IPv4; over IPv6 only in tunnels, RFC 6935, elsewhere it is wrong there).
    `zeros`: nothing but zeros, whose checksum would be ffff: wrong, but no update by what changes can tell (RFC 1624).
    """

    name: str
    at: int
    value: int
    residual: int
    none: bool = False
    zeros: bool = False

    @property
    def right(self) -> bool:
        return self.none or (not self.residual and not self.zeros)


def wrong_checksums(frame: bytes) -> tuple[str, ...]:
    """The names (as in `Checksum`) of the wrong checksums of a frame, outermost first; () if all are right."""
    return tuple(found.name for found in checksums(frame) if not found.right)


def checksums(frame: bytes) -> tuple[Checksum, ...]:
    """All checksums of an Ethernet frame that can be judged, outermost first. O(bytes x tunnels)."""
    return tuple(_ethernet(frame, 0, len(frame), 0))


def network_end(frame: bytes) -> int:
    """Where the outermost IP packet ends by its own length; the frame's end if there is none that is whole."""
    kind, at = _network(frame, 0, len(frame))
    room = len(frame) - at
    if kind == ETHER_IPV4 and room >= 20:
        return min(len(frame), at + _word(frame, at + 2))
    if kind == ETHER_IPV6 and room >= 40:
        return min(len(frame), at + 40 + _word(frame, at + 4))
    return len(frame)


def ones_sum(data: bytes) -> int:
    """The ones' complement sum of 16-bit words modulo 65535 (RFC 1071); an odd last byte is padded with zero."""
    if len(data) % 2:
        data += b"\0"
    words = array("H", data)
    total = sum(words) % 0xFFFF
    # Added in the machine's own byte order, then swapped (RFC 1071, section 2 (B)).
    return int.from_bytes(total.to_bytes(2, sys.byteorder), "big") % 0xFFFF


def _word(frame: bytes, at: int) -> int:
    return frame[at] << 8 | frame[at + 1]


def _network(frame: bytes, at: int, end: int) -> tuple[int, int]:
    """The EtherType behind the tags of the Ethernet header at `at`, 0 if it is cut, and where what it names begins."""
    at += 12
    for _ in range(2):
        if at + 2 <= end and _word(frame, at) in VLAN_TAGS:
            at += 4
    return (_word(frame, at), at + 2) if at + 2 <= end else (0, end)


def _ethernet(frame: bytes, at: int, end: int, depth: int) -> Iterator[Checksum]:
    kind, at = _network(frame, at, end)
    if kind == ETHER_IPV4:
        yield from _ipv4(frame, at, end, depth)
    elif kind == ETHER_IPV6:
        yield from _ipv6(frame, at, end, depth)


def _prefix(depth: int) -> str:
    return "inner " * depth


def _ipv4(frame: bytes, at: int, end: int, depth: int) -> Iterator[Checksum]:
    size = _ipv4_size(frame, at, end)
    if size is None:
        return
    yield Checksum(_prefix(depth) + "IPv4 header", at + 10, _word(frame, at + 10), ones_sum(frame[at : at + size]))
    stop, fragment = at + _word(frame, at + 2), _word(frame, at + 6)
    if stop > end or fragment & 0x3FFF:  # cut; more fragments follow, or this is a later one
        return
    protocol = frame[at + 9]
    if protocol in (IPV4, IPV6):
        yield from _tunnelled(frame, at + size, stop, protocol, depth)
    elif protocol == ICMP:
        yield from _icmp(frame, at + size, stop, depth)
    elif protocol in (TCP, UDP):
        yield from _layer4(frame, at + size, stop, protocol, frame[at + 12 : at + 20], depth)


def _ipv4_size(frame: bytes, at: int, end: int) -> int | None:
    """Bytes of the header at `at`, None if it is not well formed or not whole."""
    if at + 20 > end or frame[at] >> 4 != 4:
        return None
    size = (frame[at] & 15) * 4
    return size if 20 <= size <= _word(frame, at + 2) and at + size <= end else None


def _ipv6(frame: bytes, at: int, end: int, depth: int) -> Iterator[Checksum]:
    if at + 40 > end or frame[at] >> 4 != 6:
        return
    stop = at + 40 + _word(frame, at + 4)
    if stop > end:
        return
    found = _behind_extensions(frame, at, stop)
    if found is None:
        return
    protocol, start = found
    if protocol in (IPV4, IPV6):
        yield from _tunnelled(frame, start, stop, protocol, depth)
    elif protocol in (TCP, UDP, ICMPV6):
        yield from _layer4(frame, start, stop, protocol, frame[at + 8 : at + 40], depth)


def _behind_extensions(frame: bytes, at: int, stop: int) -> tuple[int, int] | None:
    """(protocol, offset) of what follows the extension headers; None if it cannot be judged."""
    protocol, start = frame[at + 6], at + 40
    for _ in range(MOST_EXTENSIONS):
        if protocol not in (*EXTENSIONS, FRAGMENT):
            return protocol, start
        if start + 8 > stop:
            return None
        if protocol == ROUTING and frame[start + 3]:  # segments left: the checksum covers another destination
            return None
        if protocol == FRAGMENT and _word(frame, start + 2) & 0xFFF9:
            return None
        size = 8 if protocol == FRAGMENT else (frame[start + 1] + 1) * 8
        protocol, start = frame[start], start + size
    return None


def _tunnelled(frame: bytes, at: int, end: int, protocol: int, depth: int) -> Iterator[Checksum]:
    if depth < NESTING:
        yield from (_ipv4 if protocol == IPV4 else _ipv6)(frame, at, end, depth + 1)


def _icmp(frame: bytes, at: int, stop: int, depth: int) -> Iterator[Checksum]:
    if at + 8 > stop:
        return
    zeros = not any(frame[at:stop])
    yield Checksum(_prefix(depth) + "ICMP", at + 2, _word(frame, at + 2), ones_sum(frame[at:stop]), zeros=zeros)
    size = _ipv4_size(frame, at + 8, stop) if frame[at] in ICMP_QUOTING else None
    if size is not None:
        quote = at + 8
        residual = ones_sum(frame[quote : quote + size])
        yield Checksum(_prefix(depth) + "quoted IPv4 header", quote + 10, _word(frame, quote + 10), residual)


def _layer4(frame: bytes, at: int, stop: int, protocol: int, addresses: bytes, depth: int) -> Iterator[Checksum]:
    """TCP, UDP and ICMPv6, which sum a pseudo-header too: addresses, length, protocol."""
    size = _layer4_size(frame, at, stop, protocol)
    if size is None:
        return
    field = at + {TCP: 16, UDP: 6, ICMPV6: 2}[protocol]
    value = _word(frame, field)
    total = ones_sum(addresses) + protocol + size + ones_sum(frame[at : at + size])
    vxlan = protocol == UDP and _word(frame, at + 2) == VXLAN_PORT
    none = protocol == UDP and value == 0 and (len(addresses) == 8 or _word(frame, at + 2) in TUNNEL_PORTS)
    residual = total % 0xFFFF
    if protocol == UDP and value == 0 and not none:
        residual = residual or 0xFFFF
    name = {TCP: "TCP", UDP: "UDP", ICMPV6: "ICMPv6"}[protocol]
    yield Checksum(_prefix(depth) + name, field, value, residual, none)
    if vxlan and depth < NESTING and size >= 16 and frame[at + 8] & VXLAN_FLAGS:
        yield from _ethernet(frame, at + 16, at + size, depth + 1)


def _layer4_size(frame: bytes, at: int, stop: int, protocol: int) -> int | None:
    """Bytes that the checksum covers; None if the header is not well formed or not all of them are there."""
    room = stop - at
    if protocol == TCP:
        return room if room >= 20 and 20 <= (frame[at + 12] >> 4) * 4 <= room else None
    if protocol == ICMPV6:
        return room if room >= 8 else None
    return _word(frame, at + 4) if room >= 8 and 8 <= _word(frame, at + 4) <= room else None
