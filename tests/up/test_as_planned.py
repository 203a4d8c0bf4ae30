"""What the links of running deployments carry is what their plans say, packet by packet: each is sent from a traffic
port of a quiet deployment, and every frame that it causes inside is captured, and counted by the interfaces too.

A few deployments, in which every site and every sort of packets is, are tested always. With POLYSOME_ALL_DEPLOYMENTS=1
in the environment, as `make campaign` has it, all examples are.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest
from tests import tags
from tests.system import wire
from tests.up.figures import record
from tests.up.load.carried import Deployed, deployed
from tests.up.load.packets import Sent, every_kind, many
from tests.up.load.phase import Phase, bits, counted
from tests.up.load.places import LONG, MANY, RACK, SEVERAL, SMALL, USUAL
from tests.up.needed import DEPLOYED, need
from tests.up.running import polysome

from polysome.plan.architectures.ribosome import requests

need("tcpdump")
pytestmark = DEPLOYED

ALWAYS = (
    *(("load_balancer", USUAL), ("load_balancer", RACK), ("nat", SMALL), ("firewall", MANY), ("shaper", SEVERAL)),
    ("vxlan_gateway", LONG),
)
OTHERS = (
    *(("acl", RACK), ("forwarder", LONG), ("telemetry", SEVERAL), ("slim_dpi", USUAL), ("router6", USUAL)),
    *(("policer", MANY), ("conn_limiter", SMALL), ("dns_guard", USUAL), ("port_scan", MANY), ("bridge", USUAL)),
    ("reframer", SEVERAL),
)
CHOSEN = ALWAYS + OTHERS if os.environ.get("POLYSOME_ALL_DEPLOYMENTS") else ALWAYS
COUNT = 600  # packets of one sort: some for each queue pair
TRAILER = b"abc"  # of all packets of the sort that is split, as many bytes as may follow one
BURST = "one flow at once"
SPREAD = 5  # standard deviations of a server's share


@dataclass(frozen=True)
class Measured:
    """`phases`: packets of one sort, of each kind that there is, of one flow, and with the NF server that stood by."""

    at: Deployed
    phases: dict[str, Phase]

    def number(self, *path: str) -> int:
        return self.at.promised.number(*path)

    def load(self, link: str, direction: str) -> int:
        """As planned, bit/s."""
        links = self.at.promised.plan["links"]
        (found,) = (one["load"]["value"] for one in links if (one["name"], one["direction"]) == (link, direction))
        return int(found)


@pytest.fixture(scope="module", params=CHOSEN, ids=lambda chosen: f"{chosen[0]}-{chosen[1].name}")
def measured(
    alone: None, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Measured]:
    nf, place = request.param
    folder = tmp_path_factory.mktemp(nf)
    with deployed(nf, place, folder) as at:
        sorts = to_be_sent(at)
        phases = {name: sent(at, name, packets, folder) for name, packets in sorts.items() if packets}
        if place.nf_servers > 1:
            assert polysome("drain", at.up.folder, "nf1").returncode == 0
            phases["drained"] = sent(at, "drained", sorts["split"], folder)
        yield Measured(at, phases)


def to_be_sent(at: Deployed) -> dict[str, list[Sent]]:
    spec, promised = at.spec, at.promised
    mean = promised.number("traffic", "mean")
    found = {name: many(spec, promised, mean, name == "split", COUNT) for name in ("split", "whole")}
    found["split"] = [(port, data + TRAILER) for port, data in found["split"]]
    if at.place.model == "linux":  # others count on servers that never leave a READ unanswered for long
        found[BURST] = found["split"][:1] * (COUNT // 2)
    if promised.plan["store"] is not None:
        found["short"] = many(spec, promised, promised.number("store", "threshold"), False, COUNT)
    found["every kind"] = every_kind(spec, promised, min(outlet.takes for outlet in at.outlets.values()))
    return found


def sent(at: Deployed, name: str, packets: list[Sent], folder: Path) -> Phase:
    folder = folder / name
    return Phase(at.promised, at.carry(packets, folder, 0) if name == BURST else at.carry(packets, folder))


def test_all_was_captured_and_is_what_interfaces_and_switch_count(measured: Measured) -> None:
    for phase in measured.phases.values():
        seen, by_interface = phase.carried, phase.carried.counted
        for name, every in (seen.nf | seen.servers).items():
            assert by_interface[name] == counted(every), name
        for name, outlet in measured.at.outlets.items():
            left = [len(one.data) for one in seen.left[outlet]]
            assert (by_interface[name].frames_in, by_interface[name].bytes_in) == (len(left), sum(left)), name
        assert sum(by_interface[name].frames_out for name in measured.at.outlets) == len(phase.packets)
        for name, here in by_interface.items():
            there = seen.by_switch[name]
            assert (there.frames_in, there.bytes_in) == (here.frames_out, here.bytes_out), name
            assert (there.frames_out, there.bytes_out) == (here.frames_in, here.bytes_in), name


def test_what_is_split_and_what_goes_whole(measured: Measured) -> None:
    """Each packet is either written, or in a whole frame; every kind that the plan tells apart is among them."""
    for phase in measured.phases.values():
        assert Counter(map(wire.written, phase.writes)) == Counter(p.data for p in phase.packets if p.way)
        whole = Counter(one[wire.PACKET :] for one in phase.whole_to_nf)
        assert whole == Counter(p.data for p in phase.packets if not p.way)
    seen = {packet.way["headers"] for packet in measured.phases["every kind"].packets if packet.way}
    assert seen == {way["headers"] for way in measured.at.promised.split}


def test_frames_of_a_class_are_as_long_as_the_plan_says(measured: Measured) -> None:
    split, longest = measured.at.promised.split, measured.number("nf_link")
    for phase in measured.phases.values():
        assert not wire.of_other_lengths(phase.fields, {way["number"]: way["to_nf"] for way in split})
        assert not wire.of_other_lengths(phase.edits, {way["number"]: way["from_nf"] for way in split})
        classes = {seq: packet.way["number"] for seq, packet in phase.parked.items()}
        assert {wire.tag_seq(one): tags.of(one, "parse_class") for one in phase.fields} == classes
        assert all(len(one.data) <= longest for one in (*phase.to_nf, *phase.from_nf))


def test_each_packet_is_written_once_and_read_once_if_it_leaves(measured: Measured) -> None:
    """An ACK is asked for by requests whose PSN is a multiple of 32; the response to a READ is one."""
    for phase in measured.phases.values():
        split, answered = [packet for packet in phase.packets if packet.way], phase.answered
        long = Counter(requests.write(p.claimed) + p.trailer - p.trailer % 4 for p in split)
        assert Counter(map(len, phase.writes)) == long
        assert [len(one) for one in phase.reads] == [requests.READ] * len(answered)
        assert Counter(map(len, phase.responses)) == Counter(requests.response(p.claimed) for p in answered)
        asked = sum(wire.psn(one) % requests.ACK_EVERY == 0 for one in phase.writes)
        assert [len(one) for one in phase.acks] == [requests.ACK] * asked
        asking = Counter(map(wire.peer, phase.writes + phase.reads))
        assert asked <= sum(-(-count // requests.ACK_EVERY) for count in asking.values())


def test_packets_are_parked_in_the_region_by_their_number(measured: Measured) -> None:
    if measured.at.promised.plan["store"] is None:
        assert not any(phase.requests for phase in measured.phases.values())
        return
    cell, cells = (measured.number("store", name) for name in ("cell", "cells"))
    for phase in measured.phases.values():
        assert all(wire.address(one) == wire.cell_seq(one) % cells * cell for one in phase.writes)
        asked = Counter(wire.tag_seq(one) % cells * cell for one in phase.edits)
        assert Counter(map(wire.address, phase.reads)) == asked


def test_what_leaves_is_longer_by_what_may_follow(measured: Measured) -> None:
    """Odd bytes of a trailer and ICRC behind what was parked, the zeros of its frame behind what was not. What is too
    long for the interfaces here is not there, and `up` says so."""
    longest = measured.number("out_frame")
    for phase in measured.phases.values():
        expected = defaultdict[int, Counter[int]](Counter)
        for one in phase.whole_from_nf:
            for port in exits(one):
                expected[port][len(one) - wire.PACKET] += 1
        for one, packet in zip(phase.edits, phase.answered, strict=True):
            for port in exits(one):
                expected[port][packet.claimed + packet.trailer % 4 + requests.ICRC] += 1
        for outlet, seen in phase.carried.left.items():
            wanted = expected[outlet.port] if outlet.number == 0 else Counter[int]()
            assert max(wanted, default=0) <= longest
            taken = Counter({length: n for length, n in wanted.items() if length <= outlet.takes})
            assert Counter(len(one.data) for one in seen) == taken, outlet
            assert taken == wanted or f"take {outlet.takes} B at most" in measured.at.up.said


def exits(answer: bytes) -> list[int]:
    """The ports that the NF's verdict names."""
    verdict = tags.of(answer, "port")
    return [n for n in range(15) if verdict >> n & 1] if verdict & 0x8000 else [verdict]


def test_the_load_of_nf_links_is_the_sum_of_what_packets_take_there(measured: Measured) -> None:
    """The plan's packets per second of each sort, times what each was seen to take; it counts all as the longest."""
    rest = measured.number("traffic", "packets") - measured.number("mix", "whole")
    short = min(rest, measured.number("mix", "short"))
    rates = {"whole": measured.number("mix", "whole"), "short": short, "split": rest - short}
    for direction, size in (("to", "to_nf"), ("from", "from_nf")):
        longest = max((way[size] for way in measured.at.promised.split), default=0)
        found = 0
        for name in (name for name, packets in rates.items() if packets):
            phase = measured.phases[name]
            own = phase.packets[0].way[size] if name == "split" else longest
            found += rates[name] * (phase.each(one.data for one in getattr(phase, size)) + 8 * (longest - own))
        for n, server in enumerate(measured.at.nfs):
            assert found == measured.load(f"{'standby ' if n else ''}NF server {server}", direction)


def test_the_load_of_memory_is_the_sum_of_what_packets_take_there(measured: Measured) -> None:
    """But for ACKs: the plan counts as many as may be, if WRITEs ask for all of them."""
    if not measured.at.promised.split or not measured.number("mix", "split"):
        return
    phase, parked, buckets = (
        measured.phases["split"],
        measured.number("mix", "split"),
        measured.number("store", "buckets"),
    )
    for server in measured.at.up.status().servers:
        share = -(-parked * server.own_buckets // buckets)
        acks = -(-share * 2 * bits(requests.ACK) // requests.ACK_EVERY)
        name = f"RDMA server {server.name}"
        assert measured.load(name, "to") == share * (phase.each(phase.writes) + phase.each(phase.reads))
        assert measured.load(name, "from") == share * phase.each(phase.responses) + acks
        assert measured.load(name, "goodput") == share * 8 * phase.packets[0].claimed


def test_what_leaves_is_no_more_than_planned(measured: Measured) -> None:
    """What is parked was sent with all that may follow, odd bytes of a trailer too; of copies one is counted."""
    most, notes = 0, "".join(measured.at.promised.plan["notes"])
    for phase in (measured.phases[name] for name in ("split", "whole") if measured.number("mix", name)):
        copies, rest = divmod(len(phase.left), len(phase.packets))
        most = max(most, phase.each(phase.left) // copies)
        assert rest == 0 and (copies == 1 or "several ports are counted once" in notes)
    over = measured.number("traffic", "packets") * most - measured.load("traffic ports", "out")
    assert 0 <= over < most  # a part of a packet: packets/s are rounded up


def test_load_is_divided_as_planned(measured: Measured) -> None:
    """Among servers, over all queue pairs, each of them its server's; a flow has one; one NF server has all."""
    at, servers = measured.at, list(measured.at.servers)
    for name, phase in measured.phases.items():
        active = "nf2" if name == "drained" else at.promised.plan["nf_server"]
        assert {server for server, seen in phase.carried.nf.items() if seen} == {active}
        assert len(os.sched_getaffinity(at.up.pid(active))) == measured.number("cores")
        if not phase.fields:
            continue
        pairs = {wire.tag_seq(one): wire.queue_pair(one) for one in phase.fields}
        each = measured.number("store", "queue_pairs")
        where, numbers = {}, defaultdict[int, set[int]](set)
        for server, seen in phase.carried.servers.items():
            for one in (frame.data for frame in seen if wire.opcode(frame.data) == wire.WRITE):
                pair = where[wire.cell_seq(one)] = pairs[wire.cell_seq(one)]
                assert servers[pair // each] == server
                numbers[pair].add(wire.peer(one))
        assert where == pairs and all(len(found) == 1 for found in numbers.values())
        assert len(set[int]().union(*numbers.values())) == len(numbers)
        if name in ("split", "drained"):
            assert set(numbers) == set(range(each * len(servers)))
            as_planned(measured, Counter(servers[pair // each] for pair in pairs.values()))
        if name == BURST:
            assert len(numbers) == 1


def as_planned(measured: Measured, found: Counter[str]) -> None:
    """As often as the plan has packets parked there, but for chance."""
    loads = {server: measured.load(f"RDMA server {server}", "to") for server in measured.at.servers}
    total = found.total()
    for server, load in loads.items():
        share = load / sum(loads.values())
        record(f"{server}: packets parked there, of {total}", found[server] / total, f"of all, planned {share:.3f}")
        assert abs(found[server] - total * share) <= SPREAD * (total * share * (1 - share)) ** 0.5, found


def test_packets_wait_no_longer_than_planned(measured: Measured) -> None:
    """In the NF by its schedule, and in cells; half of them, since a busy machine may leave a program out for long."""
    if measured.at.promised.plan["store"] is None or measured.at.place.model != "linux":
        return
    hold, queueing, read, parked = (measured.number("store", name) for name in ("hold", "queueing", "read", "parked"))
    stay = parked - hold - queueing - read  # in the NF server, and of recirculation
    for name, phase in measured.phases.items():
        if phase.answered:
            assert median(phase.in_nf) <= hold + stay and median(phase.in_cell) <= parked
            for where, times, most in (("the NF", phase.in_nf, hold + stay), ("a cell", phase.in_cell, parked)):
                record(f"{name}: longest in {where}", max(times) / 1e6, f"ms, planned {most / 1e6:.1f}")
    if hold > stay:  # long enough to be seen
        assert hold / 4 < max(measured.phases[BURST].in_nf)
