"""What is on an interface, by tcpdump."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Self

from tests.up.load.network import Network, end

from polysome.captures.read import Captured, open_capture

HEADERS, ALL = 64, 0  # bytes that are kept of each frame


class Capture:
    """The frames on an interface from now on; of one `direction` of `in` and `out`, as its machine sees it."""

    def __init__(
        self, made: Network, namespace: str, interface: str, path: Path, keep: int = HEADERS, direction: str = "inout"
    ) -> None:
        self._path = path
        options = ("-i", interface, "-n", "-s", str(keep), "-U", "-w", path, "-B", "8192", "-Q", direction)
        exact = ("--time-stamp-precision", "nano", "--immediate-mode")
        self._process = made.start(namespace, "tcpdump", *options, *exact, log=path.with_suffix(".log"))

    def begun(self) -> Self:
        """Once it has."""
        deadline = time.monotonic() + 10
        while "listening on" not in self._path.with_suffix(".log").read_text():
            assert time.monotonic() < deadline and self._process.poll() is None, "tcpdump did not start"
            time.sleep(0.02)
        return self

    def frames(self) -> list[Captured]:
        """Ends the capture."""
        end(self._process)
        with open_capture(self._path) as capture:
            return list(capture)

    def lengths(self) -> list[int]:
        """Ends the capture."""
        return [frame.wire_length for frame in self.frames()]
