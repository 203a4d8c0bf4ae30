"""What comes by the controller's port is parked where it says, and comes back; nobody else can do so (rule 14)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import tags
from tests.switch.process.conftest import Site, made
from tests.switch.process.harness import pb
from tests.switch.process.test_frames import SERVER_MAC, entry, tcp_packet

CONTROLLER = 0x4000  # its verdict
NF_MAC, SWITCH_MAC = bytes.fromhex("020000000009"), bytes.fromhex("02706f6c7901")


@pytest.fixture
def probed(tmp_path: Path, tls: Path) -> Iterator[Site]:
    """Port 1 is the controller's, 2 of traffic, 3 a server's. No queue pair is up; a probe of queue pair 5 is known.
    However long a busy machine takes between two frames, it is little on the switch's clock: edits do not wait too long
    for their packet."""
    with made(tmp_path, tls, slower=100_000) as site:
        set_up(site)
        yield site


def set_up(site: Site) -> None:
    site.controller.write(
        pb.Update(port=pb.Port(port=1, role=6, index=255)),
        pb.Update(port=pb.Port(port=2, role=1)),
        pb.Update(port=pb.Port(port=3, role=3, append_icrc=True)),
        pb.Update(mirror=pb.Mirror(session=1, port=1, max_length=13 + 60)),
        *(entry("Ingress.nf_links", "to_nf", [index, way], [1, 1]) for index in (0, 255) for way in range(5)),
        entry("Ingress.buckets", "choose", [6, 5], [5, 3, 5, 3]),
        entry("Ingress.servers", "to_server", [5], [3]),
        entry("Ingress.verdicts", "send", [CONTROLLER], [1]),
        entry("Egress.servers", "server", [3], [int.from_bytes(SERVER_MAC, "big"), 0xC613FF10, 0x1234]),
        entry("Egress.queue_pairs", "remote", [5], [0x17]),
    )


def probe(pair: int = 5) -> bytes:
    packet = tcp_packet()
    return packet[:6] + (0x02706F700000 | pair).to_bytes(6, "big") + packet[12:]


def edits(fields: bytes, verdict: int = CONTROLLER) -> bytes:
    """The same bytes as edits of the load balancer: Ethernet's and IPv4's destination."""
    return SWITCH_MAC + NF_MAC + tags.changed(fields, port=verdict)[12:26] + bytes(34)


def test_a_probe_is_parked_on_a_queue_pair_that_is_down(probed: Site) -> None:
    probed.wires[1].send(probe())
    fields, write = probed.wires[1].receive(), probed.wires[3].receive()
    assert fields is not None and write is not None
    assert [tags.of(fields, name) for name in ("flags", "queue_pair", "port")] == [0, 5, 255]
    assert write[42] == 0x0A and probe() in write
    probed.wires[1].send(edits(fields))
    read = probed.wires[3].receive()
    assert read is not None and read[42] == 0x0C


def test_traffic_with_a_probes_address_is_not_parked(probed: Site) -> None:
    """Its queue pair is down, and for users the bucket is another one: it goes whole."""
    probed.wires[2].send(probe())
    whole = probed.wires[1].receive()
    assert whole is not None and tags.of(whole, "flags") == 1 and tags.content_of(whole) == probe()
    assert probed.wires[3].receive(0.3) is None


@pytest.mark.parametrize("role", [0, 3, 4, 5])
def test_no_other_role_parks(probed: Site, role: int) -> None:
    probed.controller.write(pb.Update(port=pb.Port(port=2, role=role)))
    probed.wires[2].send(probe())
    assert probed.wires[3].receive(0.3) is None and probed.wires[1].receive(0.1) is None


@pytest.mark.parametrize("verdict", [0x4000, 0x4001, 0x7FFF])
@pytest.mark.parametrize("flags", [0, 1, 2])
def test_the_nf_sends_nothing_to_the_controller(probed: Site, flags: int, verdict: int) -> None:
    """Neither edits of what is parked, nor a packet."""
    probed.controller.write(pb.Update(port=pb.Port(port=2, role=2)), entry("Ingress.verdicts", "send", [verdict], [1]))
    probed.wires[1].send(probe())
    fields = probed.wires[1].receive()
    assert fields is not None and probed.wires[3].receive() is not None
    forged = edits(fields, verdict)
    probed.wires[2].send(tags.changed(forged, flags=flags))
    assert probed.wires[3].receive(0.3) is None and probed.wires[1].receive(0.1) is None


def test_the_switch_says_how_its_ports_are(probed: Site) -> None:
    found = {n: probed.controller.port(n) for n in (1, 2, 3)}
    assert {n: (p.role, p.index, p.append_icrc) for n, p in found.items()} == {
        1: (6, 255, False),
        2: (1, 0, False),
        3: (3, 0, True),
    }


def test_what_the_nf_answers_of_a_probe_is_read_for_the_controller(probed: Site) -> None:
    """Fields to the NF's port, and its verdict, 255, to the controller's; the packet comes back from the server."""
    probed.controller.write(
        pb.Update(port=pb.Port(port=2, role=2)),
        pb.Update(mirror=pb.Mirror(session=2, port=2, max_length=13 + 60)),
        *(entry("Ingress.nf_links", "to_nf", [255, way], [2, 2]) for way in range(5)),
        entry("Ingress.verdicts", "send", [255], [1]),
        entry("Ingress.answers", "answered", [3, 0x1234], [5]),
    )
    probed.wires[1].send(probe())
    fields, write = probed.wires[2].receive(), probed.wires[3].receive()
    assert fields is not None and write is not None and tags.of(fields, "port") == 255
    assert probed.wires[1].receive(0.1) is None
    probed.wires[2].send(edits(fields, 255))
    read = probed.wires[3].receive()
    assert read is not None and read[42] == 0x0C
    probed.wires[3].send(response(read, write, 0x1234))
    back = probed.wires[1].receive()
    assert back is not None and back[:6] == bytes(6) and back[6:12] == probe()[6:12]
    assert back[34:50] == probe()[34:50] and back[52 : len(probe())] == probe()[52:]  # TCP's checksum between


def response(read: bytes, write: bytes, number: int) -> bytes:
    """Of a server to a READ of what the WRITE before it wrote. `number`: of the switch's queue pair."""
    cell = write[70 : 70 + int.from_bytes(read[66:70], "big")]
    bth = b"\x10\x40\xff\xff\0" + number.to_bytes(3, "big") + b"\0" + read[51:54]
    udp = read[34:38] + (8 + 12 + 4 + len(cell) + 4).to_bytes(2, "big") + b"\0\0"
    ipv4 = bytes([0x45, 0]) + (20 + int.from_bytes(udp[4:6], "big")).to_bytes(2, "big") + b"\0\0\x40\0\x40\x11\0\0"
    return (
        SWITCH_MAC + SERVER_MAC + b"\x08\0" + ipv4 + read[30:34] + read[26:30] + udp + bth + bytes(4) + cell + bytes(4)
    )
