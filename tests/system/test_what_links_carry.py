"""What the links of a running system carry is what plans are summed up from: the frames of each class, and requests.

`tests/plan/test_by_hand.py` sums plans up from the same sizes; `tests/up/test_as_planned.py` asks the same of
deployments.
"""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from tests.system import wire
from tests.system.outcome import Outcome, ran, traffic
from tests.testing.builtin.networks import EXAMPLES, example

from polysome.backends.nf_cpp.build import missing
from polysome.plan import frames
from polysome.plan.architectures.ribosome import requests
from polysome.testing.traffic import boundary_packets

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

GAP = 40_000  # ns: so long that no queue drops
COUNT = 120


@pytest.fixture(scope="module", params=EXAMPLES)
def outcome(request: pytest.FixtureRequest) -> Outcome:
    """Packets of the example's captures, and those on both sides of its parser's conditions; not those that end before
    their claimed end, which are never written."""
    name, spec = request.param, example(request.param)
    usual = traffic(spec, COUNT, seed=5, gap=GAP)
    time, odd = usual[-1][1], islice(boundary_packets(spec), 0, None, 4)
    others = tuple((p.port, time + GAP * n, p.data) for n, p in enumerate(odd, 1))
    first = ran(name, usual + others)
    assert set(first.lost.values()) <= {"switch: the packet was never written"}
    return ran(name, tuple(f for n, f in enumerate(usual + others) if n not in first.lost), capture=True)


def on_the_nf_link(outcome: Outcome, direction: str, kind: int) -> list[bytes]:
    return [frame for _, frame in outcome.links.get(f"nf {direction}", ()) if wire.kind(frame) == kind]


def on_server_links(outcome: Outcome, direction: str, opcode: int) -> Counter[int]:
    """How often frames of each length with an opcode are there."""
    links = (sent for name, sent in outcome.links.items() if name.startswith("server") and name.endswith(direction))
    return Counter(len(frame) for sent in links for _, frame in sent if wire.opcode(frame) == opcode)


def test_frames_of_a_class_are_as_long_as_the_plan_says(outcome: Outcome) -> None:
    split = [f for f in outcome.design.plan.split if f.number is not None]
    fields, edits = (on_the_nf_link(outcome, direction, wire.SPLIT) for direction in ("out", "in"))
    assert not wire.of_other_lengths(fields, {f.number: f.to_nf for f in split})
    assert not wire.of_other_lengths(edits, {f.number: f.from_nf for f in split})
    assert bool(fields) == bool(split)


def test_whole_packets_have_the_tag_before_them(outcome: Outcome) -> None:
    """Ethernet fills up what is shorter than its least frame."""
    seen = Counter(max(frames.whole(0), len(frame)) for frame in on_the_nf_link(outcome, "out", wire.WHOLE))
    assert seen == Counter(frames.whole(len(outcome.frames[d.packet][2])) for d in outcome.decisions if d.whole)


def test_a_packet_is_read_back_by_its_claimed_length(outcome: Outcome) -> None:
    """Each that leaves is asked for once, by a READ; what is dropped never is."""
    left = [len(packet) for d in outcome.decisions if not d.whole for _, packet, _ in d.left]
    assert on_server_links(outcome, "in", wire.RESPONSE) == Counter(map(requests.response, left))
    assert on_server_links(outcome, "out", wire.READ) == ({requests.READ: len(left)} if left else {})


def test_a_packet_is_written_as_long_as_it_came(outcome: Outcome) -> None:
    """With what is behind the claimed end; where that was is known of those that leave."""
    split = [d for d in outcome.decisions if not d.whole]
    written = on_server_links(outcome, "out", wire.WRITE)
    came = Counter[int]()
    for decision in split:
        size = len(outcome.frames[decision.packet][2])
        claimed = len(decision.left[0][1]) if decision.left else size
        came[requests.write(claimed) + (size - claimed) - (size - claimed) % 4] += 1
    dropped = sum(not d.left for d in split)
    assert (written - came).total() <= dropped
    assert len(split) - dropped <= written.total() <= len(split)
