"""Reading pcap (draft-ietf-opsawg-pcap), in its variants.

The first four bytes tell three things: the byte order of all that follows, whether the second word of a
timestamp counts microseconds or nanoseconds, and whether record headers are the modified ones of Kuznetsov's
libpcap patches, 8 bytes longer (interface index, protocol, packet type, padding).
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from .errors import ETHERNET, Damaged, wrong_link_type
from .window import MAX_RECORD, Captured, Window

_HEADER_BYTES: Final = 24

_ORDINARY_LIMIT: Final = 1 << 18
"""What libpcap and Wireshark take as the longest Ethernet frame; more only if the file's snaplen says so."""


class Variant(NamedTuple):
    """What the magic number of a pcap says."""

    order: str  # of struct: "<" or ">"
    tick: int  # nanoseconds per unit of a timestamp's second word
    modified: bool


VARIANTS: Final = {
    bytes.fromhex(magic): variant
    for magic, variant in {
        "a1b2c3d4": Variant(">", 1000, False),
        "d4c3b2a1": Variant("<", 1000, False),
        "a1b23c4d": Variant(">", 1, False),
        "4d3cb2a1": Variant("<", 1, False),
        "a1b2cd34": Variant(">", 1000, True),
        "34cdb2a1": Variant("<", 1000, True),
    }.items()
}
"""By the first four bytes of the file."""


def open_pcap(window: Window, variant: Variant) -> Iterator[Captured]:
    """The packets of a pcap, in file order; the file header is read and judged at once, the rest lazily.

    Raises WrongLinkType and Damaged; Truncated once all whole packets were delivered.
    """
    head = window.slide(0, _HEADER_BYTES)
    if len(head) < _HEADER_BYTES:
        raise window.cut("file header", _HEADER_BYTES, 0)
    # Magic, version, two words that are to be ignored, the longest capture of a packet, link type.
    major, minor, snaplen, link = Struct(variant.order + "4xHH8xII").unpack_from(head, 0)
    if major != 2 or minor > 4:
        raise Damaged(window.path, f"pcap version {major}.{minor}, which does not exist: the latest is 2.4", 4)
    link_type = link & 0xFFFF  # above it: the length of the frame check sequence, and reserved bits
    if link_type != ETHERNET:
        raise wrong_link_type(window.path, link_type, 20, "packets")
    window.position = _HEADER_BYTES
    return _packets(window, variant, minor < 4, min(max(snaplen, _ORDINARY_LIMIT), MAX_RECORD))


def _packets(window: Window, variant: Variant, old: bool, limit: int) -> Iterator[Captured]:
    # Per record: seconds, their fraction, bytes captured, bytes on the wire.
    header = Struct(variant.order + ("4I8x" if variant.modified else "4I"))
    unpack, header_bytes, tick = header.unpack_from, header.size, variant.tick
    buffer, start, at = window.buffer, window.start, _HEADER_BYTES
    size, packets = len(buffer), 0
    while True:
        data_at = at + header_bytes
        if data_at > size:
            buffer = window.slide(at, header_bytes)
            start, at, data_at, size = window.start, 0, header_bytes, len(buffer)
            if size == 0:
                return
            if size < header_bytes:
                raise window.cut(f"record header of packet {packets + 1}", header_bytes, packets)
        seconds, fraction, captured, wire = unpack(buffer, at)
        if old and captured > wire:
            # Before 2.3 the two lengths stood the other way round, and in 2.3 both ways occur.
            captured, wire = wire, captured
        if captured > limit:
            message = f"damaged at byte {start + at}: packet {packets + 1} claims {captured} bytes"
            raise Damaged(window.path, message, start + at)
        end = data_at + captured
        if end > size:
            buffer = window.slide(at, header_bytes + captured)
            start, at, data_at, end, size = window.start, 0, header_bytes, header_bytes + captured, len(buffer)
            if size < end:
                raise window.cut(f"record of packet {packets + 1}", end, packets)
        packets += 1
        window.position = start + end
        yield Captured(seconds * 1_000_000_000 + fraction * tick, buffer[data_at:end], wire, 0)
        at = end
