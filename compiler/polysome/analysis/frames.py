"""Where things are in a frame, and frames made simpler with right lengths and checksums.

Knows the headers that real networks have most, whatever the spec knows: Ethernet and VLAN (IEEE 802.1Q), ARP (RFC 826),
IPv4 (RFC 791), IPv6 (RFC 8200; extension headers end what is known), TCP, UDP, ICMP and the packets that its errors
quote (RFC 792, RFC 4443), VXLAN (RFC 7348), IP in IP (RFC 2003, RFC 2473). What is not understood stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from polysome.ir.checksum import whole

MAC, IPV4, IPV6, PORT = "mac", "ipv4", "ipv6", "port"
_SIZES = {MAC: 6, IPV4: 4, IPV6: 16, PORT: 2}
_ICMP_ERRORS = {1: (3, 4, 5, 11, 12), 58: (1, 2, 3, 4)}  # by protocol
_VXLAN_PORT = 4789


@dataclass(frozen=True, slots=True)
class Layer:
    """A header from byte `start` to `end`. `quoted`: it is part of the packet that an ICMP error is about."""

    kind: str
    start: int
    end: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """An address or port: `kind` is one of MAC, IPV4, IPV6, PORT; `start` its first byte."""

    kind: str
    start: int

    @property
    def end(self) -> int:
        return self.start + _SIZES[self.kind]

    def get(self, data: bytes) -> int:
        return int.from_bytes(data[self.start : self.end], "big")


def layers(data: bytes) -> list[Layer]:
    """The headers of a frame, outermost first, up to what is not understood or not whole."""
    return list(_ethernet(data, 0))


def fields(data: bytes) -> list[Field]:
    """All addresses and ports of a frame, in order."""
    found: list[Field] = []
    for layer in layers(data):
        at = layer.start
        match layer.kind:
            case "ethernet":
                found += [Field(MAC, at), Field(MAC, at + 6)]
            case "arp":
                found += [Field(MAC, at + 8), Field(IPV4, at + 14), Field(MAC, at + 18), Field(IPV4, at + 24)]
            case "ipv4":
                found += [Field(IPV4, at + 12), Field(IPV4, at + 16)]
            case "ipv6":
                found += [Field(IPV6, at + 8), Field(IPV6, at + 24)]
            case "tcp" | "udp":
                found += [Field(PORT, at), Field(PORT, at + 2)]
    return found


def with_fields(data: bytes, values: dict[tuple[str, int], int]) -> bytes:
    """The frame with addresses and ports exchanged, by (kind, old value); lengths and checksums are made right."""
    found = bytearray(data)
    for field in fields(data):
        new = values.get((field.kind, field.get(data)))
        if new is not None:
            found[field.start : field.end] = new.to_bytes(_SIZES[field.kind], "big")
    return repaired(bytes(found))


def repaired(data: bytes) -> bytes:
    """The frame with the lengths of IPv4, IPv6 and UDP up to its end, and all checksums right.

    A UDP checksum of 0 over IPv4 means none (RFC 768) and stays; what fragments and quotes carry is left alone.
    """
    found = bytearray(data)
    every = layers(data)
    for layer in every:
        if not layer.quoted:
            _set_length(found, layer)
    for previous, layer in reversed([(None, every[0]), *pairwise(every)] if every else []):
        if layer.kind == "ipv4":
            _sum(found, layer.start + 10, layer.start, layer.end)
        elif not layer.quoted and previous is not None:
            _set_checksum(found, previous, layer)
    return bytes(found)


def simpler(data: bytes) -> Iterator[bytes]:
    """The frame with one header less or without the options of one; lengths and checksums are made right."""
    for layer in layers(data):
        at = layer.start
        match layer.kind:
            case "vlan":  # its last two bytes say what follows, as those before it did
                yield repaired(data[: at - 2] + data[at + 2 :])
            case "ipv4" if layer.end > at + 20:
                yield repaired(data[:at] + bytes([0x45]) + data[at + 1 : at + 20] + data[layer.end :])
            case "tcp" if layer.end > at + 20:
                offset = bytes([0x50 | data[at + 12] & 0x0F])
                yield repaired(data[: at + 12] + offset + data[at + 13 : at + 20] + data[layer.end :])
            case "vxlan":
                yield repaired(data[layer.end :])


# ---------------------------------------------------------------- what is where


def _ethernet(data: bytes, at: int) -> Iterator[Layer]:
    if len(data) < at + 14:
        return
    yield Layer("ethernet", at, at + 14)
    at += 14
    while data[at - 2 : at] in (b"\x81\x00", b"\x88\xa8") and len(data) >= at + 4:
        yield Layer("vlan", at, at + 4)
        at += 4
    match data[at - 2 : at]:
        case b"\x08\x06" if data[at : at + 6] == b"\0\x01\x08\0\x06\x04" and len(data) >= at + 28:
            yield Layer("arp", at, at + 28)
        case b"\x08\x00":
            yield from _ipv4(data, at, False)
        case b"\x86\xdd":
            yield from _ipv6(data, at, False)


def _ipv4(data: bytes, at: int, quoted: bool) -> Iterator[Layer]:
    if len(data) < at + 20 or data[at] >> 4 != 4:
        return
    end = at + (data[at] & 15) * 4
    if not at + 20 <= end <= len(data):
        return
    yield Layer("ipv4", at, end, quoted)
    if int.from_bytes(data[at + 6 : at + 8], "big") & 0x1FFF == 0:
        yield from _payload(data, end, data[at + 9], quoted)


def _ipv6(data: bytes, at: int, quoted: bool) -> Iterator[Layer]:
    if len(data) < at + 40 or data[at] >> 4 != 6:
        return
    yield Layer("ipv6", at, at + 40, quoted)
    yield from _payload(data, at + 40, data[at + 6], quoted)


def _payload(data: bytes, at: int, protocol: int, quoted: bool) -> Iterator[Layer]:
    have = len(data) - at
    match protocol:
        case 6 if have >= 20 and at + 20 <= (end := at + (data[at + 12] >> 4) * 4) <= len(data):
            yield Layer("tcp", at, end, quoted)
        case 17 if have >= 8:
            yield Layer("udp", at, at + 8, quoted)
            if int.from_bytes(data[at + 2 : at + 4], "big") == _VXLAN_PORT and have >= 16 and not quoted:
                yield Layer("vxlan", at + 8, at + 16)
                yield from _ethernet(data, at + 16)
        case 1 | 58 if have >= 8:
            yield Layer("icmp" if protocol == 1 else "icmpv6", at, at + 8, quoted)
            if data[at] in _ICMP_ERRORS[protocol] and not quoted:
                yield from _ipv4(data, at + 8, True) if protocol == 1 else _ipv6(data, at + 8, True)
        case 4 if not quoted:
            yield from _ipv4(data, at, False)
        case 41 if not quoted:
            yield from _ipv6(data, at, False)


# ---------------------------------------------------------------- lengths and checksums


def _set_length(data: bytearray, layer: Layer) -> None:
    at, behind = layer.start, len(data) - layer.start
    match layer.kind:
        case "ipv4":
            data[at + 2 : at + 4] = (behind & 0xFFFF).to_bytes(2, "big")
        case "ipv6":
            data[at + 4 : at + 6] = (behind - 40 & 0xFFFF).to_bytes(2, "big")
        case "udp":
            data[at + 4 : at + 6] = (behind & 0xFFFF).to_bytes(2, "big")


def _set_checksum(data: bytearray, ip: Layer, layer: Layer) -> None:
    """The checksum of a layer-4 header directly behind `ip` (RFC 768, 792, 4443, 9293)."""
    place = {"tcp": 16, "udp": 6, "icmp": 2, "icmpv6": 2}.get(layer.kind)
    if place is None or (ip.kind == "ipv4" and data[ip.start + 6] & 0x20):  # only a part of what it covers is here
        return
    at = layer.start + place
    if layer.kind == "udp" and ip.kind == "ipv4" and data[at : at + 2] == b"\0\0":
        return
    behind = len(data) - layer.start
    protocol = {"tcp": 6, "udp": 17, "icmpv6": 58}.get(layer.kind, 0)
    pseudo = b""
    if layer.kind != "icmp":
        addresses = data[ip.start + 12 : ip.start + 20] if ip.kind == "ipv4" else data[ip.start + 8 : ip.start + 40]
        pseudo = bytes(addresses) + behind.to_bytes(4, "big") + protocol.to_bytes(4, "big")
    _sum(data, at, layer.start, len(data), pseudo, zero=layer.kind != "udp")


def _sum(data: bytearray, at: int, start: int, end: int, pseudo: bytes = b"", zero: bool = True) -> None:
    """Writes the checksum of bytes `start` to `end` at `at`, one of them; unless `zero` may be sent, 0 goes as ffff."""
    data[at : at + 2] = b"\0\0"
    total = whole(pseudo + bytes(data[start:end]))
    data[at : at + 2] = (total or (0 if zero else 0xFFFF)).to_bytes(2, "big")
