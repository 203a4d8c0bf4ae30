"""Profiles: when one is kept, what it is kept for, and what is said if it cannot be made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.testing.traffic.kit import written

from polysome.backends.nf_cpp import profile, replay
from polysome.backends.nf_cpp.build import BuildError
from polysome.backends.nf_cpp.profile import Gain, compare
from polysome.ir import program as ir

SPEC = """
use net.l4;
nf tiny { port a, b; state { seen: set<ipv4> { capacity 9; idle 10s; when full evict oldest; } }
  on packet from a { require ipv4 else drop "other"; seen.add(ipv4.src); send b; } }
"""
TRACE = [(0, 0, b"one"), (1, 5, b"two"), (0, 10, b"three")]

# ---------------------------------------------------------------- is it kept?


def gained(*gains: float) -> Gain:
    return compare([(100.0, 100.0 * (1 + gain)) for gain in gains])


def test_a_gain_in_all_pairs_is_kept() -> None:
    found = gained(0.06, 0.07, 0.08, 0.07, 0.06, 0.08, 0.07)
    assert found.kept and found.median == pytest.approx(0.07) and found.spread == pytest.approx(0.005)


def test_a_small_gain_is_none_however_sure() -> None:
    assert not gained(*[0.019] * 7).kept
    assert gained(*[0.021] * 7).kept


def test_a_gain_within_the_spread_is_none() -> None:
    assert not gained(0.3, -0.1, 0.2, -0.2, 0.1, 0.15, -0.1).kept
    assert not gained(0.0, 0.0, 0.05, 0.05, 0.05, 0.05, 0.05, 0.0).kept


def test_one_bad_run_does_not_matter() -> None:
    assert gained(0.1, 0.1, -0.6, 0.1, 0.1, 0.1, 0.1).kept
    assert not gained(0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0).kept


def test_a_loss_is_not_kept() -> None:
    assert not gained(*[-0.1] * 7).kept


def test_pairs_are_compared_not_all_runs() -> None:
    """A machine that becomes ever slower: each pair says the same."""
    assert compare([(speed, speed * 1.05) for speed in (100.0, 80.0, 60.0, 40.0, 20.0)]).kept


# ---------------------------------------------------------------- what it is kept for


class Fake:
    """A subject that builds nothing; its programs say what they are told to."""

    def __init__(self, place: Path, says: str = "9.0 s, 1000 packets/s", ends: int = 0) -> None:
        self.place, self.says, self.ends = place, says, ends
        self.runs: list[str] = []
        self.builds: list[Sequence[str]] = []

    def build(self, *flags: str) -> Path:
        self.builds.append(flags)
        return self.place / ("plain" if not flags else flags[0].split("=")[0])

    def command(self, made: Path, captures: profile.Captures) -> list[str]:
        self.runs.append(made.name)
        assert [port for port, _ in captures] == [0, 1] and all(path.exists() for _, path in captures)
        return ["sh", "-c", f'echo before >&2; echo "{self.says}" >&2; exit {self.ends}']


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ir.Program:
    """An NF; an empty cache, and a compiler that nobody asks."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(profile, "_merge", lambda counts, data: data.write_bytes(b"merged"))
    return written(tmp_path, SPEC).program


def measured(program: ir.Program, subject: Fake, config: bytes = b"", trace: replay.Trace = TRACE) -> profile.Profile:
    return profile._profile(subject, program, config, trace)


def test_both_builds_run_in_turn(program: ir.Program, tmp_path: Path) -> None:
    subject = Fake(tmp_path)
    found = measured(program, subject)
    assert found.data.read_bytes() == b"merged" and not found.gain.kept
    calibrating, counting, *pairs = subject.runs
    assert (calibrating, counting) == ("plain", "-fprofile-instr-generate")
    assert len(pairs) >= 14 and all(set(pairs[i : i + 2]) == {"plain", "-fprofile-instr-use"} for i in range(0, 14, 2))
    assert {pairs[0], pairs[2]} == {"plain", "-fprofile-instr-use"}
    assert {path.suffix for path in found.data.parent.iterdir()} == {".profdata", ".profile", ".lock"}


def test_the_same_is_measured_once(program: ir.Program, tmp_path: Path) -> None:
    first, second = Fake(tmp_path), Fake(tmp_path)
    assert measured(program, first) == measured(program, second)
    assert first.runs and not second.runs and second.builds == [()]


def test_what_differs_is_measured_anew(program: ir.Program, tmp_path: Path) -> None:
    found = {measured(program, Fake(tmp_path)).data}
    found.add(measured(program, Fake(tmp_path), config=b"other").data)
    for trace in ([*TRACE, (0, 11, b"")], [(0, 0, b"onf"), *TRACE[1:]], [*TRACE[:2], (0, 11, b"three")]):
        found.add(measured(program, Fake(tmp_path), trace=trace).data)
    (tmp_path / "more").mkdir()
    found.add(
        measured(written(tmp_path / "more", SPEC.replace("capacity 9", "capacity 8")).program, Fake(tmp_path)).data
    )
    assert len(found) == 6


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"median": 1}', "\udcff"])
def test_a_damaged_entry_is_measured_anew(program: ir.Program, tmp_path: Path, text: str) -> None:
    found = measured(program, Fake(tmp_path))
    found.data.with_suffix(".profile").write_bytes(text.encode("utf-8", "surrogateescape"))
    again = Fake(tmp_path)
    assert measured(program, again) == found and again.runs


def test_a_run_that_fails_says_why(program: ir.Program, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"(?s)ended with code 3.*the config is not one"):
        measured(program, Fake(tmp_path, "the config is not one of this NF", 3))
    assert not list((tmp_path / "cache").rglob("*.prof*"))


def test_short_captures_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def seconds(repeat: int) -> float:
        asked.append(repeat)
        return repeat * 1e-4

    assert 1000 <= profile._repeat(seconds, TRACE) <= 2000 and len(asked) < 5
    assert profile._repeat(lambda repeat: 0.0, TRACE) * (10 + replay.period(TRACE)) < 2**63
    assert profile._repeat(lambda repeat: 5.0, TRACE) == 1


# ---------------------------------------------------------------- replaying


def test_captures_are_read_as_written(tmp_path: Path) -> None:
    trace = [(3, 0, b""), (3, 2**32 * 10**9 - 1, bytes(range(256)) * 40)]
    replay.write(tmp_path / "x.pcap", trace)
    assert replay.read(tmp_path / "x.pcap", 3) == trace


@pytest.mark.parametrize(("count", "repeat"), [(3, 1), (3, 5000), (1, 10_000), (5000, 3)])
def test_time_goes_on_from_one_repetition_to_the_next(count: int, repeat: int) -> None:
    trace = [(0, 100 + 7 * i, b"x") for i in range(count)]
    seen: list[int] = []

    def hand_over(batch: Any) -> None:
        seen.extend(place.time for place in batch)

    running = SimpleNamespace(hand_over=hand_over, records=lambda: iter(()))
    assert replay.replay(cast(Any, running), trace, repeat) > 0
    assert seen[0] == 100 and len(seen) > 0.5 * count * repeat
    assert {b - a for a, b in pairwise(seen)} <= {7 if count > 1 else 1}


# ---------------------------------------------------------------- what is missing


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_compiler_that_is_not_clang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", script(tmp_path / "cc", "echo 'g++ 12'"))
    assert "needs clang++" in str(profile.missing())


def test_clang_without_llvm_profdata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        "CXX", script(tmp_path / "cc", "case $1 in --version) echo clang 99;; *) echo llvm-profdata;; esac")
    )
    assert "`apt install llvm`" in str(profile.missing())
    script(tmp_path / "llvm-profdata", "")
    profile._merger.cache_clear()
    assert profile.missing() is None
