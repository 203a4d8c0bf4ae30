"""Opening a capture, pcap or pcapng, whichever it is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Final

from . import pcap, pcapng
from .errors import (
    CaptureError,
    Damaged,
    NotACapture,
    Truncated,
    WrongLinkType,
    not_a_capture,
    unusable,
)
from .window import Captured, Window

__all__ = [
    "Capture",
    "CaptureError",
    "Captured",
    "Damaged",
    "NotACapture",
    "Truncated",
    "WrongLinkType",
    "open_capture",
]

_HEAD: Final = 512
"""Bytes looked at to tell what a file is."""


class Capture:
    """An open capture: iterate over its packets (once; a second loop goes on where the first stopped).

    Iteration is lazy and in file order, and raises CaptureError: after all the whole packets if the file is
    Truncated or Damaged. Close it, or use it as a context manager.
    """

    def __init__(self, path: Path, file: FileIO, window: Window) -> None:
        self.path = path
        status = os.fstat(file.fileno())
        self.size: int = status.st_size if stat.S_ISREG(status.st_mode) else 0
        """Bytes on disk; 0 if that cannot be known (a pipe)."""
        self._file = file
        self._window = window
        head = window.slide(0, _HEAD)
        self._names = [""]
        if head.startswith(pcapng.MAGIC):
            reader = pcapng.Reader(window)
            self._names = reader.names
            self._packets = reader.packets()
        elif variant := pcap.VARIANTS.get(head[:4]):
            self._packets = pcap.open_pcap(window, variant)
        else:
            raise not_a_capture(path, head)

    @property
    def position(self) -> int:
        """The byte behind the packet delivered last; `size` once all is read."""
        return self._window.position

    @property
    def interfaces(self) -> tuple[str, ...]:
        """Names by `Captured.interface`, "" where the file gives none; a pcapng may add some as it is read."""
        return tuple(self._names)

    def __iter__(self) -> Iterator[Captured]:
        return self._packets

    def close(self) -> None:
        """May be called more than once."""
        self._file.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_capture(path: Path) -> Capture:
    """Opens a capture and reads its beginning.

    Raises CaptureError if the file cannot be read, NotACapture, and for what is wrong with a pcap's file header
    WrongLinkType, Damaged or Truncated (in a pcapng these come with iteration).
    """
    try:
        file = FileIO(path)
    except OSError as error:
        raise unusable(path, "read", error) from error
    try:
        return Capture(path, file, Window(path, file))
    except BaseException:
        file.close()
        raise
