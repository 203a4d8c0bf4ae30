"""Captures that are given on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from polysome.captures.errors import CaptureError
from polysome.captures.merge import Merged, merge
from polysome.cli.common import COMMAND_LINE, fail
from polysome.ir import program as ir
from polysome.syntax.diagnostics import did_you_mean


def open_captures(program: ir.Program, option: str, inputs: Sequence[str]) -> Merged:
    """The captures of an option, each `[PORT=]FILE`, as one trace; ends with code 2 if one cannot be read."""
    named: list[tuple[str | None, Path]] = []
    for item in inputs:
        port, equals, file = item.partition("=")
        if equals and "/" not in port and not Path(item).exists():
            if port not in program.ports:
                fail(COMMAND_LINE, f"{option} {item}: the NF has no port `{port}`", did_you_mean(port, program.ports))
            named.append((port, Path(file)))
        else:
            named.append((None, Path(item)))
    try:
        return merge(named)
    except CaptureError as error:
        fail(COMMAND_LINE, str(error))
