"""Packets on both sides of every condition that stands between a packet and its path through the parser.

The conditions come from the typed program's parser alone: its selects and hooks, headers' rules of validity, size and
end, checksums, and what the parser's values compare. A plan only adds two lengths, which paths are split, and the
switch's own address: a condition that a plan forgot is met all the same.
"""

from polysome.testing.traffic.boundaries.packets import (
    MOST,
    BoundaryPacket,
    boundary_packets,
    boundary_pieces,
    boundary_trace,
)

__all__ = ["MOST", "BoundaryPacket", "boundary_packets", "boundary_pieces", "boundary_trace"]
