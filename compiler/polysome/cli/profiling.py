"""`--profile CAPTURE`: the packets that an NF is profiled with."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from polysome.backends.nf_cpp import profile
from polysome.backends.nf_cpp.build import BuildError
from polysome.backends.nf_cpp.config_blob import encode
from polysome.captures.errors import CaptureError
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail
from polysome.cli.inputs import open_captures
from polysome.engines.feed import Gaps, Turns
from polysome.engines.options import Sample
from polysome.engines.trace import Arrival
from polysome.ir import program as ir

_MOST = 1 << 17  # packets that are taken: enough to know what is frequent, and read in seconds
_LONGEST_GAP = 3600 * 10**9  # ns


def sample(program: ir.Program, config: Mapping[str, Any], captures: Sequence[str]) -> Sample:
    """The first packets of the captures as `polysome run` feeds them; ends with code 2 if the captures are at fault, 3
    if there are no profiles here.
    """
    if (lacking := profile.missing()) is not None:
        fail(ENVIRONMENT, f"--profile: {lacking}")
    turns, gaps = Turns.of(program, config), Gaps(_LONGEST_GAP)
    packets: list[Arrival] = []
    try:
        with open_captures(program, "--profile", captures) as merged:
            for name, captured in islice(merged, _MOST):
                port = program.ports.index(name) if name is not None else turns.port(captured.data)
                packets.append(Arrival(port, gaps.time(captured.time), captured.data))
    except CaptureError as error:
        fail(COMMAND_LINE, f"--profile: {error}")
    if not packets:
        fail(COMMAND_LINE, f"--profile {' '.join(captures)}: there is no packet in it")
    if not any(turns.handled(packet.port, packet.data) for packet in packets):
        fail(
            COMMAND_LINE,
            f"--profile {' '.join(captures)}: no packet of it comes to a handler of {program.name}",
            "Take a capture of what the NF is for; PORT=FILE says where it arrives.",
        )
    first = f"the first {_MOST} packets of " if len(packets) == _MOST else ""
    return Sample(first + ", ".join(Path(capture).name for capture in captures), tuple(packets))


def host(program: ir.Program, config: Mapping[str, Any], captures: Sequence[str]) -> bytes | None:
    """The profile of an NF's programs, None if it makes them no faster; ends as `sample`, or with 3 if it fails."""
    packets = sample(program, config, captures)
    try:
        found = profile.host(program, encode(program, config), packets.from_zero())
    except BuildError as error:
        fail(ENVIRONMENT, f"--profile: {error}")
    print(found.gain.told(packets.name), file=sys.stderr)
    return found.data.read_bytes() if found.gain.kept else None
