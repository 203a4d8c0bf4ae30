"""Reading pcapng (draft-ietf-opsawg-pcapng).

A file is a row of blocks: type, total length, body, total length again, padded to 4 bytes. A Section Header Block
says the byte order of its section and forgets all interfaces; Interface Description Blocks number the interfaces of
a section from 0; packets name theirs. Blocks of other types say nothing about packets and are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from .errors import ETHERNET, CaptureError, Damaged, wrong_link_type
from .window import MAX_RECORD, Captured, Window

MAGIC: Final = b"\x0a\x0d\x0d\x0a"
"""The type of a Section Header Block, with which every file begins: the same in both byte orders."""

_SECTION, _INTERFACE, _OBSOLETE_PACKET, _SIMPLE_PACKET, _ENHANCED_PACKET = 0x0A0D0D0A, 1, 2, 3, 6

_TIMED_PACKETS: Final = frozenset({_OBSOLETE_PACKET, _ENHANCED_PACKET})

_SHORTEST: Final = {_SECTION: 28, _INTERFACE: 20, _OBSOLETE_PACKET: 32, _SIMPLE_PACKET: 16, _ENHANCED_PACKET: 32}
"""The bytes of a block without options and packet data; 12 for any other."""

_ORDERS: Final = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
"""struct's byte order by a section's byte-order magic."""

_IF_NAME, _IF_TSRESOL, _IF_TSOFFSET = 2, 9, 14  # options of an Interface Description Block

_NANOSECONDS: Final = 1_000_000_000
_TIME_LIMIT: Final = 1 << 64


class _Interface(NamedTuple):
    """An interface of the section. A timestamp of n ticks is n * multiplier // divisor + offset nanoseconds."""

    number: int  # in the whole file
    name: str
    link_type: int
    snaplen: int  # 0: no limit
    multiplier: int = 1000  # microseconds, unless the block says otherwise
    divisor: int = 1
    offset: int = 0


class _Order:
    """The structs of one byte order."""

    __slots__ = ("header", "word", "section", "interface", "enhanced", "obsolete", "option", "seconds")

    def __init__(self, order: str) -> None:
        self.header = Struct(order + "II")  # type, total length
        self.word = Struct(order + "I")
        # Bodies, from the block's begin.
        self.section = Struct(order + "12xHH")  # major and minor version
        self.interface = Struct(order + "8xH2xI")  # link type, snaplen
        self.enhanced = Struct(order + "8x5I")  # interface, time high, time low, captured, on the wire
        self.obsolete = Struct(order + "8xH2x4I")  # the same, with a drop count behind the interface
        self.option = Struct(order + "HH")  # code, length
        self.seconds = Struct(order + "q")


class Reader:
    """The blocks of one file; `names` are the names of the interfaces read so far ("" where unnamed)."""

    __slots__ = ("names", "_window", "_order", "_interfaces", "_packets", "_last_time")

    def __init__(self, window: Window) -> None:
        self.names: list[str] = []
        self._window = window
        self._order = _Order("<")  # until the first section header, which says
        self._interfaces: list[_Interface] = []
        self._packets = 0
        self._last_time = 0

    def packets(self) -> Iterator[Captured]:
        """The packets in file order, lazily.

        Raises WrongLinkType at the first packet of an interface that is not Ethernet, Damaged, and, once all whole
        packets were delivered, Truncated.
        """
        window = self._window
        for kind, buffer, at, length in self._blocks():
            if kind in _TIMED_PACKETS:
                layout = self._order.enhanced if kind == _ENHANCED_PACKET else self._order.obsolete
                interface_id, high, low, captured, wire = layout.unpack_from(buffer, at)
                if captured > length - 32:
                    raise self._damaged(at, f"a packet of {captured} bytes in a block of {length}")
                interface = self._interface(interface_id, at)
                time = (high << 32 | low) * interface.multiplier // interface.divisor + interface.offset
                if not 0 <= time < _TIME_LIMIT:
                    raise self._damaged(at, "the time of a packet is before 1970 or after 2554")
                self._last_time = time
                data = buffer[at + 28 : at + 28 + captured]
            elif kind == _SIMPLE_PACKET:
                data, wire, interface = self._simple_packet(buffer, at, length)
                time = self._last_time  # it has none of its own, and time never runs back
            else:
                self._other_block(kind, buffer, at, length)
                continue
            self._packets += 1
            window.position = window.start + at + length
            yield Captured(time, data, wire, interface.number)

    def _blocks(self) -> Iterator[tuple[int, bytes, int, int]]:
        """Whole blocks as (type, buffer, where in it, total length); a section's byte order is set before."""
        window = self._window
        buffer, at, size = window.buffer, 0, len(window.buffer)
        while True:
            if at + 12 > size:
                buffer = window.slide(at, 12)
                at, size = 0, len(buffer)
                if size == 0:
                    return
                if size < 12:
                    raise window.cut("block", 12, self._packets)
            if buffer.startswith(MAGIC, at):
                self._order = self._byte_order(buffer, at)
            kind, length = self._order.header.unpack_from(buffer, at)
            if length > MAX_RECORD or length & 3 or length < _SHORTEST.get(kind, 12):
                raise self._damaged(at, f"a block of type {kind:#x} claims {length} bytes")
            if at + length > size:
                buffer = window.slide(at, length)
                at, size = 0, len(buffer)
                if size < length:
                    raise window.cut(f"block of type {kind:#x}", length, self._packets)
            if self._order.word.unpack_from(buffer, at + length - 4)[0] != length:
                raise self._damaged(at, f"a block of {length} bytes does not repeat its length at its end")
            yield kind, buffer, at, length
            at += length

    def _byte_order(self, buffer: bytes, at: int) -> _Order:
        order = _ORDERS.get(buffer[at + 8 : at + 12])
        if order is None:
            magic = buffer[at + 8 : at + 12].hex(" ")
            raise self._damaged(at, f"a section header has {magic} for its byte-order magic")
        return _Order(order)

    def _other_block(self, kind: int, buffer: bytes, at: int, length: int) -> None:
        """Takes in what a block that holds no packet says about the packets to come."""
        if kind == _SECTION:
            major, minor = self._order.section.unpack_from(buffer, at)
            if major != 1:  # any minor: 1.2 was written for what the draft calls 1.0
                raise self._damaged(at, f"a section has version {major}.{minor}, not 1.0")
            self._interfaces = []
        elif kind == _INTERFACE:
            interface = self._described(buffer, at, at + length)
            self._interfaces.append(interface)
            self.names.append(interface.name)

    def _described(self, buffer: bytes, at: int, end: int) -> _Interface:
        link_type, snaplen = self._order.interface.unpack_from(buffer, at)
        name, multiplier, divisor, offset = "", 1000, 1, 0
        for code, value in self._options(buffer, at, at + 16, end - 4):
            if code == _IF_NAME:
                name = value.rstrip(b"\0").decode("utf-8", "replace")
            elif code == _IF_TSRESOL and len(value) == 1:
                # 10**-n seconds; with the top bit set, 2**-n.
                units = 1 << (value[0] & 0x7F) if value[0] & 0x80 else 10 ** value[0]
                multiplier, divisor = (_NANOSECONDS, units) if _NANOSECONDS % units else (_NANOSECONDS // units, 1)
            elif code == _IF_TSOFFSET and len(value) == 8:
                offset = self._order.seconds.unpack(value)[0] * _NANOSECONDS
            elif code in (_IF_TSRESOL, _IF_TSOFFSET):
                raise self._damaged(at, f"option {code} of an interface has {len(value)} bytes")
        return _Interface(len(self.names), name, link_type, snaplen, multiplier, divisor, offset)

    def _options(self, buffer: bytes, block: int, at: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Code and value of the options in buffer[at:end]; values are padded to 4 bytes, code 0 ends the list."""
        while at < end:
            code, length = self._order.option.unpack_from(buffer, at)
            if code == 0:
                return
            if at + 4 + length > end:
                raise self._damaged(block, f"option {code} is longer than its block")
            yield code, buffer[at + 4 : at + 4 + length]
            at += 4 + (length + 3 & ~3)

    def _simple_packet(self, buffer: bytes, at: int, length: int) -> tuple[bytes, int, _Interface]:
        """Data, wire length and interface, which is always the section's first.

        How much was captured is not written down: it is what the original length and the snaplen leave.
        """
        wire: int = self._order.word.unpack_from(buffer, at + 8)[0]
        interface = self._interface(0, at)
        captured = min(wire, interface.snaplen) if interface.snaplen else wire
        if captured > length - 16:
            raise self._damaged(at, f"a packet of {captured} bytes in a block of {length}")
        return buffer[at + 12 : at + 12 + captured], wire, interface

    def _interface(self, number: int, at: int) -> _Interface:
        if number >= len(self._interfaces):
            raise self._damaged(at, f"a packet of interface {number}, which the section does not describe")
        interface = self._interfaces[number]
        if interface.link_type != ETHERNET:
            named = f"packets of interface {interface.number}" + (f" ({interface.name})" if interface.name else "")
            raise wrong_link_type(self._window.path, interface.link_type, self._window.start + at, named)
        return interface

    def _damaged(self, at: int, what: str) -> CaptureError:
        offset = self._window.start + at
        return Damaged(self._window.path, f"damaged at byte {offset}, after packet {self._packets}: {what}", offset)
