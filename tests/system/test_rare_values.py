"""What hardly comes up by itself: numbers that wrap, checksums of 0 and ffff, edits for a cell of before, full NICs."""

from __future__ import annotations

import pytest
from tests.p4.soft import run
from tests.system import attacks as a
from tests.system.outcome import Frame, balanced, designed, joined, ran, right, traffic

from polysome.backends.system.abi import AT_NF
from polysome.backends.system.library import limits, p4_text
from polysome.engines import ENGINES

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
            a.tagged(d.seq, d.queue_pair, d.length, 1),
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
        return int.from_bytes(outcome.decisions[0].left[0][1][UDP_SUM], "big")

    becomes_zero = (0x1234 - updated(0x1234)) % 0xFFFF
    assert becomes_zero != 0 and updated(becomes_zero) == 0xFFFF
    assert updated(0) == 0


def test_edits_for_the_number_that_a_cell_gets_next_bring_nothing() -> None:
    """The cell holds a packet and the slot is that of both, but the number is not given yet."""
    spec, design = designed("load_balancer")
    frames = traffic(spec, 200, 6)
    quiet = ran("load_balancer", frames)
    parked = [d for d in quiet.decisions if d.left and not d.whole][-50:]
    start = frames[-1][1] + 5_000_000
    early = [
        (
            AT_NF,
            start + 1_000 * n,
            a.tagged(d.seq + design.sizes.cells, d.queue_pair, d.length, 1),
        )
        for n, d in enumerate(parked)
    ]
    outcome = ran("load_balancer", joined(frames, early))
    assert right(outcome) > 100
    balanced(outcome)
    assert outcome.events["old_edits"] == len(early) == 50
    assert outcome.events["edits"] == quiet.events["edits"], "none of them is read for"


def test_a_connection_keeps_its_queue_pair() -> None:
    """Rule 9: by another one it would come in another order."""
    frames = traffic(designed("load_balancer")[0], 300, 7)
    taken: dict[tuple[int, bytes, bytes], set[bytes]] = {}
    for decision in ran("load_balancer", frames).decisions:
        data = frames[decision.packet][2]
        if not decision.whole:
            taken.setdefault((decision.port, data[23:24], data[26:38]), set()).add(decision.queue_pair)
    assert len(set.union(*taken.values())) > 1, "both servers are used"
    assert taken and all(len(queue_pairs) == 1 for queue_pairs in taken.values())


def test_16_reads_are_out_at_most() -> None:
    """Rule 6. The NF's answers come all at once, and responses are larger than READs, so they queue."""
    frames = traffic(designed("load_balancer")[0], 600, 8)
    outcome = ran("load_balancer", frames, "nf:stuck@500us..1500us", capture=True)
    right(outcome)
    most = 0
    for server in ("server0", "server1"):
        asked = [(time, 1) for time, data in outcome.links[f"{server} out"] if data[42] == 0x0C]
        answered = [(time, -1) for time, data in outcome.links[f"{server} in"] if data[42] == 0x10]
        out = 0
        for _, change in sorted(asked + answered):
            out += change
            most = max(most, out)
    assert most == 16
