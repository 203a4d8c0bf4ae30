"""RoCEv2 frames of a switch, made and read by hand (IBTA volume 1, chapter 9 and annex A17)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

WRITE, READ, RESPONSE, ACK = 0x0A, 0x0C, 0x10, 0x11
PORT = 4791


@dataclass(frozen=True)
class End:
    mac: bytes
    ip: bytes


@dataclass(frozen=True)
class Answer:
    opcode: int
    number: int  # of the queue pair that it is for
    psn: int
    syndrome: int
    msn: int
    payload: bytes


def checksum(header: bytes) -> int:
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4_udp(source: End, destination: End, port: int, payload: bytes) -> bytes:
    """An Ethernet frame."""
    udp = struct.pack(">HHHH", 0xC000, port, 8 + len(payload), 0)
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + 8 + len(payload), 0, 0x4000, 64, 17, 0, source.ip, destination.ip)
    ip = ip[:10] + checksum(ip).to_bytes(2, "big") + ip[12:]
    return destination.mac + source.mac + b"\x08\x00" + ip + udp + payload


def icrc(datagram: bytes) -> bytes:
    """Of an IPv4 datagram without its ICRC: what may change on the way counts as ones."""
    covered = bytearray(datagram)
    for at in (1, 8, 10, 11, 26, 27, 32):
        covered[at] = 0xFF
    return zlib.crc32(b"\xff" * 8 + covered).to_bytes(4, "little")


def request(
    source: End, destination: End, opcode: int, number: int, psn: int, reth: bytes, payload: bytes = b""
) -> bytes:
    """A frame whose payload is a multiple of 4 bytes; it asks for an acknowledgement."""
    bth = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, number, 1 << 31 | psn & 0xFFFFFF)
    frame = ipv4_udp(source, destination, PORT, bth + reth + payload + bytes(4))
    return frame[:-4] + icrc(frame[14:-4])


def reth(address: int, key: int, length: int) -> bytes:
    return struct.pack(">QII", address, key, length)


def answer(frame: bytes) -> Answer | None:
    """None for a frame that is not RoCEv2; a wrong ICRC fails."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != PORT.to_bytes(2, "big"):
        return None
    datagram = frame[14 : 14 + int.from_bytes(frame[16:18], "big")]
    assert icrc(datagram[:-4]) == datagram[-4:]
    opcode, _, _, number, psn = struct.unpack(">BBHII", datagram[28:40])
    word = int.from_bytes(datagram[40:44], "big")
    return Answer(opcode, number & 0xFFFFFF, psn & 0xFFFFFF, word >> 24, word & 0xFFFFFF, datagram[44:-4])
