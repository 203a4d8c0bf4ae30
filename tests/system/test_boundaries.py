"""Boundary packets of every example do the same on all engines, and the switch splits just those that the plan says.

The list (`polysome.testing.traffic.boundary_packets`) has packets on both sides of every condition of all paths
through the parser. A failure names the packet: its path, the condition and the side.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from tests.system.outcome import SYSTEM
from tests.testing.builtin.networks import EXAMPLES, example
from tests.testing.traffic.plan_reading import readers

from polysome.engines import ENGINES, Engine
from polysome.engines.options import RunOptions
from polysome.plan.design import default_design
from polysome.testing import traffic
from polysome.testing.builtin.base import Broken
from polysome.testing.builtin.compare import same
from polysome.testing.spec import Spec
from polysome.testing.traffic import BoundaryPacket

INTERP, NATIVE = ENGINES["interp"], ENGINES["native"]
OPTIONS = RunOptions()
PIECE = 250  # packets of one run: the interpreter keeps every version of the state
Packets = tuple[BoundaryPacket, ...]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing())),
]


@cache
def listed(name: str) -> Packets:
    return tuple(traffic.boundary_packets(example(name)))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("engine", [NATIVE, SYSTEM], ids=lambda engine: engine.name)
def test_boundary_packets_do_the_same_on_every_engine(name: str, engine: Engine) -> None:
    spec = example(name)
    for packets in traffic.boundary_pieces(listed(name), PIECE):
        found = engine.run(spec.program, traffic.boundary_trace(spec, packets), OPTIONS)
        assert found.crash is None
        assert len(found.fates) == len(packets)
        expected = INTERP.run(spec.program, found.decided(), OPTIONS)
        assert expected.crash is None
        try:
            same(expected, found, engine.name)
        except Broken as broken:
            about = [f"{n + 1}: {packets[n]}: {packets[n].data.hex()}" for n in broken.failure.packets]
            pytest.fail("\n".join([*about, *broken.failure.said]))


# ---------------------------------------------------------------- what is split


def split(name: str, packets: Packets, counted: Counter[str]) -> int:
    """How many of the packets the switch parks."""
    counted.clear()
    spec = example(name)
    assert SYSTEM.run(spec.program, traffic.boundary_trace(spec, packets), OPTIONS).crash is None
    return counted["parked"]


def wanted(spec: Spec, packets: Packets) -> Packets:
    """Those that the plan says are split."""
    ways = readers(default_design(spec.program))
    return tuple(p for p in packets if any(not way.failing(p.data) for way in ways))


def wrong(name: str, packets: Packets, counted: Counter[str]) -> BoundaryPacket | None:
    """One of the packets that is split although the plan says that it goes whole, or the other way round."""
    spec = example(name)
    if split(name, packets, counted) == len(wanted(spec, packets)):
        return None
    while len(packets) > 1:
        half = packets[: len(packets) // 2]
        packets = packets[len(half) :] if split(name, half, counted) == len(wanted(spec, half)) else half
    return packets[0]


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("whole", [False, True], ids=["split", "whole"])
def test_the_switch_splits_what_the_plan_says(name: str, whole: bool, counted: Counter[str]) -> None:
    spec, packets = example(name), listed(name)
    chosen = set(wanted(spec, packets))
    some = tuple(p for p in packets if (p not in chosen) == whole)
    found = wrong(name, some, counted)
    assert found is None, f"goes {'split' if whole else 'whole'}: {found}: {found.data.hex()}"
