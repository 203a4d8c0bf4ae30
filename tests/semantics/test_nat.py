"""The NAT on real traffic: streams survive translation both ways, and ICMP errors are translated inside too."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.semantics.verify import ones_sum, verify

from polysome.captures.merge import merge
from polysome.captures.read import open_capture
from polysome.config.tables import Tables
from polysome.interp.code import generate
from polysome.interp.machine import Machine
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).resolve().parents[2]
NAT = ROOT / "examples" / "nat"
INSIDE, OUTSIDE = 0, 1
PUBLIC = 0xCB007101  # 203.0.113.1


@dataclass
class Sink:
    """What left, port and bytes, by the number of the packet that arrived."""

    left: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.left.setdefault(order, []).append((port, data))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        raise AssertionError("a NAT makes no packets")


@pytest.fixture(scope="module")
def nat() -> tuple[object, object]:
    program = check(NAT / "nat.nf", Report())
    return program, generate(program)


def machine_of(nat: tuple[object, object]) -> tuple[Machine, Sink]:
    program, generated = nat
    sink = Sink()
    tables = Tables(program, {"pool_addresses": (PUBLIC, PUBLIC + 1)})  # type: ignore[arg-type]
    return Machine(program, tables, sink, generated), sink  # type: ignore[arg-type]


def addressed(frame: bytes, side: str, address: bytes, port: bytes) -> bytes:
    """The TCP or UDP frame with another source or destination endpoint, all checksums computed anew by the RFCs."""
    data = bytearray(frame)
    size = (data[14] & 15) * 4
    total = struct.unpack_from(">H", data, 16)[0]
    at, l4 = 14 + (12 if side == "src" else 16), 14 + size
    data[at : at + 4] = address
    data[l4 + (0 if side == "src" else 2) :][:2] = port
    start = l4 + (0 if side == "src" else 2)
    data[start : start + 2] = port
    data[24:26] = b"\0\0"
    data[24:26] = struct.pack(">H", 0xFFFF - ones_sum(bytes(data[14:l4])))
    place = l4 + (16 if data[23] == 6 else 6)
    data[place : place + 2] = b"\0\0"
    segment = bytes(data[l4 : 14 + total])
    pseudo = bytes(data[26:34]) + bytes((0, data[23])) + struct.pack(">H", len(segment))
    data[place : place + 2] = struct.pack(">H", (0xFFFF - ones_sum(pseudo + segment)) or 0xFFFF)
    return bytes(data)


def endpoints(frame: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """Source address and port, destination address and port."""
    l4 = 14 + (frame[14] & 15) * 4
    return frame[26:30], frame[l4 : l4 + 2], frame[30:34], frame[l4 + 2 : l4 + 4]


def is_tcp(frame: bytes) -> bool:
    return frame[12:14] == b"\x08\x00" and frame[23] == 6 and not struct.unpack_from(">H", frame, 20)[0] & 0x3FFF


def streams(frames: Iterable[bytes]) -> dict[tuple[bytes, ...], bytes]:
    """TCP payload by direction, put together by sequence number."""
    found: dict[tuple[bytes, ...], dict[int, bytes]] = {}
    for frame in frames:
        if is_tcp(frame):
            l4 = 14 + (frame[14] & 15) * 4
            payload = frame[l4 + (frame[l4 + 12] >> 4) * 4 : 14 + struct.unpack_from(">H", frame, 16)[0]]
            sequence = struct.unpack_from(">I", frame, l4 + 4)[0]
            if payload:
                found.setdefault(endpoints(frame), {})[sequence] = payload
    return {key: b"".join(parts[s] for s in sorted(parts)) for key, parts in found.items()}


def conversation_captures() -> list[Path]:
    """Real captures that hold both directions: an example's, and some of the shared ones if they are there."""
    shared = ROOT.parent / "shared" / "captures" / "ndpi"
    names = ("http.pcapng", "git.pcap", "ftp-start-tls.pcap", "websocket.pcap", "soap.pcap")
    return [ROOT / "examples" / "telemetry" / "mixed.pcap", *(shared / n for n in names if (shared / n).is_file())]


@pytest.mark.parametrize("capture", [p for p in conversation_captures() if p.is_file()], ids=lambda p: p.stem)
def test_out_and_back_gives_the_same_packets_and_streams(nat: tuple[object, object], capture: Path) -> None:
    """Every packet from inside leaves with the public endpoint; its answers come back exactly as they were captured."""
    machine, sink = machine_of(nat)
    public: dict[tuple[bytes, bytes], tuple[bytes, bytes]] = {}
    captured_out, captured_back, back = [], [], []
    clients: set[tuple[bytes, ...]] = set()
    for c in open_capture(capture):
        if not is_tcp(c.data) or len(c.data) < 14 + struct.unpack_from(">H", c.data, 16)[0]:
            continue
        frame = c.data[: 14 + struct.unpack_from(">H", c.data, 16)[0]]
        if not all(right for name, right in verify(frame).right.items()):
            continue
        src, sport, dst, dport = endpoints(frame)
        number = machine.counters.packets_in
        if (dst, dport, src, sport) not in clients:
            clients.add((src, sport, dst, dport))
            machine.arrive(INSIDE, c.time, frame)
            ((port, out),) = sink.left[number]
            assert port == OUTSIDE and all(verify(out).right.values())
            public[src, sport] = endpoints(out)[:2]
            captured_out.append(frame)
        else:
            machine.arrive(OUTSIDE, c.time, addressed(frame, "dst", *public[dst, dport]))
            ((port, out),) = sink.left[number]
            assert port == INSIDE
            assert out == frame, "outside-in does not undo inside-out"
            captured_back.append(frame)
            back.append(out)
    assert captured_out and captured_back
    assert streams(back) == streams(captured_back)
    assert len(set(public.values())) == len(public), "two inside endpoints share a public one"


def test_the_recorded_traffic_passes_both_ways(nat: tuple[object, object]) -> None:
    """What entered a real NAT on both sides: all passes but the unsolicited SYN, and streams are whole."""
    machine, sink = machine_of(nat)
    ports = {"inside": INSIDE, "outside": OUTSIDE}
    arrived = []
    for name, c in merge([("inside", NAT / "inside_only.pcap"), ("outside", NAT / "outside_only.pcap")]):
        assert name is not None
        arrived.append((name, c.data))
        machine.arrive(ports[name], c.time, c.data)
    machine.finish()
    assert machine.counters.dropped == {"unsolicited": 1}
    to_inside = [copies[0][1] for copies in sink.left.values() if copies[0][0] == INSIDE]
    entered = streams(d for name, d in arrived if name == "outside")
    assert sorted(streams(to_inside).values()) == sorted(entered.values())
    assert max(map(len, entered.values())) > 20_000  # the download


def test_an_icmp_error_is_translated_with_the_packet_it_quotes(nat: tuple[object, object]) -> None:
    """Port unreachable from 198.51.100.20 about 203.0.113.1:1027 reaches 192.168.1.11 about 192.168.1.11:40014."""
    machine, sink = machine_of(nat)
    error = None
    for name, c in merge([("inside", NAT / "inside_only.pcap"), ("outside", NAT / "outside_only.pcap")]):
        number = machine.counters.packets_in
        machine.arrive(INSIDE if name == "inside" else OUTSIDE, c.time, c.data)
        if c.data[23] == 1 and c.data[34] == 3:
            error = (c.data, sink.left[number])
    assert error is not None
    before, ((port, after),) = error
    assert port == INSIDE
    assert before[30:34] == PUBLIC.to_bytes(4, "big") and after[30:34] == bytes((192, 168, 1, 11))
    quoted = 14 + 20 + 8
    assert before[quoted + 12 : quoted + 16] == PUBLIC.to_bytes(4, "big")
    assert after[quoted + 12 : quoted + 16] == bytes((192, 168, 1, 11))
    assert struct.unpack_from(">HH", before, quoted + 20) == (1027, 9999)
    assert struct.unpack_from(">HH", after, quoted + 20) == (40014, 9999)
    assert verify(after).right == {**verify(before).right} and all(verify(after).right.values())
