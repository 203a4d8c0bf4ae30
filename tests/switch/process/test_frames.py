"""Frames through the soft switch as a process, over real interfaces."""

from __future__ import annotations

import time
import zlib

import dpkt
import pytest
from tests import tags
from tests.switch.process.conftest import Site
from tests.switch.process.harness import pb

from polysome_protocol import FRAMES

A, B = 0x02_00_00_00_00_0A, 0x02_00_00_00_00_0B
SWITCH_MAC = bytes.fromhex("02706f6c7901")
NF_MAC = bytes.fromhex("02706f6c7902")
SERVER_MAC = bytes.fromhex("02706f6c7910")
OTHER = (FRAMES.ether_type ^ 3).to_bytes(2, "big")  # an EtherType that is not ours


def frame(to: int, size: int, between: bytes = b"") -> bytes:
    """An Ethernet frame of `size` bytes, with `between` behind its addresses."""
    head = to.to_bytes(6, "big") + A.to_bytes(6, "big") + between + OTHER
    return head + bytes(i * 7 % 251 for i in range(size - len(head)))


def entry(table: str, action: str, key: list[int], parameters: list[int]) -> pb.Update:
    def values(numbers: list[int]) -> list[bytes]:
        return [number.to_bytes(8, "big") for number in numbers]

    return pb.Update(put=pb.Entry(table=table, key=values(key), action=action, parameters=values(parameters)))


@pytest.mark.parametrize("size", [60, 61, 1514, 9000])
def test_a_frame_is_forwarded_unchanged(site: Site, size: int) -> None:
    site.controller.write(site.station(B, 2))
    sent = frame(B, size)
    site.wires[1].send(sent)
    assert site.wires[2].receive() == sent
    into, out = site.controller.port(1), site.controller.port(2)
    assert (into.frames_in, into.bytes_in, into.up, into.interface) == (1, size, True, "sw1")
    assert (out.frames_out, out.bytes_out, out.dropped) == (1, size, 0)


@pytest.mark.parametrize(
    "tags", ["81000064", "8100e064", "88a80005", "88a8000581000064", "8100000581000064"], ids=lambda tags: str(tags)
)
def test_vlan_tags_stay_where_they_are(site: Site, tags: str) -> None:
    site.controller.write(site.station(B, 2))
    sent = frame(B, 300, bytes.fromhex(tags))
    site.wires[1].send(sent)
    assert site.wires[2].receive() == sent


def test_frames_keep_their_order_in_both_directions(site: Site) -> None:
    site.controller.write(site.station(A, 1), site.station(B, 2))
    there = [frame(B, 60 + i) for i in range(200)]
    back = [frame(A, 60 + i) for i in range(200)]
    for one, other in zip(there, back, strict=True):
        site.wires[1].send(one)
        site.wires[2].send(other)
    assert [site.wires[2].receive() for _ in there] == there
    assert [site.wires[1].receive() for _ in back] == back


def test_what_goes_nowhere_is_counted_by_reason(site: Site) -> None:
    site.namespace.run("ip", "link", "set", "sw2", "mtu", "1500")
    site.controller.write(
        pb.Update(port=pb.Port(port=9)),  # without an interface
        site.station(B, 2),
        site.station(A, 9),
        site.station(5, 200),  # a port that is not set
    )
    for to, size in ((7, 100), (A, 100), (A, 100), (5, 100), (B, 1600)):
        site.wires[1].send(frame(to, size))
    site.wires[1].send(frame(B, 60))
    assert site.wires[2].receive() == frame(B, 60)
    drops = site.controller.drops()
    assert {reason: count for reason, count in drops.items() if count} == {
        "ingress: dropped by the program": 1,
        "to a port without an interface": 2,
        "from or to a port that is not set": 1,
        "not taken by an interface": 1,
    }
    nowhere = site.controller.port(9)
    assert (nowhere.dropped, nowhere.interface, nowhere.up) == (2, "", False)
    assert site.controller.port(2).dropped == 1


def test_a_port_that_is_not_set_takes_nothing(unset: Site) -> None:
    unset.wires[1].send(frame(B, 100))
    end = time.monotonic() + 5
    while unset.controller.drops()["from or to a port that is not set"] == 0:
        assert time.monotonic() < end
    assert unset.controller.drops()["from or to a port that is not set"] == 1


def test_a_port_that_is_held(site: Site) -> None:
    """Frames wait in its queues, as many as there is room for; those of other ports go on."""
    site.controller.write(site.station(A, 1), site.station(B, 2))
    hold = [pb.Update(hold=pb.Hold(port=2, on=on)) for on in (False, True)]
    site.controller.write(hold[True])
    for size in (60, 61):
        site.wires[1].send(frame(B, size))
    site.wires[2].send(frame(A, 70))
    assert site.wires[1].receive() == frame(A, 70)
    assert site.wires[2].receive(0.3) is None
    site.controller.write(hold[False])
    assert [site.wires[2].receive() for _ in range(2)] == [frame(B, 60), frame(B, 61)]
    site.controller.write(hold[True])
    site.wires[1].send(frame(B, 62))
    assert site.wires[2].receive(0.3) is None
    site.controller.write(pb.Update(port=pb.Port(port=2)))  # set anew, it is not held
    assert site.wires[2].receive() == frame(B, 62)
    assert "it is not set" in site.controller.refused(pb.Update(hold=pb.Hold(port=300, on=True)))


def test_a_port_sends_no_faster_than_its_rate(site: Site) -> None:
    frames, size, rate = 60, 1000, 10_000_000
    site.controller.write(site.station(B, 2), pb.Update(port=pb.Port(port=2, rate=rate)))
    start = time.monotonic()
    for _ in range(frames):
        site.wires[1].send(frame(B, size))
    assert all(site.wires[2].receive() is not None for _ in range(frames))
    wire = (frames - 1) * (size + 24) * 8 / rate
    assert time.monotonic() - start > wire  # the last one begins when all others are on the wire


def test_a_full_queue_drops_its_tail(site: Site) -> None:
    """Room for 5 frames behind the one on the wire, which takes 8 ms: one of 1000 bytes is 13 cells of 80."""
    site.controller.write(site.station(B, 2), pb.Update(port=pb.Port(port=2, rate=1_000_000, queue_bytes=5 * 13 * 80)))
    sent = [frame(B, 1000, bytes([0x90, i])) for i in range(40)]
    for one in sent:
        site.wires[1].send(one)
    got = []
    while (one := site.wires[2].receive(0.3)) is not None:
        got.append(one)
    assert got[:5] == sent[:5]
    assert site.controller.port(2).dropped == len(sent) - len(got) > 0


def traffic_to_nf(site: Site) -> None:
    """Port 1 is of traffic, 2 goes to the NF, 3 to a server; the verdict "both" sends to ports 1 and 3."""
    site.controller.write(
        pb.Update(port=pb.Port(port=1, role=1)),
        pb.Update(port=pb.Port(port=2, role=2)),
        pb.Update(port=pb.Port(port=3, role=3, append_icrc=True)),
        pb.Update(mirror=pb.Mirror(session=1, port=2, max_length=13 + 60)),
        pb.Update(group=pb.Group(group=1, ports=[1, 3])),
        entry("Ingress.nf_links", "to_nf", [0, 0], [2, 1]),
        *(entry("Ingress.nf_links", "to_nf", [0, way], [2, 1]) for way in (1, 2, 3, 4)),
        entry("Ingress.verdicts", "flood", [0x8003], [1]),
        entry("Egress.nf_stations", "nf", [2], [int.from_bytes(NF_MAC, "big")]),
    )


def test_a_packet_goes_whole_to_the_nf_and_back_to_a_group(site: Site) -> None:
    traffic_to_nf(site)
    packet = frame(B, 100)
    site.wires[1].send(packet)
    whole = site.wires[2].receive()
    assert whole is not None
    assert whole[:12] == NF_MAC + SWITCH_MAC and tags.is_tagged(whole) and tags.of(whole, "flags") == 1
    assert tags.content_of(whole) == packet
    site.wires[2].send(SWITCH_MAC + NF_MAC + tags.changed(whole, port=0x8003)[12:])
    assert site.wires[1].receive() == packet
    assert site.wires[3].receive() == packet


def tcp_packet() -> bytes:
    tcp = dpkt.tcp.TCP(sport=1234, dport=80, seq=7, flags=dpkt.tcp.TH_ACK, data=bytes(range(256)) * 3)
    ip = dpkt.ip.IP(src=b"\x0a\0\0\1", dst=b"\x0a\0\0\2", p=dpkt.ip.IP_PROTO_TCP, data=tcp)
    return bytes(dpkt.ethernet.Ethernet(src=A.to_bytes(6, "big"), dst=B.to_bytes(6, "big"), data=ip))


def test_a_packet_is_parked_and_its_fields_mirrored(site: Site) -> None:
    """The request to the server has the whole packet and an ICRC; the NF gets the front of it."""
    traffic_to_nf(site)
    packet = tcp_packet()
    buckets = [entry("Ingress.buckets", "choose", [1, bucket], [0, 3, 0, 3]) for bucket in range(site.buckets)]
    site.controller.write(
        *buckets,
        entry("Egress.servers", "server", [3], [int.from_bytes(SERVER_MAC, "big"), 0xC613FF10, 0x1234]),
        entry("Egress.queue_pairs", "remote", [0], [0x17]),
        pb.Update(register=pb.Cell(register="Ingress.primaries", index=0, value=1)),
    )
    site.wires[1].send(packet)
    fields, request = site.wires[2].receive(), site.wires[3].receive()
    assert fields is not None and request is not None
    assert fields[:12] == NF_MAC + SWITCH_MAC and tags.of(fields, "flags") == 0 and len(fields) <= 26 + 60
    assert request[:12] == SERVER_MAC + SWITCH_MAC and request[42] == 0x0A  # RDMA WRITE Only
    assert packet in request
    assert request[-4:] == icrc(request[14:-4])


def icrc(datagram: bytes) -> bytes:
    """Annex A17 of the InfiniBand specification: what changes on the way counts as ones."""
    covered = bytearray(b"\xff" * 8 + datagram)
    for at in (1, 8, 10, 11, 26, 27, 32):
        covered[8 + at] = 0xFF
    return zlib.crc32(covered).to_bytes(4, "little")


@pytest.mark.parametrize("group", [0xFFFFFFFFFFFF, 0x33_33_00_00_00_01, 0x01_00_5E_00_00_FB])
def test_frames_to_a_group_go_to_all_other_stations(site: Site, group: int) -> None:
    """As the controller has it: ports 1 and 3 have stations, 1 is plain, 3 a server's; the NF is at port 2."""
    site.controller.write(
        pb.Update(port=pb.Port(port=2, role=2)),
        pb.Update(port=pb.Port(port=3, role=3)),
        pb.Update(group=pb.Group(group=2, ports=[3])),
        pb.Update(group=pb.Group(group=3, ports=[1])),
        site.station(group, 2),  # no station has such an address: nobody is asked for it
        entry("Ingress.floods", "flood_station", [1], [2]),
        entry("Ingress.floods", "flood_station", [3], [3]),
    )
    for sender, other in ((1, 3), (3, 1)):
        sent = frame(group, 60 + sender)
        site.wires[sender].send(sent)
        assert site.wires[other].receive() == sent
        assert [site.wires[port].receive(0.1) for port in (1, 2, 3)] == [None] * 3


def test_frames_to_a_group_from_a_port_without_one_are_dropped(site: Site) -> None:
    site.controller.write(site.station(B, 2))
    site.wires[1].send(frame(0xFFFFFFFFFFFF, 60))
    site.wires[1].send(frame(B, 60))
    assert site.wires[2].receive() == frame(B, 60)
    assert site.controller.drops()["ingress: dropped by the program"] == 1


def test_the_generator_sweeps_at_its_rate(site: Site) -> None:
    """Queue pairs that no server has: each frame is dropped by the program.

    What is missed by a switch that is late does not come later, so most of the looks may be too short of frames.
    """
    site.controller.write(
        pb.Update(port=pb.Port(port=100, role=5)),
        pb.Update(generator=pb.Generator(port=100, period=20_000_000, count=10)),
    )

    def sample() -> tuple[int, int]:
        statistics = site.controller.statistics()
        drops = {counter.name: counter.value for counter in statistics.drops}
        return statistics.time, drops["ingress: dropped by the program"]

    found = []
    for _ in range(50):
        first_time, first = sample()
        time.sleep(0.4)
        last_time, last = sample()
        found.append((last - first) / ((last_time - first_time) * 10 / 20_000_000))
        assert found[-1] < 1.1, found
        if found[-1] > 0.9:
            break
    assert found[-1] > 0.9, found
    site.controller.write(pb.Update(generator=pb.Generator()))
    _, stopped = sample()
    time.sleep(0.1)
    assert sample()[1] == stopped
