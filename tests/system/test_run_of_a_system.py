"""What happens to packets in a system where nothing goes wrong: each step, its time, and what is told of it."""

from __future__ import annotations

from functools import cache
from math import ceil

import pytest
from tests.system import attacks as a
from tests.system.at_work import (
    SECOND,
    START,
    at,
    at_work,
    designed,
    ports_without_rates,
    through,
    whole,
    without_rates,
)
from tests.system.outcome import balanced, ran, right
from tests.system.test_rare_values import parkable
from tests.testing.builtin.networks import captured, scheduled, udp

from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.system import structs
from polysome.backends.system.abi import AT_SERVER, Kind
from polysome.backends.system.cables import CABLE
from polysome.backends.system.configure import NF_FRAME_TIME, Run
from polysome.engines import ENGINES
from polysome.engines.shrunk import shrunk
from polysome.plan import frames as sizes_of
from polysome.plan.architectures.ribosome import requests
from polysome.plan.design import Design, default_design
from polysome.testing.spec import Spec
from polysome_protocol import FRAMES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"
AROUND = 24  # bytes of a frame on a wire: preamble, FCS and gap; Ethernet fills up what has less than 60


def wire(size: int, rate: int) -> float:
    """ns of a frame on a wire of so many bit/s."""
    return (max(size, 60) + AROUND) * 8 * SECOND / rate


# ---------------------------------------------------------------- one packet


def test_a_split_packet_comes_back_whole_with_its_edits() -> None:
    data = parkable(NAME)[2]
    outcome = ran(NAME, [at(0, data)], capture=True)
    assert right(outcome) == 1
    balanced(outcome)
    assert outcome.events == dict.fromkeys(("parked", "edits", "merged", "out", "write", "read", "fields"), 1)
    frames = {name: [len(frame) for _, frame in sent] for name, sent in outcome.links.items()}
    assert frames == {
        "traffic0 in": [len(data)],
        "nf out": [60],
        "nf in": [60],
        "server0 out": [requests.write(len(data)), requests.READ],
        "server0 in": [requests.response(len(data))],
        "traffic1 out": [len(data) + requests.ICRC],
    }
    assert [outcome.counters[f"server0 {what}"] for what in ("requests", "writes", "reads", "responses")] == [
        2,
        1,
        1,
        1,
    ]


def test_a_short_packet_goes_whole_and_back() -> None:
    data = whole()
    outcome = ran(NAME, [at(0, data, 0)], capture=True)
    assert right(outcome) == 1 and outcome.decisions[0].whole and outcome.decisions[0].port == 0
    balanced(outcome)
    assert outcome.events == {"whole": 1, "whole_frame": 1, "returned": 1, "out": 1}
    frames = {name: [len(frame) for _, frame in sent] for name, sent in outcome.links.items()}
    size = 26 + len(data)
    assert frames == {"traffic0 in": [len(data)], "nf out": [size], "nf in": [size], "traffic1 out": [len(data)]}


def test_each_step_takes_its_time() -> None:
    """Without rates: links, the NF's core, and the NIC."""

    def changed(system: structs.System) -> None:
        without_rates(system)
        system.nf_frame_time = 70

    with at_work(*designed(NAME), changed=changed) as system:
        ports_without_rates(system)
        system.arrive([at(0, parkable(NAME)[2])])
        system.finish()
    read = system.design.site.rdma_servers[0].nic.read_ns
    assert [(it.kind, it.time - START) for it in system.records] == [
        (Kind.decided, 2 * CABLE),
        (Kind.answered, 2 * CABLE),
        (Kind.left, 2 * CABLE + 70 + 2 * CABLE + read + 2 * CABLE),
        (Kind.end, 2 * CABLE),
    ]


def test_each_byte_takes_its_time() -> None:
    """A frame is on the wire for its bytes and what is around them, a READ waits for the WRITE, the NIC has a rate."""
    data = parkable(NAME)[2]
    outcome = ran(NAME, [at(0, data)], capture=True)
    site, size = outcome.design.site, len(data)
    nic = site.rdma_servers[0].nic
    came = wire(size, site.traffic_rate)
    fields = came + CABLE + wire(60, site.port_rate)
    edits = ceil(fields) + CABLE + NF_FRAME_TIME + wire(60, site.port_rate)
    written = came + CABLE + wire(requests.write(size), site.port_rate)
    asked = max(written, ceil(edits) + CABLE) + wire(requests.READ, site.port_rate)
    cell = outcome.counters["server0 read bytes"]
    read = ceil(asked) + CABLE + nic.read_ns + cell * 8 * SECOND // nic.queue_pair_bps
    answered = read + wire(requests.response(size), site.port_rate)
    left = ceil(answered) + CABLE + wire(size + requests.ICRC, site.traffic_rate)
    assert {name: [time - START for time, _ in sent] for name, sent in outcome.links.items()} == {
        "traffic0 in": [ceil(came)],
        "nf out": [ceil(fields)],
        "nf in": [ceil(edits)],
        "server0 out": [ceil(written), ceil(asked)],
        "server0 in": [ceil(answered)],
        "traffic1 out": [ceil(left)],
    }
    assert asked - written < wire(requests.READ, site.port_rate) + 1, "it had to wait"
    assert outcome.counters["time"] == START + ceil(left) + CABLE


def test_a_servers_hosts_speak_to_each_other() -> None:
    hello = a.ethernet(a.SERVER_MAC + 1, a.SERVER_MAC, FRAMES.ether_type ^ 0xFF) + bytes(66)
    system = through(designed(NAME), at(0, hello, AT_SERVER | 0))
    assert [(it.port, it.packet, it.data) for it in system.of(Kind.host)] == [(1, 0, hello)]


# ---------------------------------------------------------------- what an NF decides


@cache
def tiny() -> tuple[Spec, Design]:
    """By the UDP port: a seventh is dropped, a fifth goes out twice, the rest once."""
    made = scheduled("fifo")
    return made, default_design(made.program)


@pytest.mark.parametrize("split", [True, False], ids=["split", "whole"])
def test_a_set_of_ports_is_one_decision_and_a_copy_for_each(split: bool) -> None:
    """The first packet goes to two ports, the second one to one of them."""
    known, unknown = (bytes(6 * [2]), bytes(6 * [4]))
    bridged = [at(0, known + unknown + bytes(60), 2), at(20_000, unknown + known + bytes(60), 1)]
    dialled = [at(n * 20_000, udp(1, 9, port, bytes(300))) for n, port in enumerate((5, 1))]
    frames = dialled if split else bridged
    system = through(tiny() if split else designed("bridge"), *frames)
    assert [(it.number, it.packet, it.data[0] & 15) for it in system.of(Kind.decided)] == [
        (0, 0, int(not split)),
        (1, 1, int(not split)),
    ]
    left = sorted((it.packet, it.number, it.port) for it in system.of(Kind.left))
    assert left == ([(0, 0, 1), (0, 0, 2), (1, 1, 1)] if split else [(0, 0, 0), (0, 0, 1), (1, 1, 2)])
    assert all(it.data == frames[it.packet or 0][2] for it in system.of(Kind.left))


def test_a_drop_is_the_nfs_and_costs_no_read() -> None:
    with at_work(*tiny()) as system:
        system.arrive([at(0, udp(1, 9, 7, bytes(300)))])
        system.finish()
        [dropped] = system.of(Kind.dropped)
        assert (dropped.number, dropped.packet, system.running.reason(dropped.port)) == (0, 0, "seven")
        assert not system.of(Kind.left, Kind.lost, Kind.held)
        found = system.counters
        assert (found["packets dropped"], found["packets left"], found["nf dropped: seven"]) == (1, 0, 1)
        assert (found["server0 writes"] + found["server1 writes"], found["server0 reads"]) == (1, 0)
        assert system.events == {"parked": 1, "write": 1, "fields": 1}


def flows(count: int, flags: int = 0x10) -> list[bytes]:
    """Packets over TCP, long enough to be parked, each of another flow, with these flags."""
    data = next(a.data for a in captured(designed("telemetry")[0]).arrivals if a.data[23] == 6 and len(a.data) > 150)
    return [data[:34] + (1000 + n).to_bytes(2, "big") + data[36:47] + bytes([flags]) + data[48:] for n in range(count)]


def test_what_the_nf_makes_leaves_and_is_told_apart() -> None:
    """The table has room for one flow: a second one's packet evicts it, which makes a packet."""
    spec, design = designed("telemetry")
    run = Run(sizes(shrunk(spec.program, 1)), start=START, deep=True)
    with at_work(spec, design, run) as system:
        system.arrive([at(50_000 * n, data) for n, data in enumerate(flows(2))])
        system.finish()
        made, own = system.of(Kind.made), system.of(Kind.own_left)
        collector = spec.program.ports.index("collector")
        assert [(it.number, it.packet, it.port, it.time) for it in made] == [
            (0, 1, collector, system.of(Kind.decided)[1].time)
        ]
        assert [(it.number, it.packet, it.port, it.data) for it in own] == [(0, None, collector, made[0].data)]
        assert own[0].suffix == sizes_of.padding(len(own[0].data))
        assert sorted(it.packet or 0 for it in system.of(Kind.left)) == [0, 1]
        assert (system.counters["nf made"], system.counters["packets left"]) == (1, 2)


@pytest.mark.parametrize("flags", [0x11, 0x10], ids=["ends", "goes on"])
def test_an_entry_that_ends_without_a_packet_does_so_on_time(flags: int) -> None:
    """A flow that says that it ends is forgotten after 1 s; the next packet comes much later."""
    [data] = flows(1, flags)
    system = through(designed("telemetry"), at(0, data), at(5 * SECOND, data))
    made, own = system.of(Kind.made), system.of(Kind.own_left)
    ends = [] if flags == 0x10 else [system.of(Kind.decided)[0].time + SECOND]
    assert [it.time for it in made] == ends and all(it.packet is None for it in made)
    assert [START + SECOND < it.time < START + SECOND + 100_000 for it in own] == [True] * len(ends)


RATE, BURST = 10_000_000, 64_000  # of the shaper, bit/s and bytes


def test_a_held_packet_leaves_on_time_and_the_last_ones_stay_held() -> None:
    """What is above the bucket leaves at the rate, long before the next packet comes; then the bucket is full again."""
    data = parkable("shaper")[2]
    count = BURST // len(data) + 10
    frames = [at(time, data) for time in (0, SECOND) for _ in range(count)]
    system = through(designed("shaper"), *frames)
    decided = [it.time for it in system.of(Kind.decided)]
    due = []
    for first in (decided[0], decided[count]):
        due += [first + ceil(((n + 1) * len(data) - BURST) * 8 * SECOND / RATE) for n in range(count)]
    wanted = [max(came, allowed) for came, allowed in zip(decided, due, strict=True)]
    assert decided[count - 1] < wanted[count - 1] < START + SECOND
    sent = [time for time in wanted if time <= decided[-1]]
    assert [it.time for it in system.of(Kind.answered)] == sent
    held = range(len(sent), len(frames))
    assert len(held) > 5, "the trace ends before they are sent"
    assert [it.packet for it in system.of(Kind.held)] == list(held)
