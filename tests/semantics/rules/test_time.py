"""LANGUAGE.md section 2: time, and the order of events."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from polysome.captures.merge import merge
from polysome.engines.feed import Gaps
from polysome.interp.machine import Machine
from rules.harness import Outcome, bare, program, run, start, value
from rules.packets import ethernet, ipv4, udp

S = 10**9
ANY = b"\0" * 64

# Notes who was there and when: `note(1)` appends 1 to `who` and the present time to `times`.
LOG = """
  state { n: u8; who: array<u8>[32]; times: array<time>[32]; }
  action note(what: u8) { who[n] = what; times[n] = now; n += 1; }
"""


def log(outcome: Outcome) -> list[tuple[int, int]]:
    n = outcome.state["n"]
    return list(zip(outcome.state["who"][:n], outcome.state["times"][:n], strict=True))


# ---------------------------------------------------------------- L2.1, L2.2


def test_L2_1_now_is_the_arrival_time_of_the_packet() -> None:
    late = 1_700_000_000 * S + 123  # November 2023
    assert log(run(bare("note(1); bounce;", LOG), [(0, "a", ANY), (late, "a", ANY)])) == [(1, 0), (1, late)]


def test_L2_1_time_is_64_bits_of_nanoseconds() -> None:
    assert value("now", "time", time=2**64 - 1) == 2**64 - 1
    assert value("now + 1ns", "time", time=2**64 - 1) == 0


def test_L2_1_time_never_runs_back() -> None:
    times = [100, 50, 100, 99, 101]
    found = log(run(bare("note(1); bounce;", LOG), [(t, "a", ANY) for t in times]))
    assert [when for _, when in found] == [100, 100, 100, 100, 101]


def test_L2_1_what_leaves_leaves_at_now() -> None:
    assert [t for _, t, _, _ in run(bare("bounce;"), [(100, "a", ANY), (50, "a", ANY)]).left] == [100, 100]


TIMEOUTS = (
    LOG
    + """
  state { m: map<u8, u8> { capacity 9; age 10ns; when full drop; } }
  on end m(k, v, why) { note(100 + k); }
"""
)


def test_L2_2_what_is_due_happens_before_the_packet_with_now_its_due_time() -> None:
    spec = bare("m[byte0.first] = 0; note(byte0.first); bounce;", TIMEOUTS)
    spec = spec.replace("m[byte0", "require byte0; m[byte0")
    # entry 1 is due at 5 + 10 = 15, entry 2 at 17; both before the packet at 40, in order of their due times
    packets = [(5, "a", b"\1"), (7, "a", b"\2"), (40, "a", b"\3")]
    assert log(run(spec, packets)) == [(1, 5), (2, 7), (101, 15), (102, 17), (3, 40)]


def test_L2_2_due_at_the_packets_time_is_before_it() -> None:
    spec = bare("note(1); require byte0; m[byte0.first] = 0; bounce;", TIMEOUTS)
    assert log(run(spec, [(5, "a", b"\1"), (15, "a", b"\2")])) == [(1, 5), (101, 15), (1, 15)]
    assert log(run(spec, [(5, "a", b"\1"), (14, "a", b"\2")])) == [(1, 5), (1, 14)]


def test_L2_2_different_kinds_of_events_go_in_order_of_their_due_times() -> None:
    # the entry of the packet at 0 ends at 10, the one of the packet at 5 at 15; the timer fires at 12 and 24
    spec = bare("note(1); require byte0; m[byte0.first] = 0; bounce;", TIMEOUTS + "every 12ns { note(9); }")
    packets = [(0, "a", b"\0"), (5, "a", b"\5"), (25, "a", b"\6")]
    assert log(run(spec, packets)) == [(1, 0), (1, 5), (100, 10), (9, 12), (105, 15), (9, 24), (1, 25)]


def test_L2_2_what_is_due_after_the_last_packet_never_happens() -> None:
    # the age is 1 ns, the least there is (S1.5): due at 6, one nanosecond after the last packet
    items = TIMEOUTS.replace("age 10ns", "age 1ns") + "every 6ns { note(9); }"
    spec = bare("note(1); require byte0; m[byte0.first] = 0; bounce;", items)
    outcome = run(spec, [(0, "a", b"\1"), (5, "a", b"\2")])
    assert log(outcome) == [(1, 0), (101, 1), (1, 5)] and outcome.state["m"] == [(2, 0)]
    outcome = run(spec, [(0, "a", b"\1"), (5, "a", b"\2"), (6, "a", b"\3")])
    assert log(outcome) == [(1, 0), (101, 1), (1, 5), (102, 6), (9, 6), (1, 6)]


SHAPED = "schedule { shape 8Mbps, 100B; classes 4; idle 1s; buffer 1MB; when full drop; }"  # a byte takes 1 us


def test_L2_2_what_the_schedule_still_holds_at_the_end_counts_as_held() -> None:
    frame = b"\1" * 100
    # the first takes the whole bucket; the second may leave 100 us later, the third 200 us later
    outcome = run(bare("send b;", SHAPED), [(0, "a", frame)] * 3)
    assert [t for _, t, _, _ in outcome.left] == [0] and outcome.held == 2 and outcome.counters.sent == 1
    outcome = run(bare("send b;", SHAPED), [(0, "a", frame)] * 3 + [(100_000, "a", b"\2" * 14)])
    # at 100 us the second leaves, before the fourth, which must wait for the third
    assert [(t, n) for _, t, _, n in outcome.left] == [(0, 0), (100_000, 1)] and outcome.held == 2


# ---------------------------------------------------------------- L2.3, L2.4

ORDER = """
  port a, b;
  config mode: u8 = 1;
  state {
    n: u8; who: array<u8>[32];
    later: map<u8, u8> { capacity 9; age 100us; when full drop; }
    sooner: map<u8, u8> { capacity 9; age 100us; when full drop; }
    seen: u8;
  }
  action note(what: u8) { who[n] = what; n += 1; }
  on end sooner(k, v, why) { note(20 + k); }
  on end later(k, v, why) { note(10 + k); }
  every 100us { note(30); seen = mode; }
  every 50us { note(40); }
"""


def at_one_instant() -> tuple[Machine, list[int]]:
    """Runs packets at 0 and at 100 us, when everything is due; also the value of `n` whenever a packet leaves."""
    body = """
      note(mode);
      if n == 1 { sooner[2] = 0; sooner[1] = 0; later[2] = 0; later[1] = 0; }
      send b;
    """
    spec = bare(body, ORDER.replace("port a, b;", "") + SHAPED)
    machine, _ = start(spec)
    left: list[int] = []
    machine.sink.leave = lambda *a: left.append(machine.scalars["n"])  # type: ignore[method-assign]
    for time, values in ((100_000, {"mode": 2}), (100_000, {"mode": 3})):
        machine.change_at(time, values)
    machine.arrive(0, 0, b"\1" * 100)
    machine.arrive(0, 0, b"\1" * 100)  # may leave at 100 us
    machine.arrive(0, 100_000, b"\1" * 100)
    return machine, left


def test_L2_3_at_one_instant_expiries_then_releases_then_timers_then_changes_then_packets() -> None:
    machine, left = at_one_instant()
    array = machine.functions["STATE"]["who"]
    who = [array.get(i) for i in range(machine.scalars["n"])]
    # 1, 1: the two packets at 0; 40: the timer at 50 us. Then, at 100 us: `later` is declared first, in it 2 was
    # inserted before 1; then `sooner`; the timers in order of declaration; the packet, which sees the last change.
    assert who == [1, 1, 40, 12, 11, 22, 21, 30, 40, 3]
    assert machine.scalars["seen"] == 1  # the timer ran before the changes
    # The first packet left when n was 1; the second was released after the four expiries (n = 7), before the timers.
    assert left == [1, 7]


def test_L2_3_entries_of_one_map_end_in_order_of_their_insertion_not_of_their_last_write() -> None:
    items = TIMEOUTS.replace("age 10ns", "idle 10ns")
    # 1 and 2 are inserted at 0 and 1; at 2 first 2, then 1 is used: both are due at 12
    body = """
      if now == T0 { m[1] = 0; }
      if now == T0 + 1ns { m[2] = 0; }
      if now == T0 + 2ns { m[2] = 0; m[1] = 0; }
      bounce;
    """
    spec = bare(body, items + "param T0: time = 0;")
    assert log(run(spec, [(t, "a", ANY) for t in (0, 1, 2, 12)])) == [(101, 12), (102, 12)]


def test_L2_4_every_runs_at_the_first_packet_plus_multiples() -> None:
    spec = bare("note(1); bounce;", LOG + "every 10ns { note(9); }")
    packets = [(1003, "a", ANY), (1012, "a", ANY), (1033, "a", ANY)]
    # 1003 + 10, + 20, + 30; the last one is at 1033, before the packet of that time
    assert log(run(spec, packets)) == [(1, 1003), (1, 1012), (9, 1013), (9, 1023), (9, 1033), (1, 1033)]


def test_L2_4_never_at_the_first_packet_and_never_without_one() -> None:
    spec = bare("note(1); bounce;", LOG + "every 10ns { note(9); }")
    assert log(run(spec, [])) == []
    assert log(run(spec, [(50, "a", ANY)])) == [(1, 50)]


def test_L2_4_timers_at_one_instant_run_in_order_of_declaration() -> None:
    spec = bare("bounce;", LOG + "every 20ns { note(1); } every 10ns { note(2); } every 20ns { note(3); }")
    found = log(run(spec, [(0, "a", ANY), (40, "a", ANY)]))
    assert found == [(2, 10), (1, 20), (2, 20), (3, 20), (2, 30), (1, 40), (2, 40), (3, 40)]


def test_L2_4_a_packet_that_is_late_does_not_move_them() -> None:
    spec = bare("bounce;", LOG + "every 10ns { note(9); }")
    assert [t for _, t in log(run(spec, [(100, "a", ANY), (3, "a", ANY), (120, "a", ANY)]))] == [110, 120]


# ---------------------------------------------------------------- L2.5, L2.6


def pcap(path: Path, packets: list[tuple[int, bytes]]) -> Path:
    """A capture with nanoseconds (magic a1b23c4d), link type 1."""
    head = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    records = (struct.pack("<IIII", t // S, t % S, len(d), len(d)) + d for t, d in packets)
    path.write_bytes(head + b"".join(records))
    return path


def merged(*inputs: tuple[str | None, Path]) -> list[tuple[str | None, int, bytes]]:
    return [(port, c.time, c.data[:1]) for port, c in merge(inputs)]


def test_L2_5_captures_are_merged_by_time(tmp_path: Path) -> None:
    one = pcap(tmp_path / "one", [(1, b"a" * 14), (4, b"b" * 14), (5, b"c" * 14)])
    two = pcap(tmp_path / "two", [(2, b"x" * 14), (3, b"y" * 14), (6, b"z" * 14)])
    found = merged(("p", one), ("q", two))
    assert [d for _, _, d in found] == [b"a", b"x", b"y", b"b", b"c", b"z"]
    assert [p for p, _, _ in found] == ["p", "q", "q", "p", "p", "q"]


def test_L2_5_inside_one_capture_the_files_order_is_kept(tmp_path: Path) -> None:
    one = pcap(tmp_path / "one", [(9, b"a" * 14), (1, b"b" * 14), (12, b"c" * 14)])
    two = pcap(tmp_path / "two", [(5, b"x" * 14), (9, b"y" * 14), (10, b"z" * 14)])
    # the keys of `one` are 9, 9 (the running maximum), 12
    assert [d for _, _, d in merged((None, one), (None, two))] == [b"x", b"a", b"b", b"y", b"z", b"c"]


def test_L2_5_ties_go_in_command_line_order(tmp_path: Path) -> None:
    one = pcap(tmp_path / "one", [(5, b"a" * 14), (5, b"b" * 14)])
    two = pcap(tmp_path / "two", [(5, b"x" * 14)])
    assert [d for _, _, d in merged((None, one), (None, two))] == [b"a", b"b", b"x"]
    assert [d for _, _, d in merged((None, two), (None, one))] == [b"x", b"a", b"b"]


def test_L2_6_a_gap_of_just_the_limit_stays_and_one_more_nanosecond_is_shortened() -> None:
    exact, above = Gaps(1000), Gaps(1000)
    assert [exact.time(t) for t in (0, 1000, 1500)] == [0, 1000, 1500]
    assert [above.time(t) for t in (0, 1001, 1500)] == [0, 1000, 1499]  # 1 ns is taken out, for all that follow
    assert (exact.shortened, above.shortened) == (0, 1)


def test_L2_6_longer_gaps_are_shortened_and_all_that_follows_is_shifted() -> None:
    gaps = Gaps(100)
    #        first, gap 100: kept, gap 150 → 100 (shift 50), gap 10, gap 1000 → 100 (shift 950), gap 0
    times = [1000, 1100, 1250, 1260, 2260, 2260]
    assert [gaps.time(t) for t in times] == [1000, 1100, 1200, 1210, 1310, 1310]
    assert gaps.shortened == 2 and gaps.removed == 50 + 900


def test_L2_6_a_packet_that_is_late_makes_no_gap() -> None:
    gaps = Gaps(100)
    # the gap counts from the latest time so far: from 1100, not from 900
    assert [gaps.time(t) for t in [1000, 1100, 900, 1200]] == [1000, 1100, 900, 1200]
    assert gaps.shortened == 0


def polysome(*arguments: str | Path, seed: str = "0") -> subprocess.CompletedProcess[str]:
    """The command line, in a process of its own with Python's hash seed `seed`."""
    command = [sys.executable, "-m", "polysome.cli.main", *map(str, arguments)]
    path = str(Path(__file__).parents[3] / "compiler")
    environment = {"PYTHONPATH": path, "PYTHONHASHSEED": seed, "HOME": str(Path.home()), "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_L2_6_run_says_so(tmp_path: Path) -> None:
    spec = tmp_path / "spec.nf"
    spec.write_text(bare("bounce;"), encoding="utf-8")
    long = pcap(tmp_path / "long", [(0, ANY), (7200 * S, ANY)])
    short = pcap(tmp_path / "short", [(0, ANY), (3600 * S, ANY)])
    said = polysome("run", spec, "--in", f"a={long}")
    assert said.returncode == 0, said.stderr
    assert "gap" in said.stdout + said.stderr
    said = polysome("run", spec, "--in", f"a={short}")
    assert said.returncode == 0 and "gap" not in said.stdout + said.stderr


# ---------------------------------------------------------------- L2.7

EVERYTHING = """
  use nf.conntrack as ct;
  config seen: set<ipv4>;
  state { last: u64; sketch: count_min<Flow> { error 1%; confidence 99%; }
    many: map<Flow, u8> { capacity 3; idle 5s; when full evict oldest; } }
  schedule { reframe 1ms, 4; }
  every 1s { last = 0; }
"""
BODY = """
  ct.open();
  last = hash(last, flow);
  many[flow] += 1;
  if last % 3 == 0 { send ports - in_port; }
  send {a, b};
"""


def test_L2_7_the_same_trace_gives_the_same_in_every_process(tmp_path: Path) -> None:
    spec = tmp_path / "spec.nf"
    spec.write_text(f"use net.l4;\nnf all {{ port a, b;\n{EVERYTHING}\non packet {{ {BODY} }} }}", encoding="utf-8")
    frames = [ethernet(ipv4(udp(b"x" * i, sport=i), src=f"10.0.0.{i % 7}")) for i in range(100)]
    capture = pcap(tmp_path / "capture", [(i * S // 10, frame) for i, frame in enumerate(frames)])
    results = []
    for seed in ("1", "2"):
        out = tmp_path / f"out{seed}"
        said = polysome("run", spec, "--in", f"a={capture}", "--out", out, "--json", seed=seed)
        assert said.returncode == 0, said.stderr
        results.append((said.stdout.replace(str(out), "OUT"), out.read_bytes()))
    assert results[0] == results[1] and len(results[0][1]) > 10_000


@pytest.mark.parametrize("seed", ["0", "1"])
def test_L2_7_params_count(seed: str) -> None:
    found = value("hash(1 as u8)", "u64", params={"seed": seed})
    again = value("hash(1 as u8)", "u64", params={"seed": seed})
    other = value("hash(1 as u8)", "u64", params={"seed": "2"})
    assert found == again != other


def test_L2_7_a_checked_program_can_run_again_from_the_beginning() -> None:
    spec = bare("count += 1; bounce;", "state { count: u8; }")
    assert [run(spec, [(0, "a", ANY)] * n).state["count"] for n in (3, 1, 2)] == [3, 1, 2]
    assert program(spec) is program(spec)
