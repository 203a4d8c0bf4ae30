"""Boundary packets in generated traffic: of a frame that there is, one that a block of choices decides."""

from __future__ import annotations

from functools import lru_cache

from polysome.ir import program as ir
from polysome.testing.traffic.boundaries.model import Boundary, sized
from polysome.testing.traffic.boundaries.paths import boundaries, routes, splitting
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.frames import Frame

_SPLIT = 0.7  # share of frames that are long enough to be split


def at_boundary(program: ir.Program, c: Choices, frame: Frame) -> bytes | None:
    """The frame on one side of one condition; None if it is damaged, or that condition cannot be had."""
    number = _numbers(program).get(frame.path)
    if number is None or frame.cut is not None or frame.missing:
        return None
    several = routes(program, number)
    found = _conditions(program, number, c.below(len(several)) if len(several) > 1 else 0) if several else ()
    if not found:
        return None
    chosen = c.early(c.pick(found))
    known = splitting(program).lengths
    long = sized(known[0], frame, c.below(4)) if known is not None and c.chance(_SPLIT) else frame
    return chosen.make(long)


@lru_cache(maxsize=128)
def _conditions(program: ir.Program, number: int, variant: int) -> tuple[tuple[Boundary, ...], ...]:
    """The boundaries of each condition of a route, the near ones first."""
    found: dict[str, list[Boundary]] = {}
    for boundary in boundaries(program, number, variant):
        found.setdefault(boundary.condition, []).append(boundary)
    return tuple(tuple(sides) for sides in found.values())


@lru_cache(maxsize=64)
def _numbers(program: ir.Program) -> dict[tuple[int, ...], int]:
    return {path: number for number, path in enumerate(program.parser.classes)}
