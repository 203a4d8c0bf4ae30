"""What both formats are read through: one packet, and a window that slides over the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from .errors import Truncated, unusable

CHUNK: Final = 1 << 18
"""Bytes per read: large against system calls, small enough to merge hundreds of captures at once."""

MAX_RECORD: Final = 16 << 20
"""No packet or block may be longer, as in libpcap and Wireshark: a damaged length must not fill the memory."""


@dataclass(frozen=True, slots=True)
class Captured:
    """One packet as the capture holds it.

    `time` is exact, in nanoseconds since 1970-01-01 UTC, 0 <= time < 2**64; finer timestamps are rounded down.
    `data` is the frame from its first byte on, as far as it was captured (a frame check sequence, where the
    capture holds one, is left in place). `wire_length` is the length in bytes the capture states for the
    original frame: more than len(data) where the capture was cut to a snap length. `interface` counts the file's
    interfaces from 0, over all sections; it is 0 in a pcap.
    """

    time: int
    data: bytes
    wire_length: int
    interface: int


class Readable(Protocol):
    """An unbuffered binary file."""

    def read(self, size: int, /) -> bytes | None: ...


class Window:
    """A sliding view of a file. `buffer[0]` is the file's byte `start`; `position` is for a progress bar."""

    __slots__ = ("_file", "path", "buffer", "start", "position")

    def __init__(self, path: Path, file: Readable) -> None:
        self._file = file
        self.path = path
        self.buffer = b""
        self.start = 0
        self.position = 0

    def slide(self, at: int, need: int) -> bytes:
        """Moves the window to begin at its byte `at`; returns the new buffer.

        The buffer holds at least `need` bytes, or all up to the end of the file if that comes first.
        """
        pieces = [self.buffer[at:]]
        have = len(pieces[0])
        while have < need:  # in chunks: `need` may be a lie far beyond the end of the file
            try:
                piece = self._file.read(CHUNK)
            except OSError as error:
                raise unusable(self.path, "read", error) from error
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
        self.start += at
        self.position = self.start
        self.buffer = b"".join(pieces)
        return self.buffer

    def cut(self, what: str, need: int, packets: int) -> Truncated:
        """The error for a file that ends inside the `what` at the window's begin, which takes `need` bytes.

        `need` may be the length of the header only, if that is not whole. `packets` were delivered before.
        """
        have = len(self.buffer)
        before = "no packet is whole" if packets == 0 else f"packet {packets} is the last whole one"
        message = (
            f"cut short at byte {self.start + have}: the {what} at byte {self.start} needs "
            f"{need} bytes, {have} are left; {before}"
        )
        return Truncated(self.path, message, self.start + have)
