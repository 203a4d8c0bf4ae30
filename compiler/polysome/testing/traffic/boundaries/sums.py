"""Checksums: right ones, wrong ones, and the two zeros of ones' complement, stored both ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from polysome.ir import program as ir
from polysome.testing.traffic.boundaries.model import FAR, NEAR, Boundary, copied, forced, free, name, read
from polysome.testing.traffic.frames import Frame, encode
from polysome.testing.traffic.headers import shapes

_ONES = 0xFFFF


def sums(program: ir.Program, path: Sequence[int]) -> Iterator[Boundary]:
    """Of all headers of a path; those of the last one are near."""
    for layer, instance in enumerate(path):
        shape = shapes(program)[instance]
        if shape.instance.cut is not None:
            continue
        rank = NEAR if layer == len(path) - 1 else FAR
        for f in shape.checksums:
            condition = f"the value of {name(program, instance, f)}"
            for value in (0, _ONES):
                stored = partial(forced, program, layer, f, value)
                yield Boundary(condition, f"{value:#06x}", rank, stored)
                tuned = partial(_tuned, program, layer, f, value)
                yield Boundary(condition, f"{value:#06x}, of a sum that is zero", rank, tuned)
            yield Boundary(condition, "wrong by one bit", rank, partial(_wrong, program, layer, f))
            if layer == len(path) - 1:
                yield Boundary(condition, "right, over zeros", FAR, partial(_zeros, program, layer))


def _wrong(program: ir.Program, layer: int, f: int, frame: Frame) -> bytes:
    return forced(program, layer, f, read(frame, layer, f, encode(program, frame)) ^ 1, frame)


def _zeros(program: ir.Program, layer: int, frame: Frame) -> bytes:
    """All that nothing depends on in the header and behind it is zero."""
    found = copied(frame)
    for f in free(program, found.layers[layer].shape):
        found.layers[layer].values[f] = 0
    found.payload = bytes(len(found.payload))
    return encode(program, found)


def _tuned(program: ir.Program, layer: int, f: int, value: int, frame: Frame) -> bytes | None:
    """All that the checksum covers adds up to minus zero, so either zero is right where zero is not none."""
    found = copied(frame)
    header = found.layers[layer].shape.header
    checksum = header.fields[f].checksum
    assert checksum is not None
    sum = read(found, layer, f, encode(program, found))
    if "rest" in checksum.parts:
        behind = _to_payload(found, layer)
        at = behind % 2
        if len(found.payload) < at + 2 or (behind + at) % 2:
            return None
        word = int.from_bytes(found.payload[at : at + 2], "big")
        made = _added(word, sum)
        found.payload = found.payload[:at] + made.to_bytes(2, "big") + found.payload[at + 2 :]
    else:
        words = [w for w in free(program, found.layers[layer].shape) if header.fields[w].offset % 16 == 0]
        words = [w for w in words if header.fields[w].width == 16]
        if not words:
            return None
        found.layers[layer].values[words[0]] = _added(found.layers[layer].values[words[0]], sum)
    return forced(program, layer, f, value, found)


def _to_payload(frame: Frame, layer: int) -> int:
    """Bytes from a header's start to the payload."""
    return sum(one.shape.header.fixed + len(one.rest) for one in frame.layers[layer:])


def _added(word: int, checksum: int) -> int:
    """A word that makes the checksum zero: it takes over what the checksum made up for."""
    return (word + checksum) % _ONES
