"""Frames as lists of headers: taken apart as the parser does it, and put together with right lengths and checksums."""

from __future__ import annotations

from dataclasses import dataclass, field

from polysome.analysis.frames import repaired
from polysome.interp.packet import Packet
from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined
from polysome.testing import wire
from polysome.testing.traffic.headers import Shape, shapes, size_of, with_lengths


@dataclass(slots=True)
class Layer:
    """A header: `values` by field number; those of lengths and checksums are computed. `rest`: its options."""

    shape: Shape
    values: list[int]
    rest: bytes = b""

    def copy(self) -> Layer:
        return Layer(self.shape, list(self.values), self.rest)


@dataclass(slots=True)
class Frame:
    """`cut`: how many bytes of the last header are there, if not all. `peeks`: (layer, bits, mask, value): what the
    first bits behind a header must be. `forced`: fields set after all else was computed, by (layer, field); without
    `repaired` checksums are then left zero. `wrong`: what is added to the innermost checksum; `unsummed`: checksums
    that may be zero are. `missing`: a header is announced that is not there, so the payload must stay short.
    """

    layers: list[Layer]
    payload: bytes = b""
    trailer: bytes = b""
    cut: int | None = None
    peeks: list[tuple[int, int, int, int]] = field(default_factory=list)
    forced: dict[tuple[int, int], int] = field(default_factory=dict)
    repaired: bool = True
    wrong: int = 0
    unsummed: bool = False
    missing: bool = False

    def copy(self) -> Frame:
        """For changes to headers and payload; what was done to damage this frame is not copied."""
        return Frame([layer.copy() for layer in self.layers], self.payload, b"", self.cut, list(self.peeks))

    @property
    def path(self) -> tuple[int, ...]:
        return tuple(layer.shape.number for layer in self.layers)


def dissect(program: ir.Program, p: Packet) -> Frame:
    """A parsed packet as a Frame. Its checksums and lengths are computed anew when it is encoded, but not in quotes."""
    every = shapes(program)
    frame = Frame([], p.data[p.payload : p.end], p.data[p.end :])
    for i in p.path:
        shape, start, end = every[i], p.offset[i], p.header_end[i]
        fixed = shape.header.fixed
        head = int.from_bytes(p.data[start : min(end, start + fixed)].ljust(fixed, b"\0"), "big")
        values = [
            0 if f.rest else head >> (fixed * 8 - f.offset - f.width) & ((1 << f.width) - 1)
            for f in shape.header.fields
        ]
        frame.layers.append(Layer(shape, values, p.data[start + fixed : end]))
        if end - start < fixed or end - start < size_of(program, shape.header, values):
            frame.cut = end - start
    return frame


def encode(program: ir.Program, frame: Frame) -> bytes:
    """The bytes of a frame."""
    layers = frame.layers
    sizes = [layer.shape.header.fixed + len(layer.rest) for layer in layers]
    if frame.cut is not None and layers:
        sizes[-1] = frame.cut
    total = sum(sizes) + len(frame.payload)
    parts, starts, at = [], [], 0
    for n, layer in enumerate(layers):
        starts.append(at)
        at += sizes[n]
        _set_lengths(program, layer, sizes[n], total - at)
        for (where, f), value in frame.forced.items():
            if where == n:
                layer.values[f] = value
        parts.append(_packed(layer)[: sizes[n]])
    data = bytearray(b"".join((*parts, frame.payload)))
    for n, bits, mask, value in frame.peeks:
        if n < len(layers):
            _patch(data, starts[n] + sizes[n], bits, mask, value)
    _checksums(frame, data, starts, sizes)
    if not (frame.forced or frame.wrong or frame.missing) and wire.wrong_checksums(bytes(data)):
        return repaired(bytes(data)) + frame.trailer  # those that the spec does not know for checksums
    return bytes(data) + frame.trailer


def _set_lengths(program: ir.Program, layer: Layer, size: int, after: int) -> None:
    shape = layer.shape
    quoted = shape.instance.cut is not None
    if not shape.lengths or (quoted and any(layer.values[f] for f in shape.lengths)):
        return
    whole = max(size, shape.header.fixed)
    try:
        with_lengths(program, shape.header, shape.lengths, layer.values, whole, after)
    except (NotConstant, Undefined):
        return  # a length that divides by zero stays as it is


def _packed(layer: Layer) -> bytes:
    bits = layer.shape.header.fixed * 8
    head = 0
    for f, value in zip(layer.shape.header.fields, layer.values, strict=True):
        if not f.rest:
            head |= (value & ((1 << f.width) - 1)) << (bits - f.offset - f.width)
    return head.to_bytes(bits // 8, "big") + layer.rest


def _patch(data: bytearray, start: int, bits: int, mask: int, value: int) -> None:
    """Sets the bits of `mask`, of the `bits` bits from byte `start` on, as far as there are bytes."""
    count = (bits + 7) // 8
    shift = count * 8 - bits
    there = bytes(data[start : start + count])
    old = int.from_bytes(there.ljust(count, b"\0"), "big")
    new = (old & ~(mask << shift)) | value << shift
    data[start : start + len(there)] = new.to_bytes(count, "big")[: len(there)]


# ---------------------------------------------------------------- checksums


def _checksums(frame: Frame, data: bytearray, starts: list[int], sizes: list[int]) -> None:
    """Sets them, innermost first; only those over a header itself in a quote."""
    innermost = True
    for n in range(len(frame.layers) - 1, -1, -1):
        shape = frame.layers[n].shape
        for f in shape.checksums:
            mark = shape.header.fields[f].checksum
            assert mark is not None
            place = starts[n] + shape.header.fields[f].offset // 8
            quoted = shape.instance.cut is not None
            if (n, f) in frame.forced or (quoted and mark.parts != ("header",)) or place + 2 > starts[n] + sizes[n]:
                continue
            if frame.forced and not frame.repaired:
                continue
            data[place : place + 2] = b"\0\0"
            if frame.unsummed and mark.zero_is_none:
                continue
            value = _sum(frame, data, starts, sizes, n, mark)
            if frame.wrong and innermost:
                value = (value + frame.wrong) & 0xFFFF
                innermost = False
            if value == 0 and mark.zero_is_none:
                value = 0xFFFF
            data[place : place + 2] = value.to_bytes(2, "big")


def _sum(frame: Frame, data: bytearray, starts: list[int], sizes: list[int], n: int, mark: ir.Checksum) -> int:
    """The checksum (RFC 1071) of layer `n`."""
    start = starts[n] if "header" in mark.parts else starts[n] + sizes[n]
    end = len(data) if "rest" in mark.parts else starts[n] + sizes[n]
    covered = bytes(data[start:end])
    number = int.from_bytes(covered + b"\0" * (len(covered) & 1), "big")
    if "pseudo" in mark.parts:
        number += _pseudo(frame, n, end - start)
    return 0xFFFF - ((number % 0xFFFF) or (0xFFFF if number else 0))


def _pseudo(frame: Frame, n: int, length: int) -> int:
    """What a pseudo header adds to the sum: addresses, the protocol, the length (RFC 768, RFC 8200, section 8.1)."""
    for outer in range(n - 1, -1, -1):
        layer = frame.layers[outer]
        if layer.shape.header.pseudo:
            before = frame.layers[n - 1]
            protocol = before.values[before.shape.next] if before.shape.next is not None else 0
            return sum(layer.values[f] % 0xFFFF for f in layer.shape.header.pseudo) + protocol + length
    return 0
