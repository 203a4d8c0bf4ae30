"""How long the frames of the split protocol are (DESIGN section 6), in bytes, without frame check sequence."""

from __future__ import annotations

from polysome.analysis.layout import WIRE

ETHERNET, IPV4, UDP, BTH, RETH, AETH, ICRC = 14, 20, 8, 12, 16, 4, 4  # systems.md 1.6; InfiniBand's RoCEv2 annex
CELL_HEADER = 4  # pad:2, seq:30
MOST_PAD = 3
GAP = 24  # of the wire beside each frame: check sequence 4, preamble 8, gap 12
BRIDGE = 13  # before each copy to egress: copy 1, way 1, queue pair 2, seq 4, length 2, port 1, class 1, color 1

_ROCE = ETHERNET + IPV4 + UDP + BTH + ICRC
READ = _ROCE + RETH
ACK = _ROCE + AETH


def pad(packet: int) -> int:
    """Zero bytes in front of a packet, so that RDMA moves whole words."""
    return -packet % 4


def cell(packet: int) -> int:
    """What of a cell a packet takes, and what RDMA moves."""
    return CELL_HEADER + pad(packet) + packet


def write(packet: int) -> int:
    return _ROCE + RETH + cell(packet)


def response(packet: int) -> int:
    """The answer to a READ."""
    return _ROCE + AETH + cell(packet)


def whole(packet: int) -> int:
    """A packet with the tag in front of it; what Ethernet needs at least."""
    return max(WIRE.minimum, WIRE.overhead + packet)
