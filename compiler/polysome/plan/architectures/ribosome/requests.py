"""How long RDMA requests and answers are, and what they hold of packets, in bytes, without frame check sequence."""

from __future__ import annotations

from polysome_protocol import AETH, BTH, ETHERNET, IPV4, REQUESTS, RETH, TAG, UDP

ICRC = REQUESTS.icrc
CELL_HEADER = TAG["seq"].size
MOST_PAD = REQUESTS.most_pad
ACK_EVERY = REQUESTS.ack_every

_ROCE = ETHERNET.size + IPV4.size + UDP.size + BTH.size + ICRC
READ = _ROCE + RETH.size
ACK = _ROCE + AETH.size


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
    return _ROCE + RETH.size + cell(packet)


def response(packet: int) -> int:
    """The answer to a READ."""
    return _ROCE + AETH.size + cell(packet)


def most_written(cell: int) -> int:
    """The longest frame that fits into a cell, whatever it claims: one of as many bytes has MOST_PAD - 3 of pad."""
    return cell - CELL_HEADER - (MOST_PAD - 3)


def odd_bytes(trailer: bytes) -> bytes:
    """What of its trailer leaves with a packet that was parked: its first bytes, as many as whole words leave over."""
    return trailer[: len(trailer) % 4]
