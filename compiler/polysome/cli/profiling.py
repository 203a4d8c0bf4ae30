"""`--profile CAPTURE`: the packets that an NF is profiled with, and one line on what the profile brings."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from polysome.backends.nf_cpp import profile
from polysome.backends.nf_cpp.build import BuildError
from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.replay import Trace
from polysome.captures.errors import CaptureError
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail
from polysome.cli.inputs import open_captures
from polysome.cli.results import Output
from polysome.config.tables import Tables
from polysome.interp.feed import Gaps, Turns
from polysome.interp.machine import Machine
from polysome.ir import program as ir

_MOST = 1 << 17  # packets that are taken: enough to know what is frequent, and read in seconds
_LONGEST_GAP = 3600 * 10**9  # ns


def library(program: ir.Program, config: Mapping[str, Any], captures: Sequence[str]) -> Path:
    """The faster library of an NF; ends with code 2 if the captures are at fault, 3 if it cannot be built."""
    trace = _trace(program, config, captures)
    path, gain = profile.library(program, encode(program, config), trace)
    _say(gain, captures, trace)
    return path


def host(program: ir.Program, config: Mapping[str, Any], captures: Sequence[str]) -> bytes | None:
    """The profile of an NF's programs, None if it makes them no faster; ends as `library` does."""
    trace = _trace(program, config, captures)
    try:
        found = profile.host(program, encode(program, config), trace)
    except BuildError as error:
        fail(ENVIRONMENT, f"--profile: {error}")
    _say(found.gain, captures, trace)
    return found.data.read_bytes() if found.gain.kept else None


def _trace(program: ir.Program, config: Mapping[str, Any], captures: Sequence[str]) -> Trace:
    """The first packets of the captures as `polysome run` feeds them, the first one at time 0."""
    if (lacking := profile.missing()) is not None:
        fail(ENVIRONMENT, f"--profile: {lacking}")
    machine = Machine(program, Tables(program, config), Output(program, None))
    turns, gaps = Turns(machine), Gaps(_LONGEST_GAP)
    numbers = {name: number for number, name in enumerate(program.ports)}
    trace: Trace = []
    try:
        with open_captures(program, "--profile", captures) as merged:
            for name, captured in islice(merged, _MOST):
                port = numbers[name] if name is not None else turns.port(captured.data)
                trace.append((port, gaps.time(captured.time), captured.data))
    except CaptureError as error:
        fail(COMMAND_LINE, f"--profile: {error}")
    if not trace:
        fail(COMMAND_LINE, f"--profile {' '.join(captures)}: there is no packet in it")
    if not any(_handled(machine, port, data) for port, _, data in trace):
        fail(
            COMMAND_LINE,
            f"--profile {' '.join(captures)}: no packet of it comes to a handler of {program.name}",
            "Take a capture of what the NF is for; PORT=FILE says where it arrives.",
        )
    start = trace[0][1]
    return [(port, time - start, data) for port, time, data in trace]


def _handled(machine: Machine, port: int, data: bytes) -> bool:
    """Has the port a handler, and does the packet meet the NF's contract?"""
    if not any(port in handler.ports for handler in machine.program.packet_handlers):
        return False
    passing = machine.functions.get("PASSING")
    return passing is None or tuple(machine.parse(port, data).path) in passing


def _say(gain: profile.Gain, captures: Sequence[str], trace: Trace) -> None:
    names = ", ".join(Path(capture).name for capture in captures)
    first = f"the first {_MOST} packets of " if len(trace) == _MOST else ""
    measured = f"profile: {gain.median:+.0%} on {first}{names} (spread {gain.spread:.0%})"
    print(measured + (", kept" if gain.kept else ": no gain, not kept"), file=sys.stderr)
