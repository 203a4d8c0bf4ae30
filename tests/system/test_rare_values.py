"""What takes too long to come up by itself: numbers that wrap, checksums of 0 and ffff, edits repeated much later."""

from __future__ import annotations

import pytest
from tests.p4.soft import run
from tests.system import attacks as a
from tests.system.outcome import Frame, balanced, designed, joined, ran, right, traffic

from polysome.backends.system.abi import AT_NF
from polysome.backends.system.library import limits, p4_text
from polysome.testing.engines import ENGINES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

ROLE_TRAFFIC = 1 << 56  # in the metadata of a port, the rest zeros: the first port of the spec
LAST = 0x3FFFFFFE
IPV4_SUM, UDP, UDP_SUM = slice(24, 26), 17, slice(40, 42)  # in a frame without IPv4 options


def parkable(name: str, protocol: int = 6, port: int = 0) -> Frame:
    """A packet from this port that leaves after it was parked."""
    frames = traffic(designed(name)[0], 300, 5)
    outcome = ran(name, frames)
    parked = (d for d in outcome.decisions if d.left and not d.whole and d.port == port)
    return next(frames[d.packet] for d in parked if frames[d.packet][2][23] == protocol)


def with_bytes(frame: Frame, place: slice, value: int) -> Frame:
    port, time, data = frame
    return port, time, data[: place.start] + value.to_bytes(2, "big") + data[place.stop :]


@pytest.mark.parametrize(("before", "after"), [(0, 1), (LAST - 1, LAST), (LAST, 1)])
def test_0_and_all_ones_are_never_given(before: int, after: int) -> None:
    """Rule 2 of the split protocol: memory that was never written holds all ones."""
    _, design = designed("load_balancer")
    frame = parkable("load_balancer")[2].hex()
    script = [f"port 1 metadata={ROLE_TRAFFIC}", f"write Ingress.counter 0 {before}", f"in 1 0 {frame}"]
    found = run(p4_text(design), "\n".join([*script, "read Ingress.counter 0"]), limits(design.site.switch))
    assert int(found[-1].split()[-1]) == after


def test_edits_repeated_when_their_packet_has_left_are_refused() -> None:
    """Rule 8: the cell still holds the packet, but the slot says done."""
    _, design = designed("load_balancer")
    assert design.sizes.slots >= 50
    frames = traffic(designed("load_balancer")[0], 200, 6)
    parked = [d for d in ran("load_balancer", frames).decisions if d.left and not d.whole][-50:]
    late = frames[-1][1] + 5_000_000  # longer than a slot waits
    again = [
        (
            AT_NF,
            late + 1_000 * n,
            a.tagged(d.seq, int.from_bytes(d.tag[6:8], "big"), int.from_bytes(d.tag[8:10], "big"), 1),
        )
        for n, d in enumerate(parked)
    ]
    outcome = ran("load_balancer", joined(frames, again))
    assert right(outcome) > 100
    balanced(outcome)
    assert outcome.events["repeated_edits"] == len(again) == 50


def test_a_checksum_of_all_ones_goes_whole() -> None:
    """Rule 12: it is minus zero, which an update would make zero."""
    frame = parkable("load_balancer")
    outcome = ran("load_balancer", [with_bytes(frame, IPV4_SUM, 0xFFFF)])
    right(outcome)
    assert [d.whole for d in outcome.decisions] == [True]


def test_udps_computed_zero_becomes_ones_and_its_zero_stays() -> None:
    """Rule 12. A checksum that was wrong stays wrong by as much, so one that becomes zero is found by a first run."""
    frame = parkable("nat", UDP)

    def updated(value: int) -> int:
        outcome = ran("nat", [with_bytes(frame, UDP_SUM, value)])
        assert right(outcome) == 1 and not outcome.decisions[0].whole
        return int.from_bytes(outcome.decisions[0].left[0][2][UDP_SUM], "big")

    becomes_zero = (0x1234 - updated(0x1234)) % 0xFFFF
    assert becomes_zero != 0 and updated(becomes_zero) == 0xFFFF
    assert updated(0) == 0
