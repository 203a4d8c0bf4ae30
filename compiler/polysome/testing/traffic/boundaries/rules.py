"""Headers' own rules: values of the fields that validity, size and end depend on, where these change and beside that.

Of a field of up to four bits all values; else those around the rules' constants, and where a rule changes its mind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise

from polysome.ir import program as ir
from polysome.ir.fold import NotConstant, Undefined
from polysome.testing.traffic.boundaries.model import FAR, NEAR, Boundary, copied, forced, head, name
from polysome.testing.traffic.frames import Frame, encode
from polysome.testing.traffic.headers import Shape, candidates_of, rule, shapes, size_of, with_lengths

_SMALL = 4  # bits of a field of which all values are tried
_AFTER = 64  # bytes behind the header of the example that rules are asked about


def rules(program: ir.Program, path: Sequence[int]) -> Iterator[Boundary]:
    """Of all headers of a path."""
    for layer, instance in enumerate(path):
        shape = shapes(program)[instance]
        for f in sorted(shape.rules):
            condition = f"the rules of {name(program, instance, f)}"
            for value, near in _values(program, instance, f):
                make = partial(_with_value, program, layer, f, value)
                yield Boundary(condition, f"{value:#x}", NEAR if near else FAR, make)
        if layer == len(path) - 1:
            yield from _among_options(program, layer, instance)


def _among_options(program: ir.Program, layer: int, instance: int) -> Iterator[Boundary]:
    """The last header has options, which the frame has all but the last byte of, whatever it claims."""
    shape = shapes(program)[instance]
    for f in sorted(shape.rules):
        near = [value for value, near in _values(program, instance, f) if near] if _sizing(program, shape, f) else []
        for value in near:
            condition = f"the frame's end and the options by {name(program, instance, f)}"
            yield Boundary(condition, f"{value:#x}", NEAR, partial(_cut_options, program, layer, f, value))


def _cut_options(program: ir.Program, layer: int, f: int, value: int, frame: Frame) -> bytes | None:
    values = list(frame.layers[layer].values)
    values[f] = value
    end = head(replace(frame, layers=frame.layers[:layer])) + size_of(program, frame.layers[layer].shape.header, values)
    data = _with_value(program, layer, f, value, frame)
    return data[: end - 1] if end <= len(data) else None


def _with_value(program: ir.Program, layer: int, f: int, value: int, frame: Frame) -> bytes:
    """With as many bytes of options as the value says, if any; a header cannot be shorter than its fixed fields."""
    shape = frame.layers[layer].shape
    if shape.header.size is None or not _sizing(program, shape, f):
        return forced(program, layer, f, value, frame)
    found = copied(frame)
    values = list(found.layers[layer].values)
    values[f] = value
    size = max(0, size_of(program, shape.header, values) - shape.header.fixed)
    found.layers[layer].rest = _like_a_header(program, layer, size, frame)
    found.forced[layer, f] = value
    return encode(program, found)


def _like_a_header(program: ir.Program, layer: int, size: int, frame: Frame) -> bytes:
    """Options that look like what follows, but for another flow: whoever takes them for that does something else.

    The first two words differ by different amounts, so that an answer's are no answer to these.
    """
    behind = encode(program, frame)[head(replace(frame, layers=frame.layers[: layer + 1])) :] or b"\0"
    content = bytearray((behind * (size // len(behind) + 1))[:size])
    for at in (0, 2):
        if at + 2 <= size:
            word = int.from_bytes(content[at : at + 2], "big")
            content[at : at + 2] = (word + 1 + at & 0xFFFF).to_bytes(2, "big")
    return bytes(content)


def largest(program: ir.Program, instance: int) -> int:
    """Bytes of a header with all options that one of its fields can announce."""
    shape = shapes(program)[instance]
    sizes = [shape.header.fixed]
    for f in shape.rules:
        values = list(shape.base)
        values[f] = (1 << shape.header.fields[f].width) - 1
        sizes.append(size_of(program, shape.header, values))
    return max(sizes)


def _sizing(program: ir.Program, shape: Shape, f: int) -> bool:
    """Does a header's size depend on the field?"""
    sizes = set()
    for value in (0, 1, (1 << shape.header.fields[f].width) - 1):
        values = list(shape.base)
        values[f] = value
        sizes.add(size_of(program, shape.header, values))
    return len(sizes) > 1


@lru_cache(maxsize=1024)
def _values(program: ir.Program, instance: int, f: int) -> tuple[tuple[int, bool], ...]:
    """Values of a field, and whether a rule changes right there."""
    shape = shapes(program)[instance]
    most = (1 << shape.header.fields[f].width) - 1

    def says(value: int) -> tuple[bool, ...]:
        return _says(program, shape, f, value)

    if shape.header.fields[f].width <= _SMALL:
        tried = set(range(most + 1))
    else:
        tried = set(candidates_of(program, shape.header, f, shape.base[f])) | {_example(program, shape)[f]}
    ordered = sorted(tried)
    near = {edge for low, high in pairwise(ordered) for edge in _edges(says, low, high)}
    if _sizing(program, shape, f):
        near |= {v for v in (least + 1 for least in near) if v <= most} | {most}
    return tuple((value, value in near) for value in sorted(tried | near))


def _edges(says: Callable[[int], tuple[bool, ...]], low: int, high: int) -> tuple[int, ...]:
    """The last value that is like `low` and the one after it, if `high` is not; rules change once between them."""
    if says(low) == says(high):
        return ()
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if says(middle) == says(low) else (low, middle)
    return low, high


def _example(program: ir.Program, shape: Shape) -> list[int]:
    """Values of all fields of a header without options that is right."""
    values = list(shape.base)
    with suppress(NotConstant, Undefined):  # a length that divides by zero stays as it is
        with_lengths(program, shape.header, shape.lengths, values, shape.header.fixed, _AFTER)
    return values


def _says(program: ir.Program, shape: Shape, f: int, value: int) -> tuple[bool, ...]:
    """What a header's rules say of the example with this value: valid, not too small, ends behind its own end."""
    header, values = shape.header, _example(program, shape)
    values[f] = value
    size = size_of(program, header, values)
    try:
        valid = header.valid is None or bool(rule(program, header.valid, values, size, _AFTER))
        ends = header.end is None or rule(program, header.end, values, size, _AFTER) >= size
    except (NotConstant, Undefined):
        return (False,)
    return valid, size >= header.fixed, ends
