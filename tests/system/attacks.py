"""Frames that someone makes who should not: of the protocol between switch, NF and servers, and lengths that lie."""

from __future__ import annotations

import struct

from tests import tags
from tests.system.outcome import IPV4, LINK, UDP, ipv4_sum

from polysome.plan.design import NF_MAC, SERVER_IP, SERVER_MAC, SWITCH_IP, SWITCH_MAC, Design
from polysome_protocol import FRAMES

SPLIT = FRAMES.ether_type
ROCE_PORT = 4791
READ_RESPONSE, ACKNOWLEDGE, WRITE_ONLY, READ_REQUEST = 0x10, 0x11, 0x0A, 0x0C
ACK, SEQUENCE_NAK, INVALID_REQUEST = 0x1F, 0x60, 0x61
STRANGER = 0x02_00_00_00_66_66


def ethernet(destination: int, source: int, ether_type: int) -> bytes:
    return destination.to_bytes(6, "big") + source.to_bytes(6, "big") + struct.pack(">H", ether_type)


def ipv4_udp(source: int, destination: int, source_port: int, port: int, data: bytes) -> bytes:
    total = 28 + len(data)
    head = struct.pack(">BBHHHBBHII", 0x45, 0, total, 0, 0x4000, 64, UDP, 0, source, destination)
    head = head[:10] + struct.pack(">H", ipv4_sum(head)) + head[12:]
    return head + struct.pack(">HHHH", source_port, port, 8 + len(data), 0) + data


def roce(opcode: int, queue_pair: int, psn: int, rest: bytes, source: tuple[int, int], to: tuple[int, int]) -> bytes:
    """`source`, `to`: MAC and IPv4 address. `rest`: what follows the base transport header, and four bytes of ICRC."""
    bth = struct.pack(">BBHII", opcode, 0x40, 0xFFFF, queue_pair, 0x80000000 | psn)
    packet = ipv4_udp(source[1], to[1], 0xC000, ROCE_PORT, bth + rest + bytes(4))
    return ethernet(to[0], source[0], IPV4) + packet


def server(number: int = 0) -> tuple[int, int]:
    return SERVER_MAC + number, SERVER_IP + number


SWITCH = SWITCH_MAC, SWITCH_IP


def answer(queue_pair: int, psn: int, syndrome: int = ACK, source: tuple[int, int] | None = None) -> bytes:
    """An ACK or NAK for the switch."""
    return roce(ACKNOWLEDGE, queue_pair, psn, bytes([syndrome, 0, 0, 0]), source or server(), SWITCH)


def response(queue_pair: int, psn: int, seq: int, data: bytes, source: tuple[int, int] | None = None) -> bytes:
    """A READ's response with a cell, its pad a byte."""
    aeth = bytes([ACK, 0, 0, 0])
    return roce(READ_RESPONSE, queue_pair, psn, aeth + struct.pack(">IB", seq, 1) + data, source or server(), SWITCH)


def request(opcode: int, queue_pair: int, psn: int, key: int, length: int, data: bytes, to: int = 0) -> bytes:
    """A request as the switch sends them."""
    reth = struct.pack(">QII", 0, key, length)
    return roce(opcode, queue_pair, psn, reth + data, SWITCH, server(to))


def tagged(
    seq: int,
    queue_pair: int,
    length: int,
    port: int,
    *,
    flags: int = 0,
    version: int = 1,
    number: int = 1,
    data: bytes = b"",
) -> bytes:
    """A frame between switch and NF, as the NF sends it."""
    said = {"version": version, "parse_class": number, "seq": seq, "queue_pair": queue_pair}
    addresses = SWITCH_MAC.to_bytes(6, "big"), NF_MAC.to_bytes(6, "big")
    return tags.frame(*addresses, flags, data, **said, length=length, port=port)


def ours(generation: int, queue_pair: int, design: Design) -> int:
    """The switch's own number of a queue pair, which its controller gives it."""
    return generation << (design.sizes.queue_pairs.bit_length() - 1) | queue_pair


def claiming(frame: bytes, length: int) -> bytes:
    """The frame with an IPv4 total length that says so many bytes, its checksum right."""
    head = bytearray(frame[LINK : LINK + 20])
    struct.pack_into(">H", head, 2, length)
    head[10:12] = bytes(2)
    struct.pack_into(">H", head, 10, ipv4_sum(bytes(head)))
    return frame[:LINK] + bytes(head) + frame[LINK + 20 :]
