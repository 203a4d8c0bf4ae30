"""Frames as only switch, NF and servers may send them, from where they may not come."""

from __future__ import annotations

from tests import tags
from tests.up.load.network import run

SWITCH_MAC, SOMEBODY = bytes.fromhex("02706f6c7901"), bytes.fromhex("02000000aa01")
SWITCH_IP, FIRST_IP, SECOND_IP = (
    bytes([198, 19, 255, last]) for last in (254, 16, 17)
)  # of the switch, and of two memory servers
ROCE = 4791

SEND = """
import socket, sys
place = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
place.bind((sys.argv[1], 0))
for text in sys.argv[2:]:
    place.send(bytes.fromhex(text))
"""


def send(namespace: str, interface: str, frames: list[bytes]) -> None:
    run(namespace, "python3", "-c", SEND, interface, *(frame.hex() for frame in frames))


def edits(seq: int, queue_pair: int) -> bytes:
    """An edits frame (runtime/PROTOCOL.md): version 1, way 1, verdict port 1, all edits zero."""
    said = {"parse_class": 1, "seq": seq, "queue_pair": queue_pair, "length": 100, "port": 1}
    return tags.frame(SWITCH_MAC, SOMEBODY, 0, **said)


def for_the_nf(nf: bytes, seq: int, flags: int) -> bytes:
    """A frame as the switch sends them to the NF: fields (0), or a whole packet (1)."""
    return tags.frame(nf, SOMEBODY, flags, bytes(range(200)), parse_class=1 - flags, seq=seq, length=512)


def tagged(frame: bytes, tags: str) -> bytes:
    """With VLAN tags, in hex."""
    return frame[:12] + bytes.fromhex(tags) + frame[12:]


def write(to: bytes, source_ip: bytes, ip: bytes, options: bytes = b"") -> bytes:
    """An RDMA WRITE of 64 bytes to queue pair 17 of a server, from an address, with its ICRC's four bytes."""
    reth = bytes(8) + (0x1000).to_bytes(4, "big") + (64).to_bytes(4, "big")
    bth = bytes([0x0A, 0x40, 0xFF, 0xFF, 0, 0, 0, 17, 0, 0, 0, 0])
    return to + SOMEBODY + b"\x08\x00" + _over_udp(bth + reth + bytes(64) + b"icrc", source_ip, ip, options)


def roce(opcode: int, number: int, psn: int = 0, syndrome: int = 0x1F, options: bytes = b"") -> bytes:
    """A READ response (0x10) or acknowledgement (0x11) to the switch's queue pair `number`, with a cell of seq 1.
    `options`: of IPv4, whole words."""
    payload = (1).to_bytes(4, "big") + bytes(60) if opcode == 0x10 else b""
    bth = bytes([opcode, 0x40, 0xFF, 0xFF, 0]) + number.to_bytes(3, "big") + b"\0" + psn.to_bytes(3, "big")
    body = bth + bytes([syndrome, 0, 0, 1]) + payload + bytes(4)
    return SWITCH_MAC + SOMEBODY + b"\x08\x00" + _over_udp(body, FIRST_IP, SWITCH_IP, options)


def _over_udp(body: bytes, source: bytes, ip_of_target: bytes, options: bytes = b"") -> bytes:
    """IPv4 and UDP, to RoCE's port."""
    udp = (49152).to_bytes(2, "big") + ROCE.to_bytes(2, "big") + (8 + len(body)).to_bytes(2, "big") + b"\0\0"
    length = (20 + len(options) + len(udp) + len(body)).to_bytes(2, "big")
    first = bytes([0x45 + len(options) // 4, 2])
    ip = first + length + b"\0\0\x40\0\x40\x11\0\0" + source + ip_of_target + options
    total = sum(int.from_bytes(ip[i : i + 2], "big") for i in range(0, len(ip), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + (0xFFFF - total).to_bytes(2, "big") + ip[12:]
    return ip + udp + body
