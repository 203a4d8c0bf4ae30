"""What the bench compares with does the same work: the rivals of the column `equal` (native/rivals) do what the
interpreter does with the same packets, byte for byte, and send the same records.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from native_build import build_programs, missing
from native_nfs import Config, resized
from rival_traces import KINDS, Packet, draw, many_talkers, segment

from polysome.config.load import load_config
from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Trace
from polysome.ir import program as ir
from polysome.resources import folder
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

MADE = 0xFFFFFFFF
SEEDS, PACKETS = range(24), 400

pytestmark = [pytest.mark.slow, pytest.mark.skipif(missing() is not None, reason=str(missing()))]

Left = tuple[int, int, bytes]  # number of the packet, port, bytes
Sent = tuple[int, bytes]  # by the NF itself: time, bytes


@cache
def example(name: str) -> ir.Program:
    return check(folder("examples") / name / f"{name}.nf", Report())


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where play_NAME of each rival is."""
    built = tmp_path_factory.mktemp("rivals")
    assert build_programs(built, [f"play_{name}" for name in KINDS])
    return built


def played(
    program: Path, column: str, capacity: int, config: Config, trace: Sequence[Packet], scratch: Path
) -> tuple[list[Left], list[Sent]]:
    """What a rival makes of a trace."""
    rows, file = scratch / "rows", scratch / "trace"
    rows.write_text(config.row_lines, encoding="utf-8")
    file.write_bytes(b"".join(struct.pack("<QHH", t, port, len(f)) + f for t, port, f in trace))
    command = [str(program), column, str(capacity), str(rows), str(file)]
    said = subprocess.run(command, capture_output=True, check=True).stdout
    left, sent, at = list[Left](), list[Sent](), 0
    while at < len(said):
        number, port, size = struct.unpack_from("<IHH", said, at)
        at += 8
        if number == MADE:
            (time,) = struct.unpack_from("<Q", said, at)
            at += 8
            sent.append((time, said[at : at + size]))
        else:
            left.append((number, port, said[at : at + size]))
        at += size
    return left, sent


def meant(
    name: str, capacity: int, config: Config, trace: Sequence[Packet], scratch: Path
) -> tuple[list[Left], list[Sent]]:
    """What the spec makes of it."""
    program = resized(example(name), capacity)
    values = load_config(program, config.written(scratch), Report())
    arrivals = tuple(Arrival(port, time, frame) for time, port, frame in trace)
    record = ENGINES["interp"].run(program, Trace(values, arrivals), RunOptions())
    assert record.crash is None
    left = [(f.number, c.port, c.data) for f in record.fates for c in f.copies]
    return left, [(made.time, made.data) for made in record.emitted]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("capacity", [1, 2, 4, 100])
def test_equal_is_equal(name: str, capacity: int, programs: Path, tmp_path: Path) -> None:
    config = KINDS[name].config
    for seed in SEEDS:
        trace = draw(name, seed, PACKETS)
        expected = meant(name, capacity, config, trace, tmp_path)
        found = played(programs / f"play_{name}", "equal", capacity, config, trace, tmp_path)
        for one, other in zip(found[0], expected[0], strict=False):
            assert one == other, f"seed {seed}: packet {other[0]} at {trace[other[0]][0]}"
        for made, sent in zip(found[1], expected[1], strict=False):
            assert made == sent, f"seed {seed}: what is sent at {sent[0]}"
        assert list(map(len, found)) == list(map(len, expected)), f"seed {seed}"


def test_without_expiry_approximate_is_equal(programs: Path, tmp_path: Path) -> None:
    """As long as there is room and nothing ends, there is nothing to approximate."""
    for name in KINDS:
        trace = [(10**18 + i, port, frame) for i, (_, port, frame) in enumerate(draw(name, 1, PACKETS))]
        one, other = (
            played(programs / f"play_{name}", column, 1000, KINDS[name].config, trace, tmp_path)
            for column in ("equal", "approximate")
        )
        assert one[0] == other[0], name


def test_more_talkers_than_counters(programs: Path, tmp_path: Path) -> None:
    config, trace = KINDS["telemetry"].config, many_talkers(1, 20_000)
    expected = meant("telemetry", 10_000, config, trace, tmp_path)
    found = played(programs / "play_telemetry", "equal", 10_000, config, trace, tmp_path)
    assert found == expected and len(found[1]) > 20


def test_a_syn_reopens_what_was_closing(programs: Path, tmp_path: Path) -> None:
    """conn_limiter: a FIN of both with a SYN between: the connection is there, and counts against the limit of 1."""
    config = KINDS["conn_limiter"].config
    syn, fin, other = (segment(1000, 2), segment(1000, 17), segment(1023, 2))
    answer = segment(1000, 17, back=True)
    for frames in ((syn, fin, syn, answer, other), (syn, fin, answer, other)):
        trace = [(10**18 + i, int(frame is answer), frame) for i, frame in enumerate(frames)]
        expected = meant("conn_limiter", 4, config, trace, tmp_path)
        assert played(programs / "play_conn_limiter", "equal", 4, config, trace, tmp_path) == expected
        assert (expected[0][-1][0] == len(trace) - 1) == (syn not in frames[1:]), "the other one passes if it may"


@pytest.mark.parametrize("first", ["idle", "finished"])
def test_records_that_end_at_one_instant(first: str, programs: Path, tmp_path: Path) -> None:
    """telemetry: 15 s after the last packet, or 1 s if it was finished; of two, the one inserted first ends first."""
    config, idle, finished = KINDS["telemetry"].config, segment(1000, 16), segment(1023, 17)
    start, second = 10**18, 10**9
    begins = [(start, 0, idle), (start + (0 if first == "idle" else 1), 0, finished)]
    if first == "finished":
        begins = [(start, 0, segment(1023, 16)), (start + 1, 0, idle)]
    due = begins[-1][0] + 15 * second if first == "finished" else start + 15 * second
    trace = [*begins, (due - second, 0, finished), (due + second, 0, segment(7, 16))]
    expected = meant("telemetry", 10, config, trace, tmp_path)
    found = played(programs / "play_telemetry", "equal", 10, config, trace, tmp_path)
    assert found == expected
    ends = [time for time, _ in expected[1]]
    assert ends.count(due) == 2, "both end then"


@pytest.mark.parametrize("capacity", [64_000, 100_000])
def test_the_last_public_port(capacity: int, programs: Path, tmp_path: Path) -> None:
    """More UDP flows than there is room for, or than an address has ports; all end, in the order in which they were
    used last, and as many come anew: they get the ports in that order.
    """
    config = Config({"": 'pool_addresses = ["100.64.0.0"]'}, [(0x64400000,)])
    frame = next(f for _, port, f in draw("nat", 7, 100) if port == 0 and len(f) > 60 and f[23] == 17 and f[14] == 0x45)
    trace: list[Packet] = []
    for time, first, flows in ((0, 0, range(65_000)), (10, 0, range(0, 65_000, 7)), (400, 1 << 20, range(65_000))):
        for flow in flows:
            address = struct.pack("!I", 0x0B000000 + first + flow)
            trace.append((10**18 + time * 10**9 + flow // 20, 0, frame[:26] + address + frame[30:]))
    expected = meant("nat", capacity, config, trace, tmp_path)
    found = played(programs / "play_nat", "equal", capacity, config, trace, tmp_path)
    assert found == expected and len(found[0]) < len(trace)
