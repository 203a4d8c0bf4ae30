"""Captures made byte by byte, apart from the code under test: every field is packed here on its own."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

from polysome.captures.read import Captured, CaptureError, open_capture


def read_all(path: Path) -> tuple[list[Captured], CaptureError | None]:
    """What is delivered, and the error that ended it."""
    packets: list[Captured] = []
    try:
        with open_capture(path) as capture:
            packets.extend(capture)  # list.extend keeps what came before an error
    except CaptureError as error:
        return packets, error
    return packets, None


def pcap_header(
    order: str, magic: int = 0xA1B2C3D4, link: int = 1, version: tuple[int, int] = (2, 4), snaplen: int = 65535
) -> bytes:
    return struct.pack(order + "IHHiIII", magic, *version, 0, 0, snaplen, link)


def pcap_record(
    order: str, seconds: int, fraction: int, data: bytes, wire: int | None = None, more: bytes = b""
) -> bytes:
    wire = len(data) if wire is None else wire
    return struct.pack(order + "IIII", seconds, fraction, len(data), wire) + more + data


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


@dataclass
class Pcapng:
    """Builds a pcapng; `ends` are the offsets at which it may end without being cut, `counts` the packets by then."""

    order: str = "<"
    content: bytes = b""
    ends: list[int] = field(default_factory=list)
    packets: int = 0
    counts: list[int] = field(default_factory=list)

    def block(self, kind: int, body: bytes, packet: bool = False) -> Pcapng:
        body = padded(body)
        length = struct.pack(self.order + "I", 12 + len(body))
        self.content += struct.pack(self.order + "I", kind) + length + body + length
        self.packets += packet
        self.ends.append(len(self.content))
        self.counts.append(self.packets)
        return self

    def section(self, order: str | None = None, version: tuple[int, int] = (1, 0)) -> Pcapng:
        self.order = order or self.order
        return self.block(0x0A0D0D0A, struct.pack(self.order + "IHHq", 0x1A2B3C4D, *version, -1))

    def option(self, code: int, value: bytes) -> bytes:
        return struct.pack(self.order + "HH", code, len(value)) + padded(value)

    def interface(
        self, name: str = "", link: int = 1, snaplen: int = 0, resolution: int | None = None, offset: int | None = None
    ) -> Pcapng:
        options = b""
        if name:
            options += self.option(2, name.encode())
        if resolution is not None:
            options += self.option(9, bytes([resolution]))
        if offset is not None:
            options += self.option(14, struct.pack(self.order + "q", offset))
        if options:
            options += self.option(0, b"")
        return self.block(1, struct.pack(self.order + "HHI", link, 0, snaplen) + options)

    def enhanced(
        self, interface: int, ticks: int, data: bytes, wire: int | None = None, options: bytes = b""
    ) -> Pcapng:
        words = (interface, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data) if wire is None else wire)
        return self.block(6, struct.pack(self.order + "5I", *words) + padded(data) + options, packet=True)

    def obsolete(self, interface: int, ticks: int, data: bytes, drops: int = 0xFFFF) -> Pcapng:
        words = (interface, drops, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        return self.block(2, struct.pack(self.order + "HH4I", *words) + data, packet=True)

    def simple(self, data: bytes, wire: int | None = None) -> Pcapng:
        return self.block(3, struct.pack(self.order + "I", len(data) if wire is None else wire) + data, packet=True)
