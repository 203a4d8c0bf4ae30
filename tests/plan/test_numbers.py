"""The numbers of plans against sums done by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.plan.helpers import ROOT, example, made

from polysome.ir.program import Traffic
from polysome.plan import frames
from polysome.plan.architectures.ribosome import requests
from polysome.plan.architectures.ribosome.limits import sessions
from polysome.plan.architectures.ribosome.store import parking_of
from polysome.plan.limits import Limits
from polysome.plan.model import Options, Plan
from polysome.plan.numbers import Number, binary, power_of_two, rate
from polysome.plan.site import Site, default_site
from polysome.plan.split import fitting_site, plan
from polysome.syntax.diagnostics import Report, SpecError

LB = ("clients", "servers")
THREE = default_site(LB, "tofino", rdma_servers=3)


def value(number: Number) -> int:
    return number.value


def test_frames_are_as_long_as_the_formats_say() -> None:
    """WRITE of 1000 B: 14 + 20 + 8 + 12 + 16 + 4 of cell header + 4 pad + 1000 + 4 of ICRC; and so on."""
    assert requests.write(1000) == 1082 and requests.response(1000) == 1070
    assert (requests.READ, requests.ACK) == (74, 62)
    assert [requests.pad(n) for n in (60, 61, 62, 63, 64)] == [4, 7, 6, 5, 4]
    assert requests.cell(61) == 4 + 7 + 61
    assert [frames.whole(n) for n in (30, 34, 35, 1514)] == [60, 60, 61, 1540]


def test_load_balancer_on_three_servers() -> None:
    """200 Gbit/s of 1024 B on the wire are 24 414 062.5 packets/s; each number follows by hand."""
    found = made("load_balancer", THREE)
    assert value(found.traffic.packets) == 24_414_063
    p = parking_of(found)
    assert p is not None
    assert {(f.fields, f.edits, f.to_nf, f.from_nf) for f in found.split} == {(13, 10, 60, 60)}
    # Ethernet, one VLAN tag, IPv4, and a TCP header with all options: 14 + 4 + 20 + 60 = 98 B.
    assert value(p.threshold) == 97
    assert (value(p.cell), value(p.path_mtu), value(p.longest)) == (2048, 2048, 1522 - 7)
    # One of three servers down: 24 414 063 * 8000 / 2 = 97.7 Gbit/s on 40 queue pairs.
    assert value(p.queue_pairs) == 64
    assert value(p.queueing) == 80_000  # 1 MB at 100 Gbit/s
    # 64 queue pairs of 16 reads of 2048 B at 75 Gbit/s: 223 697 ns.
    assert value(p.read) == 80_000 + 4_000 + 223_697
    assert value(p.parked) == 0 + 80_000 + 1_000_000 + 8 * 750 + 307_697
    assert value(p.slots) == 16_384  # >= 24 414 063/s * 307.697 us * 2 = 15 024.3
    assert value(p.cells) == 65_536  # >= 24 414 063/s * 1393.697 us = 34 025.8
    # seq and time: 16384 * 8 B are 8 blocks of 16 KiB; 10 B of edits are 3 words, and 1 of verdict: 4 blocks each; and
    # 65 536 bits of cells.
    assert value(p.slot_blocks) == (8 + 1) + 4 * (4 + 1) + (1 + 1)
    assert value(p.timeout) == 512 * 1024  # 307.7 us are 300.5 ticks
    assert value(p.tries) == 8  # 4 us / 750 ns = 5.3
    assert value(p.silence) == 1024 * 1024  # twice the timeout, more than 1 ms
    assert value(p.sweep) == 1024 * 1024 // 4 // 192
    assert value(p.buckets) == 4096  # 16 * 192 = 3072
    assert [(r.first, r.count, r.bytes) for r in p.regions] == [(n * 64, 64, 65_536 * 2048) for n in range(3)]
    assert (value(found.cores), value(found.nf_link), value(found.out_frame)) == (1, 1522 + 26, 1522)


def loads(found: Plan) -> dict[tuple[str, str], int]:
    return {(link.name, link.direction): link.load.value for link in found.links}


def test_loads_of_links() -> None:
    found = made("load_balancer", THREE)
    shares = (8_392_335, 8_010_865, 8_010_865)  # 22, 21 and 21 of each 64 buckets, of 24 414 063
    short = 8_866_885  # 24 414 063 * (1515 - 1000) / (1515 - 97): so many may be 97 B long, which go whole
    nf = (short * (97 + 26 + 24) + (24_414_063 - short) * 84) * 8
    assert loads(found) == {
        ("traffic ports", "in"): 200_000_000_000,
        ("traffic ports", "out"): 24_414_063 * (1000 + 7 + 24) * 8,
        ("NF server nf0", "to"): nf,
        ("NF server nf0", "from"): nf,
        **{
            (f"RDMA server memory{n}", way): load
            for n, share in enumerate(shares)
            for way, load in (
                ("to", share * (1082 + 74 + 48) * 8),
                # Every 32nd request asks for an ACK, which may be a WRITE each time.
                ("from", share * (1070 + 24) * 8 - (-share * 2 * (62 + 24) * 8 // 32)),
                ("goodput", share * 8000),
            )
        },
    }
    left = 100_000_000_000 - nf
    assert value(found.whole_rate) == left * 1000 // 1050


def test_a_schedule_that_holds_packets_needs_cells_for_that_time() -> None:
    """2 Gbit/s of 1024 B on the wire for 204.8 ms and a bit over 1 ms: 50 366 packets."""
    found = made("shaper", default_site(("lan", "wan")))
    parking = parking_of(found)
    assert parking is not None
    assert value(parking.hold) == 204_800_004
    assert value(parking.cells) == 65_536
    assert value(parking.regions and parking.cells) * 2048 == parking.regions[0].bytes


def test_bits_of_cells_take_blocks_too() -> None:
    """8 Mi cells: 2 Mi bits in each of four registers of 16 blocks and a spare one, as p4c counts them."""
    p = parking_of(plan(example("shaper"), fitting_site(example("shaper"), "tofino")))
    assert p is not None
    assert (value(p.slots), value(p.cells)) == (16_384, 2**23)
    assert value(p.slot_blocks) == (8 + 1) + 1 * (4 + 1) + 4 * (16 + 1)


def test_there_are_never_more_slots_than_cells() -> None:
    """An NF server that takes no time: 266 667 packets/s, parked for 464.5 us in 124 cells, read for 248.7 us."""
    site = default_site(LB)
    quick = replace(site, traffic_rate=2 * 10**9, nf_servers=(replace(site.nf_servers[0], latency=0),))
    lb = replace(example("load_balancer"), traffic=Traffic(rate=266_667 * 1024 * 8, mean=None, flows=None, new=None))
    p = parking_of(plan(lb, quick))
    assert p is not None
    assert 266_667 * value(p.parked) // 10**9 == 123 and 2 * 266_667 * value(p.read) // 10**9 == 132
    assert value(p.slots) == value(p.cells) == 256


def test_all_headers_take_more_of_the_nf_link_than_fields() -> None:
    lb = example("load_balancer")
    site = default_site(LB)
    fields, headers = plan(lb, site), plan(lb, site, Options(carry="headers"))
    # Ethernet, a VLAN tag, IPv4 and TCP: 58 B; without options, since their length is not known to a switch.
    assert max(f.to_nf for f in fields.split) == 60 and max(f.to_nf for f in headers.split) == 26 + 58
    assert loads(headers)["NF server nf0", "to"] > loads(fields)["NF server nf0", "to"]


def test_where_splitting_pays_is_where_frames_are_shorter_than_the_whole_packet() -> None:
    """acl sends up to 37 B of fields; whole, a packet of the threshold's length takes no less than split."""
    found = made("acl", default_site(("inside", "outside")))
    parking = parking_of(found)
    assert parking is not None
    heavy = max(f.to_nf + f.from_nf for f in found.split)
    above = parking.threshold.value + 1
    assert 2 * frames.whole(above) > heavy
    assert above >= max(f.least_length for f in found.split)


def test_packets_beyond_the_largest_cell_go_whole() -> None:
    """An MTU of 9000 B: cells are as large as a path MTU can be, 4096 B, which leaves 4085 B for a packet."""
    found = made("load_balancer", replace(THREE, mtu=9000))
    parking = parking_of(found)
    assert parking is not None
    assert (value(parking.cell), value(parking.longest)) == (4096, 4085)
    assert any("over 4085 B go whole" in note for note in found.notes)


def test_what_is_deeper_than_the_egress_parser_sees_goes_whole() -> None:
    """13 B of mirror header and 24 B up to IPv4's protocol, addresses at 26 to 33, ports at 34 to 37."""
    lb = example("load_balancer")
    shallow = replace(THREE, switch=replace(THREE.switch, egress_depth_most_bytes=13 + 38))
    found = plan(lb, shallow)
    assert [f.headers for f in found.split] == ["ethernet / ipv4 / tcp", "ethernet / ipv4 / udp"]
    deep = [f for f in found.frames if f.number is None and "egress parser" in f.why]
    assert [f.headers for f in deep] == ["ethernet / vlan / ipv4 / tcp", "ethernet / vlan / ipv4 / udp"]
    none = plan(lb, replace(shallow, switch=replace(THREE.switch, egress_depth_most_bytes=40), traffic_rate=10**10))
    assert parking_of(none) is None and not none.split


def test_mirror_sessions_count_what_the_chip_counts() -> None:
    """Tofino 1: the mirror header too; Tofino 2: the frame check sequence too."""
    lengths = [
        {f.mirror_length for f in made("load_balancer", replace(default_site(LB, switch), traffic_rate=10**10)).split}
        for switch in ("tofino", "tofino2")
    ]
    assert lengths == [{13 + 38, 13 + 42}, {13 + 38 + 4, 13 + 42 + 4}]


def test_declared_traffic_is_planned_for() -> None:
    lb = example("load_balancer")
    object_with = replace(lb, traffic=Traffic(rate=50_000_000_000, mean=226, flows=None, new=None))
    found = plan(object_with, THREE)
    assert value(found.traffic.packets) == 25_000_000  # 50 Gbit/s / 8 / 250 B
    assert found.traffic.rate.sources == ("`traffic` in load_balancer.nf",)
    tiny = plan(replace(lb, traffic=Traffic(rate=10**9, mean=64, flows=None, new=None)), THREE)
    assert any("are not split: too short" in note for note in tiny.notes)
    assert loads(tiny)["NF server nf0", "to"] == value(tiny.traffic.packets) * (64 + 26 + 24) * 8
    assert not any(load for (name, _), load in loads(tiny).items() if name.startswith("RDMA"))


@pytest.mark.parametrize(("declared", "counted"), [(1, 60), (60, 60), (61, 61), (1522, 1522), (1523, 1522)])
def test_a_mean_that_no_link_has_is_that_of_the_nearest_frame(declared: int, counted: int) -> None:
    lb = replace(example("load_balancer"), traffic=Traffic(rate=10**9, mean=declared, flows=None, new=None))
    mean = plan(lb, THREE).traffic.mean
    assert mean.value == counted and ("which is between" in mean.formula) == (declared != counted)


def test_one_server_has_the_traffic_and_the_others_must_be_able_to() -> None:
    site = default_site(LB, nf_servers=2)
    found, alone = made("load_balancer", site), made("load_balancer", default_site(LB))
    assert value(found.cores) == 1 and (found.nf_server, found.standby) == ("nf0", ("nf1",))
    assert any(note.startswith("one NF server has all the traffic") for note in found.notes)
    load = loads(alone)["NF server nf0", "to"]
    assert loads(found)["NF server nf0", "to"] == loads(found)["standby NF server nf1", "to"] == load
    slow = replace(site.nf_servers[1], nic=replace(site.nf_servers[1].nic, rate_bps=load - 1))
    with pytest.raises(SpecError) as refused:
        made("load_balancer", replace(site, nf_servers=(site.nf_servers[0], slow)))
    assert "standby NF server nf1" in refused.value.diagnostics[0].message


def test_queue_pairs_may_be_given() -> None:
    found = plan(example("nat"), default_site(("inside", "outside")), Options(queue_pairs=8))
    parking = parking_of(found)
    assert parking is not None and value(parking.queue_pairs) == 8
    assert [r.first for r in parking.regions] == [0, 8]


def test_the_fitting_site_has_as_many_servers_as_the_load_takes() -> None:
    def servers(name: str, switch: str) -> tuple[int, int]:
        site = fitting_site(example(name), switch)
        return len(site.rdma_servers), len(site.nf_servers)

    assert servers("load_balancer", "software") == (2, 1)
    assert servers("load_balancer", "tofino") == (3, 1)  # 195 Gbit/s of payload / 75
    assert servers("bridge", "tofino") == (1, 1)  # nothing is split, and one NF server has all


def test_the_ports_of_the_fitting_site_are_as_fast_as_the_nf_link_takes() -> None:
    """The bridge's packets take 1050 B of the wire of 100 Gbit/s and 1024 B of that of three ports."""
    site = fitting_site(example("bridge"), "tofino")
    assert site.traffic_rate == 100 * 10**9 * 1024 // (3 * 1050) // 10**6 * 10**6
    found = plan(example("bridge"), site)
    assert 99.9 < loads(found)["NF server nf0", "to"] / 10**9 <= 100 and parking_of(found) is None
    assert any("and no faster" in note for note in found.notes)
    shaper = fitting_site(example("shaper"), "tofino2")  # its packets wait long: many servers, on half a port each
    assert shaper.traffic_rate <= shaper.port_rate
    assert fitting_site(example("load_balancer"), "tofino").traffic_rate == 100 * 10**9


def test_a_single_rdma_server_is_noted() -> None:
    alone = made("load_balancer", default_site(LB, "software", rdma_servers=1))
    assert any("one RDMA server" in note for note in alone.notes)


@pytest.mark.parametrize("name", sorted(p.stem for p in (ROOT / "examples").glob("*/*.nf")))
def test_every_example_has_a_plan_on_every_switch(name: str) -> None:
    program = example(name)
    for switch in ("software", "tofino", "tofino2"):
        site = fitting_site(program, switch)
        found = plan(program, site)
        assert found.switch == switch and found.links


@pytest.mark.parametrize("switch", ["tofino", "tofino2", "software"])
def test_the_default_site_uses_ports_that_exist_and_none_twice(switch: str) -> None:
    site: Site = default_site(("a", "b", "c"), switch, rdma_servers=4)
    used = [*(p for ports in site.traffic for p in ports), *(s.port for s in (*site.nf_servers, *site.rdma_servers))]
    assert len(set(used)) == len(used) == 8
    assert all(site.switch.first_port <= port <= site.switch.last_port for port in used)


def test_numbers_as_people_write_them() -> None:
    assert [power_of_two(n) for n in (0, 1, 2, 3, 4, 5, 1025)] == [1, 1, 2, 4, 4, 8, 2048]
    assert (rate(78_125_001_600), rate(1_000), rate(7)) == ("78.1 Gbps", "1 Kbps", "7 bps")
    assert (binary(2**31), binary(3 * 2**19), binary(1500)) == ("2 GiB", "1536 KiB", "1.5 KB")


def test_what_follows_packets_counts_on_the_way_out() -> None:
    """7 B behind each packet of 1000 B: declared, the rate must leave room; what is only full ports is noted."""
    site, program = default_site(LB), example("load_balancer")
    full = site.traffic_rate * sum(map(len, site.traffic))
    fits = full // (1031 * 8) * 1024 * 8

    def declared(rate: int) -> Plan:
        return plan(replace(program, traffic=Traffic(rate=rate, mean=None, flows=None, new=None)), site)

    assert not any("on the way out" in note for note in declared(fits).notes)
    with pytest.raises(SpecError) as refused:
        declared(fits + 2 * 1024 * 8)
    assert [d.code for d in refused.value.diagnostics] == ["E1404"]
    assert "traffic ports, out" in refused.value.diagnostics[0].message
    assert any("on the way out" in note for note in plan(replace(program, traffic=None), site).notes)
    bridge = plan(example("bridge"), default_site(("a", "b", "c")))
    assert loads(bridge)["traffic ports", "out"] == loads(bridge)["traffic ports", "in"]


def test_what_nobody_counts_is_said() -> None:
    def notes(name: str) -> str:
        return "\n".join(made(name, default_site(example(name).ports)).notes)

    assert "`emit`" in notes("telemetry") and "several ports" not in notes("telemetry")
    assert "several ports" in notes("bridge") and "`emit`" not in notes("bridge")
    assert "several ports" not in notes("load_balancer")


WORSE_NIC = {
    "rate_bps": 2 * 10**9,
    "queue_pair_bps": 10**8,
    "outstanding_reads": 2,
    "read_ns": 900_000,
    "goodput_bps": 10**10,
}
SIZED = ("queue_pairs", "queueing", "read", "parked", "tries")


@pytest.mark.parametrize("attribute", [*WORSE_NIC, "latency"])
def test_where_servers_are_unlike_the_worse_one_counts(attribute: str) -> None:
    """One of two that is worse, whichever it is, asks for as much as two; but of reads at once, only the number
    of queue pairs follows the worse one: the better one has more of them before the last."""
    shaper = example("shaper")
    nic = replace(THREE.rdma_servers[0].nic, read_ns=300_000)
    base = replace(default_site(shaper.ports, nf_servers=2, rdma_servers=2), hold=None)
    base = replace(base, rdma_servers=tuple(replace(s, nic=nic) for s in base.rdma_servers))

    def sized(*worse: int) -> dict[str, int]:
        rdma, nf = list(base.rdma_servers), list(base.nf_servers)
        for n in worse:
            if attribute == "latency":
                nf[n] = replace(nf[n], latency=5_000_000)
            else:
                rdma[n] = replace(rdma[n], nic=replace(nic, **{attribute: WORSE_NIC[attribute]}))
        parking = parking_of(plan(shaper, replace(base, rdma_servers=tuple(rdma), nf_servers=tuple(nf))))
        assert parking is not None
        return {name: value(getattr(parking, name)) for name in SIZED}

    if attribute == "outstanding_reads":
        assert sized(0)["queue_pairs"] == sized(1)["queue_pairs"] == sized(0, 1)["queue_pairs"] > sized()["queue_pairs"]
    else:
        assert sized(0) == sized(1) == sized(0, 1) != sized()


@pytest.mark.parametrize(
    ("reads", "takes", "tries"), [(16, 4_000, 32), (8, 4_000, 64), (16, 8_000, 64), (16, 3_000, 16)]
)
@pytest.mark.parametrize("worse", [0, 1])
def test_tries_last_until_all_that_leave_together_are_read(worse: int, reads: int, takes: int, tries: int) -> None:
    """64 packets on a queue pair, `reads` at a time, each in `takes` ns; a pass takes 750 ns. The other one is good."""
    reframer = example("reframer")
    site = default_site(reframer.ports)
    servers = [replace(s, nic=replace(s.nic, outstanding_reads=16, read_ns=3_000)) for s in site.rdma_servers]
    nic = replace(servers[worse].nic, outstanding_reads=reads, read_ns=takes)
    servers[worse] = replace(servers[worse], nic=nic)
    parking = parking_of(plan(reframer, replace(site, rdma_servers=tuple(servers))))
    assert parking is not None and value(parking.tries) == tries


def test_each_way_has_a_mirror_session_for_each_nf_server_and_the_controller() -> None:
    """A Tofino 2 has 255: 6 ways to 41 servers and the controller take 252."""
    program = example("nat")
    ways = len(made("nat", fitting_site(program, "tofino2")).split)
    most = 255 // ways - 1
    fits, one_more = (default_site(program.ports, "tofino2", 1, servers) for servers in (most, most + 1))
    limits = Limits(program, default_site(program.ports, "tofino2", 1, 50), Report())
    sessions(limits, 5)  # takes all of them
    slow = {"traffic_rate": 10**9, "port_rate": 10**10}
    assert (most + 1) * ways <= 255 < (most + 2) * ways
    assert plan(program, replace(fits, **slow)).split
    with pytest.raises(SpecError) as caught:
        plan(program, replace(one_more, **slow))
    assert [d.code for d in caught.value.diagnostics] == ["E1408"]
