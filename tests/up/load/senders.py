"""Frames out of the namespaces of traffic ports, as any program there sends them, one after the other."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

PROGRAM = """
import socket, sys
place = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
place.bind((sys.argv[1], 0))
print(flush=True)
for line in sys.stdin:
    place.send(bytes.fromhex(line))
"""


@dataclass(frozen=True)
class Outlet:
    """An interface in a traffic port's namespace; `port`: the logical port's number, `number`: which of its own;
    `takes`: bytes of the longest frame that it lets in."""

    namespace: str
    interface: str
    port: int
    number: int
    takes: int


@contextmanager
def senders(outlets: Iterable[Outlet]) -> Iterator[dict[Outlet, subprocess.Popen[str]]]:
    """A process in each, all of which have begun."""
    pipe = subprocess.PIPE
    started = {
        outlet: subprocess.Popen(
            ["ip", "netns", "exec", outlet.namespace, "python3", "-c", PROGRAM, outlet.interface],
            stdin=pipe, stdout=pipe, text=True,
        )
        for outlet in outlets
    }  # fmt: skip
    try:
        for process in started.values():
            assert process.stdout is not None and process.stdout.readline(), "a sender did not start"
        yield started
    finally:
        for process in started.values():
            process.communicate(timeout=10)
    assert not any(process.returncode for process in started.values()), "a sender failed"


def send(by: dict[Outlet, subprocess.Popen[str]], frames: Iterable[tuple[Outlet, bytes]], gap: float) -> None:
    """One frame every `gap` s, at most: later ones never make up for what a busy machine left out."""
    for outlet, frame in frames:
        pipe = by[outlet].stdin
        assert pipe is not None
        pipe.write(frame.hex() + "\n")
        pipe.flush()
        time.sleep(gap)
