"""wrk on a few connections that it keeps, from when a test begins until it has seen enough."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from tests.up.load.network import Network, end, run
from tests.up.load.web import Server, Wrk, wrk_result

CONNECTIONS = 8
LATE = 15  # s: TCP's first six retransmissions are over by then (0.2 + 0.4 + ... + 6.4 s)
BODY = 3000  # bytes of a request: two packets that are worth parking
LOOK = 0.005  # s between two looks at what the servers have answered
LONGEST = 600  # s; it is told to end before


class Steady:
    """Requests with a body."""

    def __init__(self, made: Network, client: str, url: str, servers: tuple[Server, ...], folder: Path) -> None:
        self._client, self._servers, self._log = client, servers, folder / "wrk.log"
        script = folder / "body.lua"
        script.write_text(f'wrk.method = "POST"\nwrk.body = string.rep("x", {BODY})\n')
        options = ("-t", "1", "-c", str(CONNECTIONS), "-d", f"{LONGEST}s", "--timeout", f"{LATE}s", "-s", script)
        self._process = made.start(client, "wrk", *options, url, log=self._log)
        self._stop, self._answers, self._sizes = threading.Event(), [time.monotonic()], [self._size()]
        self._watch = threading.Thread(target=self._look)
        self._watch.start()

    def _look(self) -> None:
        """When there was another line in a server's log."""
        size = self._size()
        while not self._stop.wait(LOOK):
            now = self._size()
            if now != size:
                size = now
                self._sizes.append(size)
                self._answers.append(time.monotonic())

    def _size(self) -> int:
        return sum((server.folder / "access.log").stat().st_size for server in self._servers)

    def pause(self, since: float) -> float:
        """The longest time without an answer from any server, in s; of what began after `since`, or lasted then."""
        times = [*self._answers, time.monotonic()]
        return max(after - before for before, after in pairwise(times) if after >= since)

    def logged(self, since: float) -> int:
        """Bytes that the servers have said about answers after `since`: as much for each."""
        return self._size() - next(
            (size for at, size in zip(self._answers, self._sizes, strict=False) if at >= since), self._size()
        )

    def wait_for_all(self, since: float, longest: float) -> float:
        """Until each connection has received something after `since`; how long after `since` that was, in s."""
        while (now := time.monotonic()) < since + longest:
            shown = run(self._client, "ss", "-HOtin", "state", "established", "( dport = :80 )")
            lines = [line for line in shown.splitlines() if "bytes_received:" in line]
            if len(lines) == CONNECTIONS and all(_silent(line) < now - since for line in lines):
                return now - since
            assert self._process.poll() is None, self._log.read_text()
            time.sleep(0.02)
        raise AssertionError(f"not all connections work after {longest} s:\n{shown}")

    def end(self) -> int:
        """wrk's code."""
        code = end(self._process, signal.SIGINT)
        self._stop.set()
        self._watch.join()
        return code

    def result(self) -> Wrk:
        """Once it has ended."""
        return wrk_result(self._log.read_text())


def _silent(line: str) -> float:
    """For how long ss says that nothing was received, in s."""
    found = re.search(r"\blastrcv:(\d+)", line)
    return int(found[1]) / 1000 if found else 0.0


@contextmanager
def steady(made: Network, client: str, url: str, servers: tuple[Server, ...], folder: Path) -> Iterator[Steady]:
    """From when all connections work."""
    folder.mkdir()
    found = Steady(made, client, url, servers, folder)
    try:
        found.wait_for_all(time.monotonic(), LATE)
        yield found
    finally:
        code = found.end()
    assert code == 0, "wrk did not end as it should"
