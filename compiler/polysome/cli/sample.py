"""A small capture of made-up clients, for a new NF to run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import pack

from polysome.captures.write import PcapngWriter

START = 1_767_225_600_000_000_000  # 2026-01-01, ns since 1970
MS = 1_000_000
SERVICE = bytes([10, 0, 0, 100])
TCP, UDP = 6, 17
SYN, ACK, FIN_ACK, PUSH_ACK = 0x02, 0x10, 0x11, 0x18


def write_sample(path: Path) -> None:
    """Three clients open, use and close a TCP connection to 10.0.0.100 port 80; one sends 40 kB of UDP in 4 ms.

    Raises CaptureError if the file cannot be written. The same bytes every time.
    """
    with PcapngWriter(path, ["clients"]) as writer:
        for time, frame in sorted(_clients()):
            writer.write(0, START + time, frame)


def _clients() -> Iterator[tuple[int, bytes]]:
    for i in range(3):
        request = b"GET / HTTP/1.1\r\nHost: 10.0.0.100\r\n\r\n"
        sent = 1 + len(request)
        for step, flags, sequence, data in (
            (0, SYN, 0, b""),
            (2, ACK, 1, b""),
            (3, PUSH_ACK, 1, request),
            (50, FIN_ACK, sent, b""),
            (52, ACK, sent + 1, b""),
        ):
            time = (20 * i + step) * MS
            yield time, _frame(i, TCP, _tcp(40_000 + i, 1000 * i + sequence, flags) + data)
    for n in range(40):
        yield 200 * MS + n * MS // 10, _frame(9, UDP, pack(">HHHH", 5000, 53, 1008, 0) + bytes([n]) * 1000)


def _tcp(port: int, sequence: int, flags: int) -> bytes:
    """A header without options (RFC 9293, section 3.1) whose checksum is 0."""
    acknowledgement = 0 if flags == SYN else 1
    return pack(">HHIIBBHHH", port, 80, sequence, acknowledgement, 5 << 4, flags, 65_535, 0, 0)


def _frame(client: int, protocol: int, segment: bytes) -> bytes:
    """Ethernet and IPv4 (RFC 791) around a segment, with right checksums."""
    source = bytes([192, 168, 0, 10 + client])
    at = 16 if protocol == TCP else 6
    check = _checksum(source + SERVICE + pack(">HH", protocol, len(segment)) + segment) or 0xFFFF
    segment = segment[:at] + pack(">H", check) + segment[at + 2 :]
    header = pack(">BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0x4000, 64, protocol, 0) + source + SERVICE
    header = header[:10] + pack(">H", _checksum(header)) + header[12:]
    ethernet = bytes([2, 0, 0, 0, 0, 1]) + bytes([2, 0, 0, 0, 1, client]) + b"\x08\x00"
    return ethernet + header + segment


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    total = sum(int.from_bytes(data[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF
