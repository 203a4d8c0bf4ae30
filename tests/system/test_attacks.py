"""Frames of attackers among other traffic: no queue pair goes down, nothing of others' leaves, all is counted."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from tests import tags
from tests.system import attacks as a
from tests.system.outcome import (
    START,
    Frame,
    Outcome,
    at,
    balanced,
    designed,
    joined,
    ran,
    right,
    traffic,
)

from polysome.backends.system.abi import AT_NF, AT_SERVER
from polysome.engines import ENGINES
from polysome.plan.design import NF_MAC
from polysome_protocol import MOST_SUFFIX

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"
PACKETS = 400
TRAFFIC = 0  # the port that clients are at
LONGEST = 9_000  # bytes that the switch's MACs accept with Ethernet and tag around them


def honest() -> tuple[Frame, ...]:
    return traffic(designed(NAME)[0], PACKETS, 21)


def under(port: int, frames: Sequence[bytes]) -> Outcome:
    """Honest traffic and these frames: what left is as it should be, every frame is counted, all queue pairs are up."""
    outcome = ran(NAME, joined(honest(), at(honest(), port, frames)), seed=2)
    right(outcome)
    balanced(outcome)
    c = outcome.counters
    assert c["queue pairs taken down"] == 0 and outcome.total(" refused") == 0 and "down" not in outcome.events
    assert sum(n for name, n in c.items() if " dropped: " in name and name.startswith("server")) == 0
    return outcome


def own_packets_left(outcome: Outcome) -> None:
    """The honest traffic is all there, but for trailers that cost a packet with or without attackers."""
    quiet = ran(NAME, honest(), seed=2)
    assert outcome.counters["packets left"] >= quiet.counters["packets left"]
    assert len([d for d in outcome.decisions if d.left]) >= len([d for d in quiet.decisions if d.left])


# ---------------------------------------------------------------- lengths


def parkable() -> bytes:
    return next(data for _, _, data in honest() if len(data) > 400 and data[12:14] == b"\x08\x00")


def test_frames_shorter_than_they_claim_are_not_written() -> None:
    base = parkable()
    frames = [a.claiming(base, n) for n in range(len(base) - 13, 1500, 7)]
    frames += [a.claiming(base[:n], 1400) for n in range(80, 400, 9)]
    outcome = under(TRAFFIC, frames)
    assert outcome.events["short"] == len(frames)
    own_packets_left(outcome)


@pytest.mark.parametrize("more", [1, 2, 3, 4, 5, 40, 1200, 4000, 8000])
def test_trailers_of_any_length(more: int) -> None:
    """They are parked or not; what leaves ends at most three bytes behind the packet, and those are its own."""
    base = parkable()
    cut = [base[: len(base) - n] for n in range(8)]
    frames = [a.claiming(frame, len(frame) - 14) + bytes([0xEE]) * more for frame in cut]
    outcome = under(TRAFFIC, frames)
    if more >= 4000:
        assert outcome.events["long"] == len(frames)
    own_packets_left(outcome)


@pytest.mark.parametrize("claimed", [0, 1, 19, 20, 39, 40, 52, 65535, 65531, 32768])
def test_lengths_that_make_no_sense(claimed: int) -> None:
    own_packets_left(under(TRAFFIC, [a.claiming(parkable(), claimed)] * 3))


def test_packets_without_data_runts_and_giants() -> None:
    base = parkable()
    frames = [base[:n] for n in (1, 6, 12, 13, 14, 15, 20, 33, 34, 35, 40, 53, 54, 60)]
    frames += [a.claiming(base[:54], 40), a.claiming((base * 20)[:LONGEST], LONGEST - 14), (base * 40)[:12_000]]
    frames += [base[:14] + bytes([first]) + base[15:] for first in (0x40, 0x41, 0x46, 0x4F, 0x55, 0x65)]
    own_packets_left(under(TRAFFIC, frames))


def test_bytes_at_random() -> None:
    random, base = Random(4), parkable()
    frames = [random.randbytes(random.randrange(14, 1600)) for _ in range(150)]
    for _ in range(150):
        flipped = bytearray(base[: random.randrange(20, len(base))])
        for _ in range(3):
            flipped[random.randrange(12, min(60, len(flipped)))] ^= 1 << random.randrange(8)
        frames.append(bytes(flipped))
    own_packets_left(under(TRAFFIC, frames))


# ---------------------------------------------------------------- forged frames at a traffic port


def test_nobody_at_a_traffic_port_speaks_for_the_nf() -> None:
    """Tags with every flag and version: packets like any other that the NF's parser does not know."""
    frames = [
        a.tagged(seq, 0, 500, 1, flags=flags, version=version, data=b"\xbb" * 80)
        for flags in range(16)
        for version in (0, 1, 2, 15)
        for seq in (1, 200)
    ]
    stranger = [a.ethernet(0xFFFFFFFFFFFF, a.STRANGER, a.SPLIT) + frame[14:] for frame in frames]
    outcome = under(TRAFFIC, frames + stranger)
    assert outcome.events["own_address"] == len(frames), "to the switch's own address"
    assert outcome.events["edits"] == outcome.events["parked"]
    own_packets_left(outcome)


def forged_answers(queue_pairs: int, source: tuple[int, int] | None = None) -> list[bytes]:
    _, design = designed(NAME)
    made = []
    for pair in range(queue_pairs):
        for generation in (0, 1, 2):
            number = a.ours(generation, pair, design)
            made += [
                a.answer(number, psn, said, source)
                for psn in (0, 1 << 23)
                for said in (a.ACK, a.SEQUENCE_NAK, *range(0x61, 0x65))
            ]
            made += [a.response(number, 5, seq, b"\xdd" * 500, source) for seq in (1, 77, 0x3FFFFFFF, 0xFFFFFFFF)]
    return made


@pytest.mark.parametrize("source", ["switch", "server", "stranger"])
def test_nobody_at_a_traffic_port_speaks_for_a_server(source: str) -> None:
    who = {"switch": a.SWITCH, "server": a.server(), "stranger": (a.STRANGER, 0x01020304)}[source]
    frames = forged_answers(2, who)
    outcome = under(TRAFFIC, frames)
    assert outcome.events["own_address"] == len(frames)
    assert "foreign_answer" not in outcome.events and "resync" not in outcome.events
    own_packets_left(outcome)


def forged_requests() -> list[bytes]:
    made = []
    for queue_pair in (0, 0x100, 0x500):
        made += [a.request(a.WRITE_ONLY, queue_pair, 0, 0x1000, 64, b"\xcc" * 64, to) for to in (0, 1)]
        made += [a.request(a.READ_REQUEST, queue_pair, 0, 0x1000, 2048, b"", to) for to in (0, 1)]
    return made


def test_nobody_at_a_traffic_port_speaks_for_the_switch() -> None:
    outcome = under(TRAFFIC, forged_requests())
    assert outcome.events["own_address"] == len(forged_requests())
    strangers = [a.STRANGER.to_bytes(6, "big").join([frame[:6], frame[12:]]) for frame in forged_requests()]
    outcome = under(TRAFFIC, strangers)
    assert outcome.total("writes") == outcome.events["write"] and outcome.total("reads") == outcome.events["read"]
    own_packets_left(outcome)


def test_the_switchs_address_is_nobody_elses() -> None:
    base = parkable()
    mac = a.SWITCH_MAC.to_bytes(6, "big")
    frames = [mac + base[6:], base[:6] + mac + base[12:], mac + mac + base[12:]]
    outcome = under(TRAFFIC, frames)
    assert outcome.events["own_address"] == 3
    own_packets_left(outcome)


# ---------------------------------------------------------------- a shared server's own host


def test_a_server_cannot_answer_for_another() -> None:
    """With the other's addresses, too: an answer comes from its server's port."""
    frames = forged_answers(1, a.server(0)) + forged_answers(1, a.server(1))
    outcome = under(AT_SERVER | 1, frames)
    assert outcome.events["foreign_answer"] == len(frames)
    own_packets_left(outcome)


def test_a_server_cannot_ask_another_in_the_switchs_name() -> None:
    """A request with the switch's address, whatever the station it says it is from, is not forwarded."""
    frames = [frame for frame in forged_requests() if frame[:6] == a.server(0)[0].to_bytes(6, "big")]
    frames += [frame[:6] + a.STRANGER.to_bytes(6, "big") + frame[12:] for frame in frames]
    outcome = under(AT_SERVER | 1, frames)
    assert outcome.events["unknown"] == len(frames)
    own_packets_left(outcome)


def tagged(frame: bytes, tags: str) -> bytes:
    """With VLAN tags: EtherTypes, each but the first behind the bits of the one before."""
    return frame[:12] + bytes.fromhex(tags) + frame[12:]


@pytest.mark.parametrize("tags", ["81000000", "8100e001", "88a80000", "8100000088a80001", "88a8e1238100e123"])
def test_a_tag_gets_nothing_past_the_switch(tags: str) -> None:
    """Requests in the switch's name, with every tag; what is no forgery passes as it came."""
    forged = [tagged(frame, tags) for frame in forged_requests()[:2]]
    plain = a.ethernet(a.SERVER_MAC, a.SERVER_MAC + 1, a.IPV4)
    plain = tagged(plain + a.ipv4_udp(a.SERVER_IP + 1, a.SERVER_IP, 7, 8, b"hello"), tags)
    outcome = ran(NAME, joined(honest(), at(honest(), AT_SERVER | 1, [*forged, plain])), seed=2)
    assert outcome.events["unknown"] == len(forged) and outcome.events["forwarded"] == 1
    assert [it.data for it in outcome.to_hosts] == [plain]
    right(outcome)


def test_what_has_three_tags_does_not_go_on() -> None:
    frame = a.ethernet(a.SERVER_MAC, a.SERVER_MAC + 1, 0x0806) + bytes(46)
    own_packets_left(under(AT_SERVER | 1, [tagged(frame, "810000018100000281000003")]))


@pytest.mark.parametrize("tags", ["", "81000000", "88a8000181000001"])
@pytest.mark.parametrize("to", ["the NF", "another server", "everybody"])
def test_a_server_does_not_speak_to_the_nf_as_if_it_were_the_switch(to: str, tags: str) -> None:
    """Fields and whole frames, of numbers that were given and that will be."""
    mac = {"the NF": NF_MAC, "another server": a.SERVER_MAC, "everybody": EVERYBODY}[to].to_bytes(6, "big")
    made = [a.tagged(seq, 0, 500, 0, flags=flags) for flags in (0, 1) for seq in (1, 5000, 0x3FFFFFFE)]
    frames = [tagged(mac + frame[6:], tags) for frame in made]
    outcome = under(AT_SERVER | 1, frames)
    assert outcome.events["unknown"] == len(frames) and not outcome.to_hosts
    own_packets_left(outcome)


def test_a_servers_own_requests_to_another_are_not_altered() -> None:
    """RDMA between shared servers: the switch adds an ICRC to requests of its own only."""
    own = a.request(a.WRITE_ONLY, 0x77, 3, 0x1000, 64, b"\xcc" * 64, 0)
    own = own[:6] + a.STRANGER.to_bytes(6, "big") + own[12:26] + bytes([10, 0, 0, 9]) + own[30:]
    outcome = ran(NAME, joined(honest(), at(honest(), AT_SERVER | 1, [own])), seed=2)
    assert [it.data for it in outcome.to_hosts] == [own]
    right(outcome)


def test_other_frames_of_servers_are_forwarded() -> None:
    plain = a.ethernet(a.SERVER_MAC, a.SERVER_MAC + 1, a.IPV4) + a.ipv4_udp(
        a.SERVER_IP + 1, a.SERVER_IP, 7, 8, b"hello"
    )
    frames = [plain, a.ethernet(a.SERVER_MAC, a.SERVER_MAC + 1, 0x0806) + bytes(46)]
    outcome = ran(NAME, joined(honest(), at(honest(), AT_SERVER | 1, frames)), seed=2)
    assert [it.data for it in outcome.to_hosts] == frames and outcome.events["forwarded"] == 2
    right(outcome)


EVERYBODY, ALL_NODES = 0xFFFFFFFFFFFF, 0x33_33_00_00_00_01


def test_what_a_server_says_to_all_reaches_the_other_ones_alone() -> None:
    """ARP and neighbour discovery are how shared servers find each other: once to each other one, not to who asks."""
    asks = a.ethernet(EVERYBODY, a.SERVER_MAC + 1, 0x0806) + bytes(range(46))
    discovers = a.ethernet(ALL_NODES, a.SERVER_MAC + 1, 0x86DD) + bytes(range(72))
    sent = joined(honest(), at(honest(), AT_SERVER | 1, [asks, discovers]))
    outcome, quiet = ran(NAME, sent, seed=2), ran(NAME, honest(), seed=2)
    assert [(it.port, it.data) for it in outcome.to_hosts] == [(0, asks), (0, discovers)]
    assert outcome.events["forwarded"] == 2 and "unknown_station" not in outcome.events
    assert outcome.events["whole"] == quiet.events["whole"] and not outcome.own, "nothing of it is the NF's"
    right(outcome)


def test_nobody_says_anything_to_all_in_the_switchs_name() -> None:
    """Requests to every server at once, whatever the station they say that they are from."""
    groups = [to.to_bytes(6, "big") for to in (EVERYBODY, ALL_NODES)]
    frames = [to + frame[6:] for to in groups for frame in forged_requests()]
    frames += [frame[:6] + a.STRANGER.to_bytes(6, "big") + frame[12:] for frame in frames]
    outcome = under(AT_SERVER | 1, frames)
    assert outcome.events["unknown"] == len(frames) and not outcome.to_hosts
    own_packets_left(outcome)


def test_old_numbers_are_not_heard_after_a_queue_pair_came_back() -> None:
    """A fatal NAK to the number that the pair had before takes nothing down, and its responses bring nothing."""
    _, design = designed(NAME)
    frames = traffic(designed(NAME)[0], 1200, 22)
    late = START + 5_000_000
    old, new = (a.ours(generation, 0, design) for generation in (1, 2))
    forged = [a.answer(old, 3, 0x61), a.answer(old, 3, a.SEQUENCE_NAK), a.response(old, 3, 700, bytes(600))]
    outcome = ran(
        NAME, joined(frames, [(AT_SERVER, late + n, frame) for n, frame in enumerate(forged)]), "server0:nak@1ms", 3
    )
    right(outcome)
    balanced(outcome)
    assert outcome.events["foreign_answer"] == len(forged) and outcome.counters["queue pairs taken down"] == 1
    outcome = ran(NAME, joined(frames, [(AT_SERVER, late, a.answer(new, 3, 0x61))]), "server0:nak@1ms", 3)
    assert outcome.counters["queue pairs taken down"] == 2, "its own server may say that it is broken"


# ---------------------------------------------------------------- the NF's port


def edits(seq: int, queue_pair: int = 0, length: int = 512, **more: int) -> bytes:
    return a.tagged(seq, queue_pair, length, 1, **more)


def test_edits_that_are_malformed_do_nothing() -> None:
    _, design = designed(NAME)
    frames = [edits(5, version=version) for version in (0, 2, 15)]
    frames += [edits(5, flags=flags) for flags in range(3, 16)]
    frames += [edits(5, queue_pair=pair) for pair in (design.sizes.queue_pairs, 0x8000, 0xFFFF)]
    frames += [edits(5, length=n) for n in (0, 1, design.sizes.least - 1, design.sizes.most + 1, 2048, 0xFFFF)]
    frames += [edits(seq) for seq in (0, 1 << 30, 1 << 31, 0xFFFFFFFF)]
    outcome = under(AT_NF, frames)
    assert outcome.events["unknown"] == len(frames)
    own_packets_left(outcome)


def test_edits_for_a_queue_pair_that_there_is_not() -> None:
    _, design = designed(NAME)
    outcome = under(AT_NF, [edits(5, queue_pair=pair) for pair in range(2, design.sizes.queue_pairs)])
    assert outcome.events["no_queue_pair"] == design.sizes.queue_pairs - 2
    own_packets_left(outcome)


def test_edits_for_what_is_not_parked_bring_nothing() -> None:
    """Memory that was never written, all ones, and numbers that are given much later or never."""
    frames = [edits(seq, pair) for seq in (0x3FFFFFFF, 0x3FFFFFFE, 1 << 20, (1 << 20) + 1) for pair in (0, 1)]
    outcome = under(AT_NF, frames)
    c = outcome.events
    assert c["old_edits"] == 4  # what is not given yet
    forged = c["edits"] + c.get("repeated_edits", 0) + c.get("edits_given_up", 0) - c["parked"]
    assert forged == len(frames) - 4 and c["foreign_cell"] >= forged // 2
    lost = set(outcome.lost) - set(
        ran(NAME, joined(honest(), at(honest(), AT_NF, [edits(5, version=0)] * len(frames)))).lost
    )
    assert len(lost) <= len(frames), "a slot that is taken costs the packet whose it is, no other"


def early(change: int) -> Outcome:
    """Edits for packets that are parked, before the NF's own, that say another length."""
    quiet = ran(NAME, honest(), seed=2)
    forged = [
        (
            AT_NF,
            d.time - BEFORE,
            a.tagged(d.seq, d.queue_pair, d.length + change, 1),
        )
        for d in quiet.decisions
        if not d.whole
    ]
    assert len(forged) > 100
    return ran(NAME, joined(honest(), forged), seed=2)


BEFORE = 150  # ns before the NF decides: the fields frame is on its way


@pytest.mark.parametrize("change", [-50, -4, -1, 1, 4, 500])
def test_edits_that_lie_about_the_length_get_no_byte(change: int) -> None:
    """What the cell holds behind the packet is another's, of a time before."""
    outcome = early(change)
    balanced(outcome)
    assert outcome.counters["queue pairs taken down"] == 0 and outcome.total(" refused") == 0
    assert outcome.events["repeated_edits"] > 100
    assert not outcome.strangers or abs(change) < 4
    for it in outcome.strangers:
        assert it.packet is not None
        claimed = tags.of(outcome.frames[it.packet][2], "length")
        assert len(it.data) <= claimed - change + MOST_SUFFIX


def test_edits_are_accepted_once() -> None:
    """The first ones leave with the packet; what the NF says then is refused."""
    outcome = early(0)
    balanced(outcome)
    assert len(outcome.strangers) > 100 and not any(d.left for d in outcome.decisions if not d.whole)
    assert outcome.events["repeated_edits"] >= len(outcome.strangers)
