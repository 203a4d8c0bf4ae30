"""What happened: one line per event on stderr, and the latest for `polysome status`."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque

from polysome_controller import control_pb2 as pb

KEPT = 200


class Journal:
    """Counts what was refused, too, by part."""

    def __init__(self) -> None:
        self._latest: deque[pb.Happened] = deque(maxlen=KEPT)
        self.refused: Counter[str] = Counter()

    def info(self, part: str, text: str) -> None:
        self._add("info", part, text)

    def warning(self, part: str, text: str) -> None:
        self._add("warning", part, text)

    def error(self, part: str, text: str) -> None:
        self._add("error", part, text)

    def refusal(self, part: str, why: str) -> None:
        self.refused[part] += 1
        self._add("warning", part, f"refused: {why}")

    def latest(self) -> list[pb.Happened]:
        return list(self._latest)

    def _add(self, severity: str, part: str, text: str) -> None:
        line = " ".join(text.split())
        self._latest.append(pb.Happened(time=time.time_ns(), severity=severity, part=part, text=line))
        print(f"polysome-controller: {severity}: {part}: {line}", file=sys.stderr, flush=True)
