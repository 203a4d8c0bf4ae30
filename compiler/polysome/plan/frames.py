"""How long frames between switch and NF are (DESIGN section 6), in bytes, without frame check sequence."""

from __future__ import annotations

from polysome.analysis.layout import WIRE
from polysome_protocol import HEADERS

GAP = 24  # of the wire beside each frame: check sequence 4, preamble 8, gap 12
BRIDGE = HEADERS["bridge"].size  # before each copy to egress


def whole(packet: int) -> int:
    """A packet with the tag in front of it; what Ethernet needs at least."""
    return max(WIRE.minimum, WIRE.overhead + packet)


def padding(packet: int) -> bytes:
    """What follows a packet that leaves as the NF's answer had it whole: the zeros of that frame."""
    return bytes(whole(packet) - WIRE.overhead - packet)
