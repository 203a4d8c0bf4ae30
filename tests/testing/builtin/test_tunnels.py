"""What comes out of a tunnel: the built-in properties say nothing of what nobody saw go in, and all of the rest."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.engines.trace import Arrival, Trace
from polysome.testing.builtin.base import Broken
from polysome.testing.builtin.checksums import Checksums
from polysome.testing.builtin.packet_ends import PacketEnds
from polysome.testing.spec import load
from polysome.testing.wire import ones_sum

# VXLAN is taken off, and nothing else is done; `pushes` is there so that checksums without a partner are judged.
SPEC = """
use net.tunnel;
nf gate {
  port fabric, access;
  on packet from fabric {
    require vxlan and inner.ethernet and outer.ipv4 else drop "not VXLAN";
    pop outer.ethernet..vxlan;
    send access;
  }
  on packet from access {
    require outer.ipv4 else drop "not IPv4";
    push ethernet { src: 02:00:00:00:00:01, dst: 02:00:00:00:00:02 } before outer.ethernet;
    push ipv4 { src: 10.0.0.1, dst: 10.0.0.2 } before outer.ethernet;
    push udp { sport: 49152, dport: 4789 } before outer.ethernet;
    push vxlan { vni: 5 } before outer.ethernet;
    send fabric;
  }
}
"""
MACS = bytes.fromhex("020000000002 020000000001")


def with_sum(header: bytes, at: int) -> bytes:
    return header[:at] + struct.pack(">H", 0xFFFF - ones_sum(header)) + header[at + 2 :]


def ipv4(protocol: int, content: bytes) -> bytes:
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(content), 0, 0, 64, protocol, 0, bytes(4), bytes(4))
    return with_sum(header, 10) + content


def wrapped(inner: bytes, udp_length: int) -> bytes:
    """A frame in VXLAN, its outer UDP header without a checksum and with any length."""
    udp = struct.pack(">HHHH", 49152, 4789, udp_length, 0)
    return MACS + b"\x08\x00" + ipv4(17, udp + b"\x08" + bytes(3) + b"\0\0\x05\0" + inner)


def ran(tmp_path: Path, frame: bytes) -> Record:
    path = tmp_path / "gate.nf"
    path.write_text(SPEC, encoding="utf-8")
    spec = load(path)
    record = ENGINES["interp"].run(spec.program, Trace({}, (Arrival(0, 1000, frame),)), RunOptions())
    assert record.fates[0].sent
    return record


def left_as(record: Record, data: bytes) -> Record:
    (fate,) = record.fates
    return replace(record, fates=(replace(fate, copies=(replace(fate.copies[0], data=data),)),))


def test_what_follows_the_packet_in_a_frame_inside_may_come_out(tmp_path: Path) -> None:
    inner = MACS + b"\x08\x00" + ipv4(200, b"data") + bytes(12)
    record = ran(tmp_path, wrapped(inner, 16 + len(inner)))
    assert record.fates[0].copies[0].data == inner
    assert PacketEnds().check(record) == 1


def test_what_follows_a_packet_that_was_in_no_tunnel_may_not(tmp_path: Path) -> None:
    frame = MACS + b"\x08\x00" + ipv4(200, b"data")
    record = ran(tmp_path, wrapped(frame, 16 + len(frame)))
    padded = left_as(record, record.fates[0].arrival.data + bytes(3))
    with pytest.raises(Broken, match="but it ends after"):
        PacketEnds().check(padded)


def test_a_checksum_inside_is_no_partner_of_the_one_outside(tmp_path: Path) -> None:
    """The outer UDP length hides what is inside from who knows only the RFCs; there is a checksum, a wrong one even."""
    inner = MACS + b"\x08\x00" + ipv4(17, struct.pack(">HHHH", 1, 2, 12, 0x0068) + b"data")
    record = ran(tmp_path, wrapped(inner, 30))
    assert record.fates[0].copies[0].data == inner
    assert Checksums().check(record) > 0


def test_a_checksum_inside_that_was_seen_stays_what_it_was(tmp_path: Path) -> None:
    inner = MACS + b"\x08\x00" + ipv4(6, struct.pack(">HHIIBBHHH", 1, 2, 3, 4, 0x50, 0, 0, 0, 0))
    record = ran(tmp_path, wrapped(inner, 16 + len(inner)))
    at = 14 + 20 + 16
    changed = inner[:at] + b"\x12\x34" + inner[at + 2 :]
    assert Checksums().check(record) > 0
    with pytest.raises(Broken, match="TCP checksum"):
        Checksums().check(left_as(record, changed))
