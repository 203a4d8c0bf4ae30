"""Standard output and error of the commands, where what reads them is gone, full or not there at all."""

from __future__ import annotations

import os
import sys
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Output(FileIO):
    """Takes what cannot be written, so that commands come to their end, as after `| head`, with their exit code."""

    failed = ""  # why something could not be written, though somebody may want it

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            pass
        except OSError as error:
            self.failed = error.strerror or str(error)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        return memoryview(data).nbytes


def guard() -> Output:
    """Makes standard output, which is returned, and error such files; closed descriptors lead nowhere from now on."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    output = Output(1, "w", closefd=False)
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (it is open as long as we are)
    sys.stdout = _wrapped(output, sys.__stdout__, "strict")
    sys.stderr = _wrapped(Output(2, "w", closefd=False), sys.__stderr__, "backslashreplace")
    return output


def _wrapped(raw: FileIO, before: TextIO | None, errors: str) -> TextIOWrapper:
    """A text stream with the encoding and buffering of the one `before`, which is None if there was no descriptor."""
    given = before if isinstance(before, TextIOWrapper) else None
    return TextIOWrapper(
        BufferedWriter(raw),
        encoding=given.encoding if given else "utf-8",
        errors=(given.errors if given else None) or errors,
        line_buffering=given is not None and (given.line_buffering or given.write_through),
    )
