"""The traces of a campaign: endless, in shares that can be made apart from each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from polysome.engines.trace import Trace
from polysome.testing import traffic
from polysome.testing.plan import Plan, Sizes
from polysome.testing.spec import Spec

SHARE = 120  # traces: a multiple of all turns below
_LISTED = 4  # of so many traces one is of boundary packets,
_PIECE = 40  # so many of them


@lru_cache(maxsize=4)
def sized(spec: Spec, sizes: Sizes) -> tuple[Spec, ...]:
    """The spec with room for a few entries and as declared, as often as each has its turn."""
    small = spec.small()
    return {Sizes.both: (small, small, spec), Sizes.small: (small,), Sizes.declared: (spec,)}[sizes]


def stream(spec: Spec, plan: Plan) -> Iterator[tuple[Spec, Trace]]:
    """All traces of a campaign, without end."""
    number = 0
    while True:
        yield from share(spec, plan, number, SHARE)
        number += 1


def share(spec: Spec, plan: Plan, number: int, count: int) -> Iterator[tuple[Spec, Trace]]:
    """The first `count` traces of share `number`, for each size in turn; state of the declared size is rarely full, so
    it has fewer.

    Some of them, as long as there are any, are the program's boundary packets, the same in every campaign.
    """
    turns = sized(spec, plan.sizes)
    each = SHARE // _LISTED
    boundaries = _pieces(spec)[number * each : (number + 1) * each]
    listed = dict(zip(range(1, count, _LISTED), boundaries, strict=False))
    wanted = Counter(id(turns[n % len(turns)]) for n in range(count) if n not in listed)
    seed = plan.seed + (number << 32)
    streams = {
        id(s): traffic.seeded(s, seed, captures=plan.captures, count=wanted[id(s)]) for s in dict.fromkeys(turns)
    }
    for n in range(count):
        turn = turns[n % len(turns)]
        yield turn, traffic.boundary_trace(spec, listed[n]) if n in listed else next(streams[id(turn)])


@lru_cache(maxsize=4)
def _pieces(spec: Spec) -> tuple[tuple[traffic.BoundaryPacket, ...], ...]:
    return tuple(traffic.boundary_pieces(traffic.boundary_packets(spec), _PIECE))
