"""`polysome run --capture-links`: what travels on the links between the machines around an NF."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Self

from polysome.captures.errors import CaptureError
from polysome.captures.write import PcapngWriter
from polysome.cli.common import ENVIRONMENT, fail
from polysome.engines.events import Framed

_HORIZON = 10_000_000  # ns that frames of a link may be told out of order, as Framed says


class LinkCaptures:
    """A capture of each link inside, with an interface for each direction, in order of time."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        """Makes the folder and the files; ends with code 3 if that cannot be."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with ExitStack() as opened:
                self._writers = {name: opened.enter_context(_writer(folder, name)) for name in names}
                opened.pop_all()
        except OSError as error:
            fail(ENVIRONMENT, f"--capture-links {folder}: {error.strerror}")
        except CaptureError as error:
            fail(ENVIRONMENT, f"--capture-links: {error}")
        self._waiting: dict[str, list[tuple[int, int, int, bytes]]] = {name: [] for name in names}
        self._numbers = count()

    def write(self, frame: Framed) -> None:
        waiting = self._waiting[frame.link]
        heapq.heappush(waiting, (frame.time, next(self._numbers), int(frame.incoming), frame.data))
        self._put(frame.link, frame.time - _HORIZON)

    def _put(self, name: str, until: int | None) -> None:
        waiting = self._waiting[name]
        try:
            while waiting and (until is None or waiting[0][0] <= until):
                time, _, way, data = heapq.heappop(waiting)
                self._writers[name].write(way, time, data)
        except CaptureError as error:
            for lost in self._waiting.values():
                lost.clear()
            fail(ENVIRONMENT, f"--capture-links: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Writes what waits, and puts the files into place; all of them, if one fails. May be called more than once."""
        try:
            with ExitStack() as closing:
                for writer in self._writers.values():
                    closing.callback(writer.close)
                for name in self._writers:
                    self._put(name, None)
        except CaptureError as error:
            fail(ENVIRONMENT, f"--capture-links: {error}")


def _writer(folder: Path, link: str) -> PcapngWriter:
    return PcapngWriter(folder / f"{link}.pcapng", (f"{link} out", f"{link} in"))
