"""How long the frames of the split protocol are (DESIGN section 6), in bytes, without frame check sequence."""

from __future__ import annotations

from polysome.analysis.layout import WIRE

ETHERNET, IPV4, UDP, BTH, RETH, AETH, ICRC = 14, 20, 8, 12, 16, 4, 4  # systems.md 1.6; InfiniBand's RoCEv2 annex
CELL_HEADER = 4  # seq
MOST_PAD = 7
MOST_SUFFIX = 3 + ICRC  # behind a parked packet that leaves: the odd bytes of its trailer, and the response's ICRC
ACK_EVERY = 32  # of a queue pair's requests, one asks for an acknowledgement (rule 4); a power of two
GAP = 24  # of the wire beside each frame: check sequence 4, preamble 8, gap 12
BRIDGE = 13  # before each copy to egress: copy 1, way 1, queue pair 2, seq 4, length 2, port 1, class 1, mark 1

_ROCE = ETHERNET + IPV4 + UDP + BTH + ICRC
READ = _ROCE + RETH
ACK = _ROCE + AETH


def pad(packet: int) -> int:
    """Bytes in front of a packet of the claimed length, so that RDMA moves whole words: 4 to 7."""
    return 4 + -packet % 4


def pad_with(packet: int, trailer: int) -> int:
    """Those of one that has a trailer: 1 to 7.

    So a READ of what the claimed length needs covers the packet, and only what was written:
    CELL_HEADER + pad_with + packet ≤ cell(packet) ≤ CELL_HEADER + pad_with + packet + trailer.
    """
    return pad(packet) - trailer % 4


def cell(packet: int) -> int:
    """What of a cell a packet without trailer takes, and what RDMA moves."""
    return CELL_HEADER + pad(packet) + packet


def write(packet: int) -> int:
    return _ROCE + RETH + cell(packet)


def response(packet: int) -> int:
    """The answer to a READ."""
    return _ROCE + AETH + cell(packet)


def most_written(cell: int) -> int:
    """The longest frame that fits into a cell, whatever it claims: one of as many bytes has MOST_PAD - 3 of pad."""
    return cell - CELL_HEADER - (MOST_PAD - 3)


def odd_bytes(trailer: bytes) -> bytes:
    """What of its trailer leaves with a packet that was parked: its first bytes, as many as whole words leave over."""
    return trailer[: len(trailer) % 4]


def whole(packet: int) -> int:
    """A packet with the tag in front of it; what Ethernet needs at least."""
    return max(WIRE.minimum, WIRE.overhead + packet)


def padding(packet: int) -> bytes:
    """What follows a packet that leaves as the NF's answer had it whole: the zeros of that frame."""
    return bytes(whole(packet) - WIRE.overhead - packet)
