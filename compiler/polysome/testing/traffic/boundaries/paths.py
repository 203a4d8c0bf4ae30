"""The paths through the program's parser, and all boundaries of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from polysome.ir import program as ir
from polysome.plan.design import default_design
from polysome.syntax.diagnostics import SpecError
from polysome.testing.traffic.boundaries.classes import classes
from polysome.testing.traffic.boundaries.lengths import lengths
from polysome.testing.traffic.boundaries.model import Boundary
from polysome.testing.traffic.boundaries.rules import rules
from polysome.testing.traffic.boundaries.selects import selects
from polysome.testing.traffic.boundaries.sums import sums
from polysome.testing.traffic.routes import Route, Step, route


@dataclass(frozen=True)
class Splitting:
    """What only a plan knows: a packet is split if it claims `least` to `most` bytes; None if none is. `paths`: those
    on which some are. `address`: the switch's own.
    """

    lengths: tuple[int, int] | None = None
    paths: frozenset[tuple[int, ...]] = frozenset()
    address: int | None = None


@lru_cache(maxsize=64)
def splitting(program: ir.Program) -> Splitting:
    """On the default site."""
    try:
        design = default_design(program)
    except SpecError:
        return Splitting()
    if not design.ways:
        return Splitting(address=design.addresses.mac)
    split = frozenset(way.instances for way in design.ways)
    return Splitting((design.sizes.least, design.sizes.most), split, design.addresses.mac)


@lru_cache(maxsize=8192)
def routes(program: ir.Program, number: int) -> tuple[Route, ...]:
    """The ways through the parser's nodes to a class, each as a route of its own."""
    found = route(program, number)
    different: dict[tuple[int, ...], Route] = {}
    for chain in found.chains:
        different.setdefault(_nodes(chain), replace(found, chains=(chain,), broken=()))
    if not different:
        for chain in found.broken:
            different.setdefault(_nodes(chain), replace(found, broken=(chain,)))
    return tuple(different.values())


def _nodes(chain: tuple[Step, ...]) -> tuple[int, ...]:
    return tuple(step.node for step in chain)


@lru_cache(maxsize=128)  # of some hundreds each
def boundaries(program: ir.Program, number: int, variant: int = 0) -> tuple[Boundary, ...]:
    """All of one of a class's routes, the near ones first."""
    wanted = routes(program, number)[variant]
    chain = (wanted.chains or wanted.broken)[0]
    known = splitting(program).lengths
    found = (
        *rules(program, wanted.path),
        *selects(program, chain),
        *classes(program, wanted.path),
        *sums(program, wanted.path),
        *lengths(program, wanted.path, () if known is None else (known[0], known[1] + 1)),
    )
    return tuple(sorted(found, key=lambda boundary: boundary.rank))
