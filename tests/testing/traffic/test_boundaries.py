"""The boundary packets of every example meet every condition of every way of its plan, on both sides."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.testing.builtin.networks import EXAMPLES, example
from tests.testing.traffic.plan_reading import Asked, Reader, readers

from polysome.plan.design import default_design
from polysome.testing import traffic
from polysome.testing.traffic import BoundaryPacket

ONES = 0xFFFF  # as a length more than a frame has, as a checksum minus zero


Alone = dict[tuple[int, str], list[bytes]]  # by step and kind of condition


def missed(reader: Reader, packets: tuple[BoundaryPacket, ...]) -> list[str]:
    """The conditions of which some side has no packet for which all else holds."""
    split: list[bytes] = []
    alone: Alone = defaultdict(list)
    first: Alone = defaultdict(list)  # what stands behind may be wrong too
    for packet in packets:
        failing = reader.failing(packet.data)
        here = [c for c in failing if c.step == failing[0].step]
        if not failing:
            split.append(packet.data)
        elif len(here) == 1 or [c.kind for c in here] == ["value", "choice"]:  # a select may ask for it too
            for c in here:
                first[c.step, c.kind].append(packet.data)
                if here == failing:
                    alone[c.step, c.kind].append(packet.data)
    found = [] if split else ["no packet is split"]
    for number in range(len(reader.way.steps)):
        if not alone[number, "there"]:
            found.append(f"no frame ends in header {number + 1}")
        for c in reader.asked(number):
            key = number, c.kind
            found += [f"{c}: none {side}" for side in lacking(reader, c, split, first[key], alone[key])]
    if reader.way.steps[-1].options is not None and not alone[len(reader.way.steps) - 1, "options"]:
        found.append("no frame ends among options")
    return found


def lacking(reader: Reader, c: Asked, split: list[bytes], first: list[bytes], alone: list[bytes]) -> list[str]:
    """The sides of a condition with no packet: its bounds, and next to them."""
    if c.kind == "choice":
        return [] if any(reader.box_but_for(c, data) for data in alone) else ["that is not in its box because of it"]
    inside, next_to, without = ({reader.value(c.step, c.key, data) for data in some} for some in (split, first, alone))
    most = (1 << reader.width(c.step, c.key)) - 1
    wrong = [v for v in (c.low - 1, c.high + 1) if 0 <= v <= most]
    right = [c.low] if c.high >= ONES - 1 else [c.low, c.high]
    found = [f"with {v:#x}" for v in wrong if v not in next_to] + [f"with {v:#x}" for v in right if v not in inside]
    if wrong and all(v is not None and c.low <= v <= c.high for v in without):
        found.append("that is wrong in nothing else")
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_condition_of_every_way_has_packets_on_both_sides(name: str) -> None:
    spec = example(name)
    packets = tuple(traffic.boundary_packets(spec))
    found = {
        " ".join(spec.program.parser.instances[i].name for i in reader.way.instances): missed(reader, packets)
        for reader in readers(default_design(spec.program))
    }
    assert not any(found.values()), found


def test_the_list_is_the_same_every_time_and_pieces_begin_with_what_is_answered() -> None:
    spec = example("nat")
    packets = tuple(traffic.boundary_packets(spec, 600))
    assert len(packets) == 600 and packets == tuple(traffic.boundary_packets(spec, 600))
    pieces = list(traffic.boundary_pieces(packets, 40))
    assert [p for piece in pieces for p in piece if p.condition != "none"] == [
        p for p in packets if p.condition != "none"
    ]
    for piece in pieces:
        assert len(piece) <= 41
        answered = [p for p in piece if p.port == 1]
        assert not answered or piece[0].condition == "none"
