"""Wireshark's dissector reads every kind of frame as it is meant, and has nothing to complain of.

It shows the ICRC but does not check it (4.0 has no field for the result): here zlib does, from the annex's definition.
"""

from __future__ import annotations

import shutil
import subprocess
import zlib
from pathlib import Path

import dpkt
import pytest
from tests.native.native_build import need
from tests.rdma.rdma_build import RdmaBuild

from polysome.backends.nf_cpp.build import compiler

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed (apt install tshark)"),
]

SEND_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY = 0x04, 0x06, 0x07, 0x08, 0x0A
READ, FIRST, MIDDLE, LAST, ONLY, ACK = 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x11
QPN, PEER_QPN = 0x123456, 0xABCD

# What conversation.cpp says: opcode, queue pair, PSN, asks for an ACK, payload and pad in bytes.
FRAMES = [
    (WRITE_ONLY, QPN, 0xFFFFFE, True, 8, 3),
    (ACK, PEER_QPN, 0xFFFFFE, False, 0, 0),
    (WRITE_FIRST, QPN, 0xFFFFFF, False, 256, 0),
    (WRITE_MIDDLE, QPN, 0, False, 256, 0),
    (WRITE_LAST, QPN, 1, True, 88, 0),
    (ACK, PEER_QPN, 1, False, 0, 0),
    (READ, QPN, 2, True, 0, 0),
    (ONLY, PEER_QPN, 2, False, 8, 3),
    (READ, QPN, 3, True, 0, 0),
    (FIRST, PEER_QPN, 3, False, 256, 0),
    (MIDDLE, PEER_QPN, 4, False, 256, 0),
    (LAST, PEER_QPN, 5, False, 88, 0),
    (READ, QPN, 6, True, 0, 0),
    (ONLY, PEER_QPN, 6, False, 0, 0),
    (WRITE_ONLY, QPN, 9, True, 4, 0),
    (ACK, PEER_QPN, 7, False, 0, 0),
    (WRITE_ONLY, QPN, 0xFFFFFE, True, 8, 3),
    (ACK, PEER_QPN, 6, False, 0, 0),
    (READ, QPN, 7, True, 0, 0),
    (ACK, PEER_QPN, 7, False, 0, 0),
    (SEND_ONLY, QPN + 1, 0, True, 16, 0),
    (ACK, PEER_QPN, 0, False, 0, 0),
    (WRITE_ONLY, QPN + 2, 0, True, 0, 0),
    (ACK, PEER_QPN, 0, False, 0, 0),
    (ACK, QPN, 8, False, 0, 0),
]
# Of the frames with an AETH, in order: kind (0 ACK, 1 RNR NAK, 3 NAK), its value (credits, timer or code), MSN.
AETHS = [
    *[(0, 31, 1), (0, 31, 2), (0, 31, 3), (0, 31, 4), (0, 31, 4), (0, 31, 5)],
    *[(3, 0, 5), (0, 31, 5), (3, 2, 5), (3, 1, 0), (3, 3, 0), (1, 12, 6)],
]
# Of the frames with a RETH: address, key, length.
KEY = 0xFEEDF00D
RETHS = [
    *[(0x400, KEY, 5), (0x1000, KEY, 600), (0x400, KEY, 5), (0x1000, KEY, 600), (0, KEY, 0)],
    *[(0, KEY, 4), (0x400, KEY, 5), (0, 0xBAD, 4), (0, 0, 0)],
]

CHECKED = ["-o", "ip.check_checksum:TRUE"]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("tshark")
    path = tmp_path_factory.mktemp("rdma") / "conversation.pcap"
    driver = RdmaBuild("units", compiler() or (), ("-DSANITIZE=ON",)).executable("conversation")
    subprocess.run([str(driver), str(path)], check=True, timeout=60)
    return path


def tshark(capture: Path, *options: str) -> list[list[str]]:
    command = ["tshark", "-n", "-r", str(capture), *CHECKED, *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [line.split("\t") for line in done.stdout.splitlines()]


def fields(capture: Path, *names: str) -> list[list[int]]:
    """Of every frame the fields as numbers; of one that it does not have, -1."""
    chosen = [option for name in names for option in ("-e", name)]
    return [[number(text) for text in row] for row in tshark(capture, "-T", "fields", *chosen)]


def number(text: str) -> int:
    flags = {"": -1, "False": 0, "True": 1}
    return flags[text] if text in flags else int(text, 0)


def complaints(capture: Path) -> list[list[str]]:
    return tshark(capture, "-Y", "_ws.expert || _ws.malformed || !infiniband", "-T", "fields", "-e", "frame.number")


def test_nothing_is_complained_of(capture: Path) -> None:
    assert complaints(capture) == []
    assert {row[0] for row in fields(capture, "ip.checksum.status")} == {1}


def test_what_is_wrong_is_complained_of(capture: Path, tmp_path: Path) -> None:
    """So that silence means something."""
    data = bytearray(capture.read_bytes())
    data[24 + 16 + 24] ^= 1  # the first frame's IPv4 header checksum
    bad = tmp_path / "bad.pcap"
    bad.write_bytes(data)
    assert complaints(bad) == [["1"]]


def test_opcodes_and_numbers(capture: Path) -> None:
    names = ("bth.opcode", "bth.destqp", "bth.psn", "bth.a", "bth.padcnt")
    rows = fields(capture, *(f"infiniband.{name}" for name in names))
    assert [tuple(row) for row in rows] == [(o, q, p, int(a), pad) for o, q, p, a, _, pad in FRAMES]
    other = fields(capture, "infiniband.bth.p_key", "infiniband.bth.tver", "infiniband.bth.m", "udp.dstport")
    assert {tuple(row) for row in other} == {(0xFFFF, 0, 1, 4791)}


def test_payloads(capture: Path) -> None:
    """With their pads: the dissector counts them to the payload."""
    rows = tshark(capture, "-T", "fields", "-e", "infiniband.payload", "-e", "data.data")
    sizes = [max(len(text.replace(":", "")) // 2 for text in row) if row else 0 for row in rows]
    assert sizes == [size for *_, size, _ in FRAMES]


def test_acknowledges(capture: Path) -> None:
    names = ("opcode", "credit_count", "timer", "error_code")
    rows = fields(capture, *(f"infiniband.aeth.syndrome.{name}" for name in names), "infiniband.aeth.msn")
    found = [(kind, max(credits, timer, code), msn) for kind, credits, timer, code, msn in rows if kind >= 0]
    assert found == AETHS


def test_rdma_headers(capture: Path) -> None:
    rows = fields(capture, "infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen")
    assert [tuple(row) for row in rows if row[0] >= 0] == RETHS


def icrc(frame: bytes) -> int:
    """By annex A17: 64 ones, the datagram with ones for what may change; as its bytes lie on the wire."""
    datagram = bytearray(frame[14:-4])
    for at in (1, 8, 10, 11, 26, 27, 32):
        datagram[at] = 0xFF
    return int.from_bytes(zlib.crc32(b"\xff" * 8 + datagram).to_bytes(4, "little"), "big")


def test_invariant_crcs(capture: Path) -> None:
    with capture.open("rb") as file:
        frames = [frame for _, frame in dpkt.pcap.Reader(file)]
    shown = [row[0] for row in fields(capture, "infiniband.invariant.crc")]
    assert shown == [icrc(frame) for frame in frames]
    assert len(shown) == len(FRAMES)
