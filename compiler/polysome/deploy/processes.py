"""Processes that are started again when they end, as systemd does it on machines of their own.

No threads: `tick` looks at all of them. Each has the run's folder in its environment, so that the processes of a run
whose `polysome up` was killed can be told from all others.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

FIRST_DELAY, LONGEST_DELAY = 0.2, 10.0  # s until a process that ended is started again; doubled each time
SETTLED = 10.0  # s after which an end counts as the first again
GRACE = 5.0  # s until SIGKILL
LONGEST_LOG = 16 << 20  # bytes
MARK = "POLYSOME_RUN"  # the variable that names the run's folder


@dataclass(frozen=True)
class Command:
    """`log`: what it says is appended there."""

    name: str
    arguments: Sequence[str]
    log: Path


@dataclass
class _State:
    command: Command
    process: subprocess.Popen[bytes] | None = None
    since: float = 0.0
    due: float = 0.0
    delay: float = FIRST_DELAY
    ends: int = 0


@dataclass(frozen=True)
class Ended:
    """A process that ended by itself. `code`: negative is a signal; `delay`: s until it is started again."""

    name: str
    code: int
    delay: float

    def __str__(self) -> str:
        how = f"signal {signal.Signals(-self.code).name}" if self.code < 0 else f"code {self.code}"
        return f"{self.name} ended with {how}; it is started again in {self.delay:g} s"


@dataclass
class Supervisor:
    """Runs processes of the run with this folder until `stop`. Whoever has one calls `tick` several times a second."""

    folder: Path
    _states: dict[str, _State] = field(default_factory=dict)

    def add(self, command: Command) -> None:
        """It is started by the next `tick`."""
        self._states[command.name] = _State(command)

    def running(self) -> dict[str, int]:
        """The process ids by name."""
        return {name: state.process.pid for name, state in self._states.items() if state.process is not None}

    def tick(self) -> list[Ended]:
        """Starts what is due; returns what has ended since the last time."""
        now, ended = time.monotonic(), []
        for state in self._states.values():
            if state.process is not None:
                code = state.process.poll()
                if code is not None:
                    ended.append(_end(state, code, now))
            if state.process is None and now >= state.due:
                _start(state, now, self.folder)
            _rotate(state.command.log)
        return ended

    def stop(self) -> list[str]:
        """Ends all, in the order in which they were added; returns those that had to be killed."""
        states = [state for state in self._states.values() if state.process is not None]
        for state in states:
            assert state.process is not None
            state.process.send_signal(signal.SIGINT)  # SIGTERM would have an NF hand its state over to the next process
        killed, deadline = [], time.monotonic() + GRACE
        for state in states:
            assert state.process is not None
            try:
                state.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                state.process.kill()
                state.process.wait()
                killed.append(state.command.name)
            state.process = None
            state.due = float("inf")
        return killed


def _start(state: _State, now: float, folder: Path) -> None:
    command = state.command
    with command.log.open("ab") as log:
        # A session of its own: an interrupt at the terminal is for us, who then end everything in order.
        state.process = subprocess.Popen(
            command.arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env={**os.environ, MARK: str(folder)},
            start_new_session=True,
            preexec_fn=_can_be_interrupted,  # there are no threads
        )
    state.since = now


def _can_be_interrupted() -> None:
    """Where we run in the background of a script, SIGINT is ignored, and would be by our children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _rotate(log: Path) -> None:
    """What was said before goes to LOG.1 once there is much of it; the process goes on appending to LOG. On a full disk
    it is gone: what is said now is worth more."""
    with suppress(OSError):
        if log.stat().st_size < LONGEST_LOG:
            return
        with suppress(OSError):
            shutil.copyfile(log, log.with_name(log.name + ".1"))
        os.truncate(log, 0)


def _end(state: _State, code: int, now: float) -> Ended:
    state.process = None
    state.ends += 1
    if now - state.since >= SETTLED:
        state.delay = FIRST_DELAY
    delay = state.delay
    state.due, state.delay = now + delay, min(2 * delay, LONGEST_DELAY)
    return Ended(state.command.name, code, delay)


# ---------------------------------------------------------------- processes that are not our children


def of_run(pids: Iterable[int], folder: Path) -> list[int]:
    """Those that a run with this folder started."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for pid in pids:
        with suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def end(pids: Iterable[int], folder: Path) -> None:
    """Ends those that a run with this folder started, and waits until they are gone."""
    left = list(pids)
    for number in (signal.SIGINT, signal.SIGKILL):
        left = of_run(left, folder)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        deadline = time.monotonic() + GRACE
        while of_run(left, folder) and time.monotonic() < deadline:
            time.sleep(0.02)
