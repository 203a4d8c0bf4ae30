"""One condition on a parse path with a side of it, and how a frame is put there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.testing.traffic.frames import Frame, encode
from polysome.testing.traffic.headers import Shape
from polysome.testing.traffic.routes import selects

FILL = bytes((n * 7 + (n >> 8)) & 0xFF for n in range(70_000))
_FIVES = 0x5555_5555  # five words: a length that many headers can have
_LONGER = 40  # bytes over the least length
NEAR, FAR = 0, 1  # ranks: next to where a condition changes; anywhere else


@dataclass(frozen=True)
class Boundary:
    """`make` gives the bytes of a frame of the path with the condition on this side, all else right as far as it can
    be; None if the frame has no room for it. The frame stays as it is. `sized`: the condition is about the packet's
    length, which the frame's own does not matter for.
    """

    condition: str
    side: str
    rank: int
    make: Callable[[Frame], bytes | None]
    sized: bool = False


def name(program: ir.Program, instance: int, field: int) -> str:
    """A field as the spec names it."""
    found = program.parser.instances[instance]
    return f"{found.name}.{found.header.fields[field].name}"


def copied(frame: Frame) -> Frame:
    """A copy for any change, with what `Frame.copy` leaves out."""
    return replace(
        frame,
        layers=[layer.copy() for layer in frame.layers],
        peeks=list(frame.peeks),
        forced=dict(frame.forced),
    )


def head(frame: Frame) -> int:
    """Bytes of all headers."""
    return sum(layer.shape.header.fixed + len(layer.rest) for layer in frame.layers)


def with_total(total: int, frame: Frame) -> Frame | None:
    """The frame with a payload that makes it `total` bytes long; None if its headers alone are longer."""
    size = total - head(frame)
    if size < 0:
        return None
    found = copied(frame)
    found.payload = frame.payload[:size] + FILL[len(frame.payload) : size]
    return found


def sized(least: int, frame: Frame, more: int) -> Frame:
    """The frame with a payload that makes it longer than `least` bytes, by a few and `more`."""
    found = with_total(max(least, head(frame)) + _LONGER + more, frame)
    assert found is not None
    return found


def forced(program: ir.Program, layer: int, field: int, value: int, frame: Frame) -> bytes:
    """The frame with a field's value put in after its lengths were computed; checksums are right with it."""
    found = copied(frame)
    found.forced[layer, field] = value
    return encode(program, found)


def read(frame: Frame, layer: int, field: int, data: bytes) -> int:
    """A field's value in the bytes of a frame."""
    start = sum(one.shape.header.fixed + len(one.rest) for one in frame.layers[:layer])
    header = frame.layers[layer].shape.header
    found = header.fields[field]
    whole = int.from_bytes(data[start : start + header.fixed].ljust(header.fixed, b"\0"), "big")
    return whole >> (header.fixed * 8 - found.offset - found.width) & ((1 << found.width) - 1)


@lru_cache(maxsize=1024)
def free(program: ir.Program, shape: Shape) -> tuple[int, ...]:
    """Fields on which neither the way through the parser nor the packet's ends depend, and which are no addresses."""
    return tuple(
        f
        for f, field in enumerate(shape.header.fields)
        if not (field.rest or field.read_only or f in shape.rules or isinstance(field.type, t.Address))
        and (shape.number, f) not in selects(program)
    )


def mislead(program: ir.Program, frame: Frame) -> None:
    """What nothing depends on looks like a header's length, to whoever takes it for a field of another header."""
    for layer in frame.layers:
        for f in free(program, layer.shape):
            if layer.shape.header.fields[f].width == 32:
                layer.values[f] = _FIVES
