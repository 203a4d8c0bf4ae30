"""The engine: what it needs, and which traces it can run."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final

from polysome.engines.base import Engine
from polysome.engines.options import Failed, RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.run import Run
from polysome.engines.trace import Trace
from polysome.ir import program as ir
from polysome.testing.black_box.network import Network, interface_names
from polysome.testing.black_box.program import NEEDED, Program
from polysome.testing.black_box.run import BlackBoxRun, Pace

SECOND: Final = 10**9


@dataclass(frozen=True)
class BlackBox(Engine):
    """A program that forwards frames between interfaces, one for each port of the spec. It is started anew for each
    trace, and ends with it. Linux; needs root. Durations in seconds.

    `command`: the program and its arguments; `{inside}` becomes the name of the interface of port `inside`. That is
    the port's own name, if it fits (15 characters). Interfaces have the addresses 02:00:00:00:00:01 (the first port)
    and on, the given `mtu`, no IP addresses, and no IPv6; they stand in a network namespace of their own.

    `ready`: a text that the program prints once it forwards; None: once it has a packet socket on each interface.
    It has `start_within` for that.

    A packet is sent when it comes in the trace, by the machine's clock, but gaps are never longer than `longest_gap`,
    and never shorter than it takes to settle: until nothing has left for `settle`, and the program has slept for half
    of that (one that never sleeps is given ten times as long). What left by then is the packet's copies; without any,
    it is dropped, "not seen to leave". `tolerance`: what the program does at one time may be meant for one so much
    earlier or later (`Record.slack`). Raises Unsupported for traces that take longer than `longest_trace`.

    The record's trace is what was sent, at the times at which it was: without frames that no interface takes, below 14
    bytes, or above `mtu` and 14; with a VLAN tag below 20, or above `mtu` and 18.

    `config`: the values of the spec's config items that the program was given; a trace must have these.
    """

    name: ClassVar[str] = "black box"
    abilities = frozenset()
    sees_frames: ClassVar[bool] = True

    command: Sequence[str]
    ready: str | None = None
    settle: float = 0.02
    longest_gap: float = 0.05
    longest_trace: float = 60
    tolerance: float = 0.1
    start_within: float = 10
    mtu: int = 9600
    config: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for values that make no sense."""
        if isinstance(self.command, str) or not self.command:
            raise ValueError('`command` is a list: the program and its arguments, `["./my_nf", "{inside}"]`')
        if not all(isinstance(word, str) for word in self.command):
            raise ValueError("the words of `command` are texts")
        if self.settle <= 0 or min(self.longest_gap, self.longest_trace, self.tolerance, self.start_within) < 0:
            raise ValueError("durations are no less than 0, and `settle` is more")
        if not 68 <= self.mtu <= 65521:
            raise ValueError(f"mtu is {self.mtu}, but that of an interface is from 68 to 65521")

    @property
    def slack(self) -> int:
        return int(self.tolerance * SECOND)

    def missing(self) -> str | None:
        return _missing()

    def run(self, program: ir.Program, trace: Trace, options: RunOptions) -> Record:
        """As `Engine.run`."""
        if options != RunOptions():
            raise Unsupported("a black box runs as it is, with no options")
        self._stop_on_config(program, trace)
        seconds = self.pace.seconds([a.time for a in trace.arrivals])
        if seconds > self.longest_trace:
            raise Unsupported(
                f"the trace takes {seconds:.1f} s in real time, longer than `longest_trace`, {self.longest_trace} s; "
                f"a smaller `longest_gap` than {self.longest_gap} s shortens its gaps"
            )
        return super().run(program, trace, options)

    def start(self, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
        names = interface_names(program.ports)
        words = self.words(program, names)
        with ExitStack() as undone:
            try:
                network = Network(names, self.mtu)
            except OSError as error:
                raise Failed(f"no network for the black box: {error}") from error
            undone.callback(network.close)
            process = Program(words, network)
            undone.callback(process.stop)
            run = BlackBoxRun(network, process, self.pace, self.mtu)
            undone.callback(run.forget)
            run.begin(self.ready, self.start_within)
            run.owned = undone.pop_all()
        return run

    @property
    def pace(self) -> Pace:
        return Pace(self.settle, self.longest_gap)

    def words(self, program: ir.Program, names: Sequence[str]) -> list[str]:
        """The command with interfaces' names. ValueError for a word `{x}` without a port x."""
        found = []
        for word in self.command:
            if re.fullmatch(r"\{[A-Za-z_]\w*\}", word) and word[1:-1] not in program.ports:
                ports = ", ".join(program.ports)
                raise ValueError(f"`{word}` in `command`: {program.name} has no such port; it has {ports}")
            for port, name in zip(program.ports, names, strict=True):
                word = word.replace(f"{{{port}}}", name)
            found.append(word)
        return found

    def _stop_on_config(self, program: ir.Program, trace: Trace) -> None:
        """Unsupported if the trace has another config than the program."""
        if trace.changes:
            raise Unsupported(
                f"the trace changes `{next(iter(trace.changes[0].values))}`, which a black box is not told; "
                "take changes out of traces: `.map(lambda trace: dataclasses.replace(trace, changes=()))`"
            )
        if program.config and self.config is None:
            raise Unsupported(
                f"{program.name} has config, `{next(iter(program.config))}`, and nothing says what the program has; "
                "say so: `BlackBox(…, config=spec.config)`"
            )
        other = [name for name in program.config if (self.config or {}).get(name) != trace.config.get(name)]
        if other:
            raise Unsupported(
                f"the trace has another `{other[0]}` than the program was given; "
                "load the spec with its config, so that traces begin with it"
            )


def _lacking() -> Iterator[str]:
    for program, package in NEEDED.items():
        if shutil.which(program) is None:
            yield f"`{program}` (apt install {package})"
    if not os.path.exists("/dev/net/tun"):
        yield "`/dev/net/tun` (modprobe tun; in a container: --device /dev/net/tun)"


@cache
def _missing() -> str | None:
    """Tries it: what is allowed depends on more than the user."""
    if sys.platform != "linux":
        return "a black box runs between TAP interfaces in a network namespace, which only Linux has"
    if lacking := list(_lacking()):
        return f"a black box needs {', '.join(lacking)}"
    try:
        Network(["probe"], 1500).close()
    except OSError as error:
        said = error.strerror or error
        return (
            f"a black box needs the right to make network namespaces and TAP interfaces ({said}): "
            "run this as root (CAP_SYS_ADMIN, CAP_NET_ADMIN; in a container: --privileged)"
        )
    return None
