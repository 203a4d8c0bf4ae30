"""Which checksums of a frame are right: a second opinion that shares no code with the interpreter.

Everything is taken from the RFCs: 1071 (the sum), 791, 793, 768, 792, 4443, 8200, 7348. Only what can be known from
the frame alone is judged; fragments are judged by `Reassembly`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

IPV4, IPV6, VLANS = 0x0800, 0x86DD, (0x8100, 0x88A8)
ICMP, TCP, UDP, ICMPV6, FRAGMENT = 1, 6, 17, 58, 44
EXTENSIONS = (0, 43, 60)
VXLAN_PORT = 4789


def ones_sum(data: bytes) -> int:
    """RFC 1071: the ones' complement sum of 16-bit words, an odd byte padded with zero."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@dataclass
class Verdicts:
    """`right[name]` for every checksum that can be judged; `fragments` of packets to be reassembled."""

    right: dict[str, bool] = field(default_factory=dict)
    fragments: list[tuple[tuple[object, ...], int, bool, int, bytes, bytes]] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)


def verify(frame: bytes) -> Verdicts:
    """All checksums of an Ethernet frame, named by their place: `ipv4`, `udp`, `inner.tcp`, `quoted.ipv4`."""
    found = Verdicts()
    _ethernet(frame, "", found)
    return found


def _ethernet(frame: bytes, prefix: str, found: Verdicts) -> None:
    if len(frame) < 14:
        return
    found.layers.append(prefix + "ethernet")
    kind, at = struct.unpack_from(">H", frame, 12)[0], 14
    for _ in range(2):
        if kind in VLANS and len(frame) >= at + 4:
            kind, at = struct.unpack_from(">H", frame, at + 2)[0], at + 4
            found.layers.append(prefix + "vlan")
    if kind == IPV4:
        _ipv4(frame[at:], prefix, found)
    elif kind == IPV6:
        _ipv6(frame[at:], prefix, found)


def _ipv4(data: bytes, prefix: str, found: Verdicts, quoted: bool = False) -> None:
    if len(data) < 20 or data[0] >> 4 != 4:
        return
    size, total = (data[0] & 15) * 4, struct.unpack_from(">H", data, 2)[0]
    if size < 20 or total < size or len(data) < size:
        return
    found.layers.append(prefix + "ipv4")
    found.right[prefix + "ipv4"] = ones_sum(data[:size]) == 0xFFFF
    offset_field = struct.unpack_from(">H", data, 6)[0]
    more, offset, protocol = bool(offset_field & 0x2000), (offset_field & 0x1FFF) * 8, data[9]
    if len(data) < total:
        if quoted:
            return  # a quote holds only the beginning: its layer 4 cannot be judged
        return  # shorter than its header claims
    pseudo = data[12:20] + bytes((0, protocol))
    body = data[size:total]
    if more or offset:
        if not quoted:
            found.fragments.append(((4, data[12:20], data[4:6], protocol), offset, more, protocol, data[12:20], body))
        return
    _layer4(protocol, pseudo, body, prefix, found)


def _ipv6(data: bytes, prefix: str, found: Verdicts, quoted: bool = False) -> None:
    if len(data) < 40 or data[0] >> 4 != 6:
        return
    found.layers.append(prefix + "ipv6")
    length, kind = struct.unpack_from(">HB", data, 4)
    if len(data) < 40 + length:
        return
    body, addresses = data[40 : 40 + length], data[8:40]
    for _ in range(4):
        if kind not in EXTENSIONS or len(body) < 8:
            break
        if kind == 43 and body[3]:
            return  # a source route: the final destination is elsewhere
        size = (body[1] + 1) * 8
        if len(body) < size:
            return
        kind, body = body[0], body[size:]
    if kind == FRAGMENT and len(body) >= 8:
        word = struct.unpack_from(">H", body, 2)[0]
        more, offset = bool(word & 1), word & ~7
        if more or offset:
            if not quoted:
                key = (6, addresses, body[4:8], 0)
                found.fragments.append((key, offset, more, body[0], addresses, body[8:]))
            return
        kind, body = body[0], body[8:]
    if kind in EXTENSIONS or kind == FRAGMENT:
        return
    _layer4(kind, addresses + struct.pack(">HBB", 0, 0, kind), body, prefix, found)


def _layer4(protocol: int, pseudo: bytes, body: bytes, prefix: str, found: Verdicts) -> None:
    """`pseudo` is addresses, zero and protocol; the length is added here."""
    v6 = len(pseudo) > 10
    if protocol == TCP and len(body) >= 20 and 20 <= (body[12] >> 4) * 4 <= len(body):
        found.layers.append(prefix + "tcp")
        found.right[prefix + "tcp"] = ones_sum(pseudo + struct.pack(">H", len(body)) + body) == 0xFFFF
    elif protocol == UDP and len(body) >= 8:
        _udp(pseudo, body, prefix, found)
    elif protocol == ICMP and not v6 and len(body) >= 8:
        found.layers.append(prefix + "icmp")
        found.right[prefix + "icmp"] = ones_sum(body) == 0xFFFF
        if body[0] in (3, 4, 5, 11, 12):
            _ipv4(body[8:], prefix + "quoted.", found, quoted=True)
    elif protocol == ICMPV6 and v6 and len(body) >= 8:
        found.layers.append(prefix + "icmpv6")
        found.right[prefix + "icmpv6"] = ones_sum(pseudo + struct.pack(">H", len(body)) + body) == 0xFFFF
        if body[0] in (1, 2, 3, 4):
            _ipv6(body[8:], prefix + "quoted.", found, quoted=True)


def _udp(pseudo: bytes, body: bytes, prefix: str, found: Verdicts) -> None:
    _, dport, length, checksum = struct.unpack_from(">HHHH", body)
    if length < 8:
        return
    found.layers.append(prefix + "udp")
    if length <= len(body):
        datagram = body[:length]
        found.right[prefix + "udp"] = checksum == 0 or ones_sum(pseudo + struct.pack(">H", length) + datagram) == 0xFFFF
        found.right[prefix + "udp has a checksum"] = checksum != 0
    if dport == VXLAN_PORT and not prefix and length >= 16:
        _ethernet(body[16:length], "inner.", found)


class Reassembly:
    """Collects fragments by datagram and judges the layer-4 checksum of what they make together."""

    def __init__(self) -> None:
        self.parts: dict[tuple[object, ...], list[tuple[int, int, bool, int, bytes, bytes]]] = {}

    def add(self, number: int, verdicts: Verdicts) -> None:
        """The fragments of frame `number`."""
        for key, offset, more, protocol, addresses, body in verdicts.fragments:
            self.parts.setdefault(key, []).append((offset, number, more, protocol, addresses, body))

    def datagrams(self) -> dict[tuple[int, ...], bool]:
        """Complete datagrams without overlap: numbers of their frames, and whether the checksum is right."""
        found = {}
        for parts in self.parts.values():
            parts = sorted(parts)
            data, protocol, addresses = b"", parts[0][3], parts[0][4]
            whole = not parts[-1][2]
            for offset, _, _, _, _, body in parts:
                whole = whole and offset == len(data)
                data += body
            if whole:
                verdicts = Verdicts()
                pseudo = addresses + (
                    bytes((0, protocol)) if len(addresses) == 8 else struct.pack(">HBB", 0, 0, protocol)
                )
                _layer4(protocol, pseudo, data, "", verdicts)
                if verdicts.right:
                    found[tuple(p[1] for p in parts)] = all(
                        right for name, right in verdicts.right.items() if name in ("tcp", "udp", "icmp", "icmpv6")
                    )
        return found
