"""Packets as lists of layers, written out with every checksum computed from scratch: what leaves must equal what a
changed model writes out.

Shares no code with the compiler. Sources: RFC 1071 (the sum), 768, 791, 792, 793, 4443, 8200 (section 8.1: pseudo
header), 2784, 7348, IEEE 802.1Q. Byte for byte, so it also says that nothing else changed.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Address, IPv6Address

NUMBERS = {"Ipv4": 4, "Ipv6": 41, "Tcp": 6, "Udp": 17, "Icmp": 1, "Icmpv6": 58, "Gre": 47}
ETHER_TYPES = {"Ipv4": 0x0800, "Ipv6": 0x86DD, "Eth": 0x6558}


def sum16(data: bytes) -> int:
    """The sum of the big-endian 16-bit words modulo 65535, a zero byte behind an odd last one."""
    total = 0
    for i in range(0, len(data), 2):
        total += data[i] << 8 | (data[i + 1] if i + 1 < len(data) else 0)
    return total % 0xFFFF


def written(data: bytes, error: int) -> int:
    """The right checksum of `data` plus an error that stays the same, whatever changes; never ffff (L10.2)."""
    return (-sum16(data) + error) % 0xFFFF


@dataclass
class Layer(ABC):
    """A header. `said`: what the header before says follows (None: what the standard says for this layer).

    `error` is how far its checksum is from the right one.
    """

    said: int | None = field(default=None, kw_only=True)
    error: int = field(default=0, kw_only=True)

    def number(self, table: dict[str, int], fallback: int) -> int:
        return table.get(type(self).__name__, fallback) if self.said is None else self.said

    @abstractmethod
    def encode(self, rest: list[Layer], around: Around) -> bytes:
        """The header, and all that follows it."""


@dataclass
class Around:
    """What is around a layer: the addresses of the IP header, the number that named the layer, bytes behind all."""

    addresses: bytes = b""
    number: int = 0
    behind: bytes = b""


@dataclass
class Bytes(Layer):
    """The payload; `said` by the header before."""

    data: bytes = b""

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        return self.data + _all(rest, around)


@dataclass
class Quote(Layer):
    """The first `size` bytes of a packet that begins with an IP header."""

    layers: list[Layer] = field(default_factory=list)
    size: int = 28

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        return _all(self.layers, Around())[: self.size]


def _all(layers: list[Layer], around: Around) -> bytes:
    return layers[0].encode(layers[1:], around) if layers else b""


def _next(layers: list[Layer], table: dict[str, int], fallback: int = 0) -> int:
    return layers[0].number(table, fallback) if layers else fallback


# ---------------------------------------------------------------- layer 2


@dataclass
class Eth(Layer):
    dst: int = 0x020000000002
    src: int = 0x020000000001
    trailer: bytes = b""

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        kind = _next(rest, ETHER_TYPES, 0x9999)
        head = self.dst.to_bytes(6, "big") + self.src.to_bytes(6, "big") + kind.to_bytes(2, "big")
        return head + _all(rest, around) + self.trailer


@dataclass
class Vlan(Layer):
    vid: int = 5
    pcp: int = 0
    said: int | None = field(default=0x8100, kw_only=True)

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        return (
            (self.pcp << 13 | self.vid).to_bytes(2, "big")
            + _next(rest, ETHER_TYPES).to_bytes(2, "big")
            + _all(rest, around)
        )


# ---------------------------------------------------------------- layer 3


@dataclass
class Ipv4(Layer):
    """`behind`: bytes of the IP payload behind the layer-4 packet. `cut`: only the first so many payload bytes go."""

    src: int = int(IPv4Address("10.0.0.1"))
    dst: int = int(IPv4Address("10.0.0.2"))
    ttl: int = 64
    dscp: int = 0
    ecn: int = 0
    identification: int = 0
    options: bytes = b""
    behind: bytes = b""
    fragment: tuple[int, int] | None = None  # of the payload: first byte, bytes

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        addresses = self.src.to_bytes(4, "big") + self.dst.to_bytes(4, "big")
        body = _all(rest, Around(addresses, _next(rest, NUMBERS, 253))) + self.behind
        flags = 0
        if self.fragment is not None:
            start, size = self.fragment
            flags = start // 8 | (0x2000 if start + size < len(body) else 0)
            body = body[start : start + size]
        size = 20 + len(self.options)
        head = bytes([0x40 | size // 4, self.dscp << 2 | self.ecn]) + (size + len(body)).to_bytes(2, "big")
        head += self.identification.to_bytes(2, "big") + flags.to_bytes(2, "big")
        head += bytes([self.ttl, _next(rest, NUMBERS, 253)])
        check = written(head + addresses + self.options, self.error)
        return head + check.to_bytes(2, "big") + addresses + self.options + body


@dataclass
class Ipv6(Layer):
    """`extensions` are (number, bytes without their first one, which says what follows)."""

    src: int = int(IPv6Address("2001:db8::1"))
    dst: int = int(IPv6Address("2001:db8::2"))
    hop_limit: int = 64
    dscp: int = 0
    ecn: int = 0
    flow_label: int = 0
    extensions: list[tuple[int, bytes]] = field(default_factory=list)
    behind: bytes = b""
    fragment: tuple[int, int] | None = None

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        addresses = self.src.to_bytes(16, "big") + self.dst.to_bytes(16, "big")
        last = _next(rest, NUMBERS, 253)
        body = _all(rest, Around(addresses, last)) + self.behind
        chain = list(self.extensions)
        if self.fragment is not None:
            start, size = self.fragment
            more = start + size < len(body)
            body = body[start : start + size]
            chain.append((44, b"\0" + (start | more).to_bytes(2, "big") + b"\0\0\0\7"))
        numbers = [number for number, _ in chain] + [last]
        front = b"".join(bytes([after]) + content for (_, content), after in zip(chain, numbers[1:], strict=True))
        word = 6 << 28 | self.dscp << 22 | self.ecn << 20 | self.flow_label
        head = word.to_bytes(4, "big") + (len(front) + len(body)).to_bytes(2, "big")
        return head + bytes([numbers[0], self.hop_limit]) + addresses + front + body


# ---------------------------------------------------------------- layer 4


def _pseudo(around: Around, length: int) -> bytes:
    """RFC 768, RFC 8200 section 8.1: the parts are the same for both versions; the sum does not see zeros."""
    return around.addresses + around.number.to_bytes(4, "big") + length.to_bytes(4, "big")


def _sealed(layer: Layer, around: Around, data: bytes, at: int, pseudo: bool) -> bytes:
    """`data` with its checksum at byte `at`."""
    check = written((_pseudo(around, len(data)) if pseudo else b"") + data, layer.error)
    return data[:at] + check.to_bytes(2, "big") + data[at + 2 :]


@dataclass
class Tcp(Layer):
    sport: int = 1000
    dport: int = 80
    sequence: int = 1
    acknowledgement: int = 2
    flags: int = 0x10
    window: int = 0x2000
    options: bytes = b""

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        head = self.sport.to_bytes(2, "big") + self.dport.to_bytes(2, "big") + self.sequence.to_bytes(4, "big")
        head += self.acknowledgement.to_bytes(4, "big") + bytes([(5 + len(self.options) // 4) << 4, self.flags])
        head += self.window.to_bytes(2, "big") + b"\0\0\0\0" + self.options
        return _sealed(self, around, head + _all(rest, around), 16, True)


@dataclass
class Udp(Layer):
    """`none`: without a checksum. `longer`: the length says so much more than there is (a first fragment)."""

    sport: int = 1000
    dport: int = 53
    none: bool = False

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        body = _all(rest, around)
        head = self.sport.to_bytes(2, "big") + self.dport.to_bytes(2, "big") + (8 + len(body)).to_bytes(2, "big")
        data = head + b"\0\0" + body
        if self.none:
            return data
        sealed = _sealed(self, around, data, 6, True)
        return sealed if sealed[6:8] != b"\0\0" else data[:6] + b"\xff\xff" + data[8:]


@dataclass
class Icmp(Layer):
    type: int = 8
    code: int = 0
    identifier: int = 7
    sequence: int = 1
    pseudo: bool = False

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        head = bytes([self.type, self.code, 0, 0]) + self.identifier.to_bytes(2, "big")
        data = _sealed(self, around, head + self.sequence.to_bytes(2, "big") + _all(rest, around), 2, self.pseudo)
        # Without a pseudo header all of it may be zeros, of which 0 is not the checksum (L10.2).
        return data if self.pseudo or any(data[2:4]) else data[:2] + b"\xff\xff" + data[4:]


@dataclass
class Icmpv6(Icmp):
    type: int = 128
    pseudo: bool = True


# ---------------------------------------------------------------- tunnels


@dataclass
class Vxlan(Layer):
    vni: int = 7

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        return b"\x08\0\0\0" + self.vni.to_bytes(3, "big") + b"\0" + _all(rest, Around())


@dataclass
class Gre(Layer):
    """RFC 2784, RFC 2890; `key` optional."""

    key: int | None = None

    def encode(self, rest: list[Layer], around: Around) -> bytes:
        head = bytes([0x20 if self.key is not None else 0, 0]) + _next(rest, ETHER_TYPES, 0x9999).to_bytes(2, "big")
        return head + (self.key.to_bytes(4, "big") if self.key is not None else b"") + _all(rest, Around())


# ---------------------------------------------------------------- whole packets


def frame(layers: list[Layer]) -> bytes:
    """The bytes of the packet."""
    return _all(layers, Around())


def changed(layers: list[Layer], edits: dict[tuple[int, str], int]) -> list[Layer]:
    """A copy with other values in fields, named by (number of the layer, field)."""
    found = copy.deepcopy(layers)
    for (number, name), value in edits.items():
        assert name in {f.name for f in fields(found[number])}
        setattr(found[number], name, value)
    return found
