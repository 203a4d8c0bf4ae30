"""What happened: one line per event on stderr, and the latest for `polysome status`."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from contextlib import suppress

from polysome_controller import control_pb2 as pb

KEPT = 200
TOLD, INTERVAL = 20, 10.0  # refusals in so many seconds that are told one by one


class Journal:
    """Counts what was refused, too, by part. `quiet`: nothing is written to stderr."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._latest: deque[pb.Happened] = deque(maxlen=KEPT)
        self.refused: Counter[str] = Counter()
        self._since, self._refusals = -INTERVAL, 0

    def info(self, part: str, text: str) -> None:
        self._add("info", part, text)

    def warning(self, part: str, text: str) -> None:
        self._add("warning", part, text)

    def error(self, part: str, text: str) -> None:
        self._add("error", part, text)

    def refusal(self, part: str, why: str) -> None:
        """What anybody can cause as often as they like: a few in each interval, then how many more there were."""
        self.refused[part] += 1
        now = time.monotonic()
        if now - self._since >= INTERVAL:
            left_out = self._refusals - TOLD
            self._since, self._refusals = now, 0
            if left_out > 0:
                self._add("warning", part, f"refused {left_out} more before")
        self._refusals += 1
        if self._refusals <= TOLD:
            self._add("warning", part, f"refused: {why}")

    def latest(self) -> list[pb.Happened]:
        return list(self._latest)

    def _add(self, severity: str, part: str, text: str) -> None:
        line = " ".join(text.split())
        self._latest.append(pb.Happened(time=time.time_ns(), severity=severity, part=part, text=line))
        if self._quiet:
            return
        with suppress(OSError):  # a log that takes no more, on a full disk, is no reason to end
            print(f"polysome-controller: {severity}: {part}: {line}", file=sys.stderr, flush=True)
