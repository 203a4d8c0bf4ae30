"""Real captures, read as dpkt, capinfos and tshark read them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import dpkt  # type: ignore[import-untyped]
import pytest

from polysome.captures.read import open_capture
from polysome.captures.write import PcapngWriter

from .vectors import read_all

FOLDER = Path(__file__).parents[3] / "shared" / "captures" / "ndpi"
CAPTURES = sorted(FOLDER.glob("*.pcap*"))[:253]

pytestmark = pytest.mark.skipif(not CAPTURES, reason=f"the nDPI captures are not at {FOLDER}")


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{' and '.join(missing)} not installed (apt install tshark)")


def output_of(*command: str | Path) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def nanoseconds(seconds: str) -> int:
    """ "1654385236.412092000", exactly."""
    whole, fraction = seconds.split(".")
    return int(whole + fraction.ljust(9, "0"))


def test_as_dpkt_reads_them() -> None:
    for path in CAPTURES:
        packets, error = read_all(path)
        assert error is None
        with path.open("rb") as file:
            theirs = list(dpkt.pcap.UniversalReader(file))
        assert [packet.data for packet in packets] == [data for _, data in theirs], path.name
        if path.read_bytes().startswith(b"\n\r\r\n"):
            continue  # in a pcapng dpkt takes all timestamps for the first interface's; tshark judges these
        for packet, (seconds, _) in zip(packets, theirs, strict=True):
            assert abs(packet.time - int(seconds * 10**9)) < 1000, path.name  # its floats are no better


@needs("capinfos")
def test_as_capinfos_counts_them() -> None:
    # Columns: file name, packets, bytes on disk.
    rows = [line.split("\t") for line in output_of("capinfos", "-TMcsr", *CAPTURES)]
    for path, (name, packets, size) in zip(CAPTURES, rows, strict=True):
        assert name == str(path)
        with open_capture(path) as capture:
            assert (sum(1 for _ in capture), capture.position, capture.size) == (int(packets), int(size), int(size))


FIELDS = [word for name in ("time_epoch", "len", "cap_len") for word in ("-e", f"frame.{name}")]


@needs("mergecap", "tshark")
def test_as_tshark_reads_them(tmp_path: Path) -> None:
    joined = tmp_path / "joined.pcapng"  # one file behind the other, to start tshark once
    output_of("mergecap", "-a", "-F", "pcapng", "-w", joined, *CAPTURES)
    ours = [packet for path in CAPTURES for packet in read_all(path)[0]]
    assert len(ours) == 49_326
    theirs = [line.split("\t") for line in output_of("tshark", "-n", "-r", joined, "-T", "fields", *FIELDS)]
    for packet, (time, wire, captured) in zip(ours, theirs, strict=True):
        assert (packet.time, packet.wire_length, len(packet.data)) == (nanoseconds(time), int(wire), int(captured))
    assert [(p.time, p.data, p.wire_length) for p in read_all(joined)[0]] == [
        (p.time, p.data, p.wire_length) for p in ours
    ]


@needs("tshark")
def test_what_we_write_as_tshark_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "out.pcapng"
    packets = [packet for source in CAPTURES[:20] for packet in read_all(source)[0]]
    with PcapngWriter(path, ["lan", "wan"]) as out:
        for number, packet in enumerate(packets):
            out.write(number % 2, packet.time + 1, packet.data, "odd" if number % 2 else "")
    fields = [*FIELDS, "-e", "frame.interface_name", "-e", "frame.comment"]
    rows = [line.split("\t") for line in output_of("tshark", "-n", "-r", path, "-T", "fields", *fields)]
    for number, (packet, (time, wire, captured, interface, comment)) in enumerate(zip(packets, rows, strict=True)):
        assert nanoseconds(time) == packet.time + 1
        assert int(wire) == int(captured) == len(packet.data)
        assert (interface, comment) == (("wan", "odd") if number % 2 else ("lan", ""))


def test_what_we_write_as_dpkt_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "out.pcapng"
    packets = [packet for source in CAPTURES[:20] for packet in read_all(source)[0]]
    with PcapngWriter(path, ["lan"]) as out:
        for packet in packets:
            out.write(0, packet.time, packet.data, "a comment")
    with path.open("rb") as file:
        assert [data for _, data in dpkt.pcapng.Reader(file)] == [packet.data for packet in packets]
