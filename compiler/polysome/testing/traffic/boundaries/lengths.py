"""Where packets end: claimed lengths and what is really there.

The outermost header that says where the packet ends decides; what stands behind that is a trailer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from polysome.analysis.relevance import fields_of
from polysome.ir import program as ir
from polysome.testing.traffic.boundaries.model import FAR, NEAR, Boundary, copied, forced, head, name, read, with_total
from polysome.testing.traffic.boundaries.rules import largest
from polysome.testing.traffic.frames import Frame, encode
from polysome.testing.traffic.headers import shapes

_TRAILER = b"\x55\xaa\x33\xcc\x0f\xf0\x99\x66"
_CLAIM = "the claimed length"


def lengths(program: ir.Program, path: Sequence[int], splits: Sequence[int]) -> Iterator[Boundary]:
    """`splits`: lengths of packets at which a switch begins to do something else; each is a last or a first one."""
    ending = [n for n, i in enumerate(path) if shapes(program)[i].header.end is not None]
    for layer in range(len(path)):
        yield from _truncated(program, layer, layer == len(path) - 1)
    if not ending:
        return
    yield from _claims(program, ending[0], len(path))
    yield from _trailers(program)
    yield from _splits(program, splits)
    for n in ending[1:]:
        yield from _nested(program, path, n)


# ---------------------------------------------------------------- ends


def _claims(program: ir.Program, first: int, count: int) -> Iterator[Boundary]:
    """The packet ends before a header, within it, right behind it; the rest of the frame is a trailer."""
    for layer in range(first + 1, count):
        rank = NEAR if layer == count - 1 else FAR
        for short, where in ((0, "end"), (1, "last byte")):
            make = partial(_claimed, program, layer, short)
            yield Boundary(f"{_CLAIM} and header {layer + 1}", f"up to its {where}", rank, make)
        yield Boundary(f"{_CLAIM} and header {layer + 1}", "none of it", FAR, partial(_claimed, program, layer, None))


def _claimed(program: ir.Program, layer: int, short: int | None, frame: Frame) -> bytes:
    """The packet ends so many bytes before the end of a header; None: before it begins."""
    inner = copied(frame)
    size = inner.layers[layer].shape.header.fixed + len(inner.layers[layer].rest)
    inner.layers = inner.layers[: layer + (short is not None)]
    inner.payload, inner.peeks = b"", []
    if short:
        inner.cut = size - short
    data = encode(program, inner)
    return data + encode(program, frame)[len(data) :]


def _trailers(program: ir.Program) -> Iterator[Boundary]:
    for size in range(1, 9):
        rank = NEAR if size in (1, 2, 3, 4, 8) else FAR
        yield Boundary("the end of the frame", f"{size} behind the packet's", rank, partial(_trailed, program, size))
    for size in (1, 2, 3, 4, 8):
        rank = NEAR if size in (1, 4) else FAR
        yield Boundary("the end of the frame", f"{size} before the packet's", rank, partial(_trailed, program, -size))


def _trailed(program: ir.Program, more: int, frame: Frame) -> bytes:
    """The frame with bytes behind its packet, or with some less."""
    data = encode(program, frame)
    return data + _TRAILER[:more] if more > 0 else data[:more]


def _splits(program: ir.Program, splits: Sequence[int]) -> Iterator[Boundary]:
    for length in splits:
        for near in (length - 1, length, length + 1):
            yield Boundary(_CLAIM, f"{near}", NEAR, partial(_split, program, near, 0), True)
        for near, more in ((length, -1), (length, 1), (length - 1, 1), (length + 1, -1), (length - 1, 8), (length, 4)):
            said = f"{near}, of the frame {near + more}"
            yield Boundary(_CLAIM, said, NEAR, partial(_split, program, near, more), True)


def _split(program: ir.Program, length: int, more: int, frame: Frame) -> bytes | None:
    found = with_total(length, frame)
    if found is None:
        return None
    return _trailed(program, more, found) if more else encode(program, found)


def _nested(program: ir.Program, path: Sequence[int], layer: int) -> Iterator[Boundary]:
    """A header within the packet that says that it ends elsewhere: off the packet's end, or among later headers."""
    shape = shapes(program)[path[layer]]
    end = shape.header.end
    ends = [f for f in shape.lengths if end is not None and (path[layer], f) in fields_of(end, program.parser)]
    for f in ends:
        field = name(program, path[layer], f)
        for more in (-1, 1, -4, 4, 200):
            rank = NEAR if abs(more) == 1 else FAR
            make = partial(_off, program, layer, f, more)
            yield Boundary(f"{field} and the packet's end", f"{more:+d}", rank, make)
        for later in range(layer + 1, len(path)):
            header = shapes(program)[path[later]].header
            for size in dict.fromkeys((header.fixed, largest(program, path[later]))):
                for short in (0, 1):
                    make = partial(_among, program, layer, f, (later, size - short))
                    yield Boundary(f"{field} and header {later + 1}", f"{size - short} B of it", NEAR, make)


def _among(program: ir.Program, layer: int, f: int, end: tuple[int, int], frame: Frame) -> bytes | None:
    """The header at `layer` ends so many bytes into a later one, `end`: its layer and those bytes."""
    later, size = end
    upto = head(replace(frame, layers=frame.layers[:later])) + size
    return _off(program, layer, f, upto - head(frame) - len(frame.payload), frame)


def _off(program: ir.Program, layer: int, f: int, more: int, frame: Frame) -> bytes | None:
    """With other bytes than there are."""
    value = read(frame, layer, f, encode(program, frame)) + more
    width = frame.layers[layer].shape.header.fields[f].width
    return forced(program, layer, f, value, frame) if 0 <= value < 1 << width else None


# ---------------------------------------------------------------- frames that end within a header


def _truncated(program: ir.Program, layer: int, last: bool) -> Iterator[Boundary]:
    """Whatever the packet claims."""
    for end, before in (("end", 0), ("end", 1), ("start", 0), ("start", -1)):
        rank = NEAR if last and end == "end" else FAR
        side = f"at its {end}" if not before else f"{abs(before)} B {'before' if before > 0 else 'behind'} its {end}"
        make = partial(_broken, program, layer, end == "end", before)
        yield Boundary(f"the frame's end and header {layer + 1}", side, rank, make)


def _broken(program: ir.Program, layer: int, end: bool, before: int, frame: Frame) -> bytes:
    upto = copied(frame)
    upto.layers = upto.layers[: layer + end]
    return encode(program, frame)[: head(upto) - before]
