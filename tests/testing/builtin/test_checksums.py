"""The built-in property `checksums` where the NF pushes headers: whose checksum is whose, and which zeros are meant."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from tests.testing.test_wire import FRAMES

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.trace import Arrival, Trace
from polysome.testing.builtin.base import Broken
from polysome.testing.builtin.checksums import Checksums
from polysome.testing.execution import execute
from polysome.testing.spec import Spec, load
from polysome.testing.wire import ones_sum

# A tunnel that nobody knows by its port, so that what is inside is hidden from who knows only the RFCs.
SPEC = """
use net.l4;
header shim { number: u32; }
nf tunnel {
  port a, b;
  on packet {
    require l4 else drop "no ports";
    %s
    send b;
  }
}
"""
PUSH = "push ethernet {{ src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 }} before ethernet; {ip} {rest}"
OUTER4 = "push ipv4 { src: 10.0.0.1, dst: 10.0.0.2 } before ethernet;"
OUTER6 = "push ipv6 { src: 2001:db8::1, dst: 2001:db8::2 } before ethernet;"
UDP = "push udp { sport: 49152, dport: 9999 } before ethernet; push shim { number: 7 } before ethernet;"


def tunnel(tmp_path: Path, ip: str) -> Spec:
    path = tmp_path / "tunnel.nf"
    path.write_text(SPEC % PUSH.format(ip=ip, rest=UDP), encoding="utf-8")
    return load(path)


def ran(spec: Spec, *frames: bytes) -> Record:
    trace = Trace({}, tuple(Arrival(0, 1000 * n, frame) for n, frame in enumerate(frames)))
    record = ENGINES["interp"].run(spec.program, trace, RunOptions())
    assert record.crash is None and all(fate.sent for fate in record.fates)
    return record


def with_sum(frame: bytes, at: int, value: int) -> bytes:
    return frame[:at] + struct.pack(">H", value) + frame[at + 2 :]


def left_as(record: Record, data: bytes) -> Record:
    (fate,) = record.fates
    return replace(record, fates=(replace(fate, copies=(replace(fate.copies[0], data=data),)),))


@pytest.mark.parametrize("ip", [OUTER4, OUTER6])
def test_a_pushed_udp_header_has_no_checksum_on_purpose(ip: str, tmp_path: Path) -> None:
    """Whatever came with the packet: a checksum, none, a wrong one."""
    udp = FRAMES["udp"][0]
    frames = [
        udp,
        with_sum(udp, 40, 0),
        with_sum(udp, 40, 1),
        udp + b"trailer",
        FRAMES["ipv6 udp"][0],
        FRAMES["tcp"][0],
    ]
    record = ran(tunnel(tmp_path, ip), *frames)
    assert Checksums().check(record) > 0
    judged = execute(tunnel(tmp_path, ip), record.decided(), ENGINES["interp"])
    assert Checksums().judge(judged).failure is None


@pytest.mark.parametrize(("name", "at"), [("IPv4 header", 24), ("UDP", 40)])
def test_a_pushed_header_whose_checksum_is_wrong_is_found(name: str, at: int, tmp_path: Path) -> None:
    record = ran(tunnel(tmp_path, OUTER4), FRAMES["udp"][0])
    data = record.fates[0].copies[0].data
    with pytest.raises(Broken, match=name):
        Checksums().check(left_as(record, with_sum(data, at, 0x1234)))


def test_a_checksum_that_came_and_became_zero_is_found(tmp_path: Path) -> None:
    """At the same place before the packet's end, it is the one that came: with or without a header in front."""
    record = ran(tunnel(tmp_path, OUTER4), FRAMES["udp"][0])
    with pytest.raises(Broken, match="left with a UDP checksum of zero"):
        Checksums().check(left_as(record, with_sum(b"\2" + FRAMES["udp"][0][1:], 40, 0)))


ECHO = """
use net.l4;
nf echo { port a, b; on packet { require icmp else drop "no ICMP"; icmp.type = %d; send b; } }
"""


def echo(tmp_path: Path, type: int) -> Spec:
    path = tmp_path / "echo.nf"
    path.write_text(ECHO % type, encoding="utf-8")
    return load(path)


def icmp(type: int, checksum: int) -> bytes:
    ip = bytes.fromhex("4500001c00000000400166e00a0000010a000001")
    assert ones_sum(ip) == 0
    return bytes(12) + b"\x08\x00" + ip + struct.pack(">BBHI", type, 0, checksum, 0)


def test_zero_is_not_the_checksum_of_zeros(tmp_path: Path) -> None:
    record = ran(echo(tmp_path, 0), icmp(8, 0xF7FF))
    assert record.fates[0].copies[0].data == icmp(0, 0xFFFF) and Checksums().check(record) == 2
    with pytest.raises(Broken, match="left with a wrong one"):
        Checksums().check(left_as(record, icmp(0, 0)))


def test_what_came_as_zeros_with_zero_is_not_made_to_look_intact(tmp_path: Path) -> None:
    """An update cannot tell 0 from ffff (RFC 1624), so it comes out right."""
    record = ran(echo(tmp_path, 8), icmp(0, 0))
    assert record.fates[0].copies[0].data == icmp(8, 0xF7FF) and Checksums().check(record) == 2
