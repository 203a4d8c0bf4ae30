"""Writing pcapng (draft-ietf-opsawg-pcapng): one interface per logical port, exact nanoseconds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from io import BufferedWriter
from pathlib import Path
from secrets import token_hex
from struct import Struct
from types import TracebackType
from typing import Final

from .errors import ETHERNET, CaptureError, unusable

_BUFFER: Final = 1 << 20

_BLOCK: Final = Struct("<II")  # type, total length
_LENGTH: Final = Struct("<I")
_OPTION: Final = Struct("<HH")  # code, length
_SECTION: Final = Struct("<IHHq")  # byte-order magic, version, section length (-1: not stated)
_INTERFACE: Final = Struct("<HHI")  # link type, reserved, snaplen (0: no limit)
_PACKET: Final = Struct("<7I")  # block type and length; interface, time high, time low, captured, on the wire

_PADDING: Final = (b"", b"\0\0\0", b"\0\0", b"\0")  # by length % 4


class PcapngWriter:
    """A pcapng file that appears under its name when it is closed.

    Until then it grows in a hidden file beside the target, so that what was there before survives everything up to
    `close`. `close` puts the file into place whatever happened before, an exception in the `with` body too:
    what was written up to then is an ordinary, whole capture. A target that is no regular file (a pipe, /dev/null) is
    written directly. All integers are little-endian; the same calls give the same bytes.
    """

    def __init__(self, path: Path, interfaces: Sequence[str]) -> None:
        """`interfaces` are the names of the logical ports. Raises CaptureError if no file can be written there."""
        header = _file_header(interfaces)
        self.path = path
        self._interfaces = len(interfaces)
        self._target: Path | None = None  # where to move the hidden file, None if there is none
        try:
            self._open()
        except OSError as error:
            raise unusable(path, "written", error) from error
        self._put(header)

    def write(self, interface_index: int, time_ns: int, data: bytes, comment: str = "") -> None:
        """Appends a packet.

        `interface_index` counts the constructor's names, `time_ns` is since the epoch, 0 <= time_ns < 2**64. Raises
        CaptureError if the disk does not take it, ValueError for arguments that a pcapng cannot hold.
        """
        if not 0 <= interface_index < self._interfaces:
            raise ValueError(f"interface {interface_index}: the file has {self._interfaces}")
        if time_ns >> 64:
            raise ValueError(f"time {time_ns} is not within 64 bits")
        size = len(data)
        tail = _PADDING[size & 3]
        if comment:
            tail += _option(1, comment) + bytes(4)  # opt_comment, opt_endofopt
        length = 32 + size + len(tail)
        header = _PACKET.pack(6, length, interface_index, time_ns >> 32, time_ns & 0xFFFFFFFF, size, size)
        self._put(b"".join((header, data, tail, _LENGTH.pack(length))))

    def close(self) -> None:
        """Writes out what is buffered and puts the file into place; may be called more than once.

        Raises CaptureError if either fails; what the disk took is then in place all the same, if it can be.
        """
        try:
            try:
                self._file.close()
            finally:
                if self._target is not None:
                    target, self._target = self._target, None
                    os.replace(self._written, target)
        except OSError as error:
            raise unusable(self.path, "written", error) from error

    def __enter__(self) -> PcapngWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        self._written = self.path
        if self.path.is_file() or not self.path.exists():
            self._target = real = Path(os.path.realpath(self.path))  # a symbolic link stays one
            self._written = real.with_name(f".polysome-{token_hex(8)}.part")
        raw = open(self._written, "wb" if self._target is None else "xb", buffering=0)  # noqa: SIM115 (closed by close)
        self._file = BufferedWriter(raw, _BUFFER)

    def _put(self, block: bytes) -> None:
        try:
            self._file.write(block)
        except OSError as error:
            raise unusable(self.path, "written", error) from error


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Raises CaptureError if `path` is one of the inputs, by whatever name or link."""
    for given in inputs:
        try:
            same = os.path.samefile(path, given)
        except OSError:  # one of them does not exist: opening it will say so, if it matters
            same = os.path.realpath(path) == os.path.realpath(given)
        if same:
            raise CaptureError(path, "also an input: choose another name for the output")


def _file_header(interfaces: Sequence[str]) -> bytes:
    section = _SECTION.pack(0x1A2B3C4D, 1, 0, -1) + _option(4, "polysome") + bytes(4)  # shb_userappl
    blocks = [_block(0x0A0D0D0A, section)]
    for name in interfaces:
        nanoseconds = _OPTION.pack(9, 1) + b"\x09\0\0\0"  # if_tsresol: 10**-9 s
        options = _option(2, name) + nanoseconds + bytes(4)  # if_name
        blocks.append(_block(1, _INTERFACE.pack(ETHERNET, 0, 0) + options))
    return b"".join(blocks)


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return _BLOCK.pack(kind, length) + body + _LENGTH.pack(length)


def _option(code: int, text: str) -> bytes:
    value = text.encode("utf-8", "replace")
    if len(value) > 0xFFFF:
        raise ValueError(f"a text of {len(value)} bytes, pcapng holds up to 65535")
    return _OPTION.pack(code, len(value)) + value + _PADDING[len(value) & 3]
