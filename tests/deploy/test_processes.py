"""Processes that are started again when they end."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from polysome.deploy import processes
from polysome.deploy.processes import Command, Ended, Supervisor, of_run

WAIT = "import time; print('here', flush=True); time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); print('here', flush=True); time.sleep(60)"
)


def supervised(folder: Path, program: str) -> Supervisor:
    found = Supervisor(folder)
    found.add(Command("part", [sys.executable, "-c", program], folder / "part.log"))
    return found


def until(found: Supervisor, done: Callable[[list[Ended]], bool]) -> list[Ended]:
    """Ticks until so; all that has ended meanwhile."""
    ended: list[Ended] = []
    deadline = time.monotonic() + 20
    while not done(ended):
        assert time.monotonic() < deadline, ended
        ended += found.tick()
        time.sleep(0.01)
    return ended


def test_who_dies_is_started_again_and_waits_longer_each_time(tmp_path: Path) -> None:
    found = supervised(tmp_path, "raise SystemExit(3)")
    ended = until(found, lambda ended: len(ended) == 3)
    assert [(end.code, end.delay) for end in ended] == [(3, 0.2), (3, 0.4), (3, 0.8)]
    assert str(ended[1]) == "part ended with code 3; it is started again in 0.4 s"
    assert found.stop() == []


def test_who_has_run_for_long_is_started_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "SETTLED", 0.0)
    found = supervised(tmp_path, "raise SystemExit(3)")
    assert [end.delay for end in until(found, lambda ended: len(ended) == 3)] == [0.2] * 3


def test_a_signal_is_told_by_its_name(tmp_path: Path) -> None:
    found = supervised(tmp_path, WAIT)
    until(found, lambda ended: "here" in log(tmp_path))
    os.kill(found.running()["part"], signal.SIGKILL)
    ended = until(found, lambda ended: bool(ended))
    assert "ended with signal SIGKILL" in str(ended[0])
    until(found, lambda ended: log(tmp_path).count("here") == 2)
    pid = found.running()["part"]
    assert found.stop() == [] and not of_run([pid], tmp_path)


@pytest.mark.parametrize("ours", [signal.SIG_DFL, signal.SIG_IGN])
def test_parts_are_interrupted_whatever_we_ignore(ours: signal.Handlers, tmp_path: Path) -> None:
    """SIGTERM would have an NF wait for the next process of it."""
    before = signal.signal(signal.SIGINT, ours)
    try:
        found = supervised(tmp_path, WAIT)
        until(found, lambda ended: "here" in log(tmp_path))
        assert found.stop() == []
        assert "KeyboardInterrupt" in log(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_does_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.3)
    found = supervised(tmp_path, STUBBORN)
    until(found, lambda ended: "here" in log(tmp_path))
    assert found.stop() == ["part"] and found.running() == {}


def test_processes_of_a_dead_run_are_known_by_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.3)
    found = supervised(tmp_path, STUBBORN)
    until(found, lambda ended: "here" in log(tmp_path))
    pid = found.running()["part"]
    assert of_run([pid, os.getpid()], tmp_path) == [pid]
    assert of_run([pid], tmp_path / "other") == []
    processes.end([pid, os.getpid()], tmp_path)
    assert until(found, lambda ended: bool(ended))[0].code == -signal.SIGKILL
    found.stop()


def log(folder: Path) -> str:
    path = folder / "part.log"
    return path.read_text() if path.exists() else ""


def test_a_long_log_begins_anew_and_keeps_what_was_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LONGEST_LOG", 1000)
    # One write is one line, however Python's output is buffered: a log begins anew between two writes.
    program = "import os, time\nfor i in range(10**6): os.write(1, b'line %d\\n' % i); time.sleep(0.001)"
    found, older = supervised(tmp_path, program), tmp_path / "part.log.1"
    until(found, lambda ended: older.exists() and log(tmp_path).count("\n") > 1)
    found.stop()
    before, now = (
        [int(line) for line in re.findall(r"^line (\d+)$", text, re.M)] for text in (older.read_text(), log(tmp_path))
    )
    assert 1000 <= older.stat().st_size < 10**5 and log(tmp_path).startswith("line ")
    assert 0 < before[-1] < now[0]


def test_a_log_on_a_full_disk_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(processes, "LONGEST_LOG", 1000)
    monkeypatch.setattr(processes.shutil, "copyfile", full)
    (tmp_path / "part.log").write_text("x" * 1000)
    found = supervised(tmp_path, WAIT)
    until(found, lambda ended: log(tmp_path) == "here\n")
    found.stop()
