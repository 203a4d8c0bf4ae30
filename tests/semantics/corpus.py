"""Runs of the examples over the real captures in ../shared/captures, for the tests that judge what came of them.

Each example runs as it is, and where that would leave it idle, once more with config made for the capture: one of the
capture's addresses is its VIP, its own MAC, the end of its tunnel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from polysome.backends.nf_cpp.library import Kind
from polysome.captures.errors import CaptureError
from polysome.captures.read import Captured, open_capture
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.engines.feed import Gaps, Turns
from polysome.interp.code import Generated, generate
from polysome.interp.machine import Counters, Machine
from polysome.ir import program as ir
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = sorted((ROOT.parent / "shared" / "captures").rglob("*.pcap*"))
EXAMPLES = sorted(p.parent.name for p in (ROOT / "examples").glob("*/*.nf"))
# Longer than every timeout. Some captures jump by decades, which a timer of a few seconds would fill with millions of
# calls.
GAP = 3 * 3600 * 10**9
VXLAN = (4789).to_bytes(2, "big")

Values = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """An example as it runs: its program, and that as the interpreter's code."""

    program: ir.Program
    generated: Generated


@dataclass
class Run:
    """What the interpreter made of one capture.

    `noted`: in order, (left, port, time, number of the packet, bytes), (emitted, port, time, bytes), (dropped, reason,
    number of the packet). `arrivals`: (port, time, bytes).
    """

    where: str
    setting: Setting
    values: Values
    arrivals: list[tuple[int, int, bytes]] = field(default_factory=list)
    noted: list[tuple[Any, ...]] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    held: int = 0


class Noting(Machine):
    """The interpreter, noting what happens."""

    def __init__(self, run: Run) -> None:
        setting, self.noted = run.setting, run.noted
        super().__init__(setting.program, Tables(setting.program, run.values), self, setting.generated)

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.noted.append((Kind.left, port, time, order, data))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self.noted.append((Kind.emitted, port, time, data))

    def _drop(self, order: int, reason: str) -> None:
        super()._drop(order, reason)
        self.noted.append((Kind.dropped, reason, order))


def runs(example: str) -> Iterator[Run]:
    """The example over every capture, which feeds all its ports."""
    for run in inputs(example):
        machine = Noting(run)
        for arrival in run.arrivals:
            machine.arrive(*arrival)
        machine.finish()
        run.counters, run.held = machine.counters, machine.held
        yield run


def inputs(example: str, captures: Sequence[Path] = CAPTURES) -> Iterator[Run]:
    """The same runs before they are run."""
    setting = plain(example)
    values = config(example, setting.program)
    for capture in captures:
        yield _arriving(Run(f"{example} on {capture.name}", setting, values), capture)
        busy = BUSY[example](values, capture) if example in BUSY else None
        if busy is not None:
            home = _open_vip() if example == "load_balancer" else setting
            yield _arriving(Run(f"{example} at home on {capture.name}", home, busy), capture)


def _arriving(run: Run, capture: Path) -> Run:
    turns, gaps = Turns(Noting(run)), Gaps(GAP)
    run.arrivals = [(turns.port(c.data), gaps.time(c.time), c.data) for c in _packets(capture)]
    return run


@cache
def _packets(capture: Path) -> tuple[Captured, ...]:
    """The packets of a capture, up to where it may be cut."""

    def found() -> Iterator[Captured]:
        try:
            yield from open_capture(capture)
        except CaptureError:
            return

    return tuple(found())


@cache
def plain(example: str) -> Setting:
    """The example as it is."""
    return _setting(ROOT / "examples" / example / f"{example}.nf")


@cache
def _open_vip() -> Setting:
    """The load balancer with its VIP in the config, so that one program serves any."""
    text = (ROOT / "examples" / "load_balancer" / "load_balancer.nf").read_text(encoding="utf-8")
    param = "param vip: ipv4 = 10.0.0.100;"
    assert text.count(param) == 1
    with TemporaryDirectory() as folder:
        path = Path(folder, "load_balancer.nf")
        path.write_text(text.replace(param, "config vip: ipv4;"), encoding="utf-8")
        return _setting(path)


def _setting(spec: Path) -> Setting:
    report = Report()
    program = check(spec, report, Options({}, {}))
    report.stop_on_errors()
    return Setting(program, generate(program))


def config(example: str, program: ir.Program) -> Values:
    """What the example's folder configures."""
    folder, report = ROOT / "examples" / example, Report()
    files = [str(p) for p in folder.glob("config*.toml")] + [f"{p.stem}={p}" for p in folder.glob("*.csv")]
    values = dict(load_config(program, files, report))
    report.stop_on_errors()
    return values


# ---------------------------------------------------------------- config made for a capture; None if there is none


def _rules(values: Mapping[str, Any], capture: Path) -> Values:
    """Rules about TCP and everything else."""
    deny, permit = 0, 1
    rules = (
        AclRow((None, None, None, 6, None, Range(1024, 65535)), (deny, 254), -1),
        AclRow((None,) * 6, (permit, 255), -2),
    )
    return {**values, "rules": values["rules"] + rules}


def _vip(values: Mapping[str, Any], capture: Path) -> Values | None:
    """The VIP is the most frequent destination."""
    found = Counter(c.data[30:34] for c in _packets(capture) if c.data[12:14] == b"\x08\x00" and len(c.data) >= 34)
    return {**values, "vip": int.from_bytes(_most(found), "big")} if found else None


def _mac(values: Mapping[str, Any], capture: Path) -> Values | None:
    """The router's MAC is the most frequent destination of IPv6."""
    found = Counter(c.data[:6] for c in _packets(capture) if c.data[12:14] == b"\x86\xdd")
    if not found:
        return None
    mac = int.from_bytes(_most(found), "big")
    interfaces = {port: (mac, address) for port, (_, address) in values["interfaces"].items()}
    routes = tuple((Prefix(128, i << 127, 1), (i, 0x020000000000 + i)) for i in (0, 1))
    return {**values, "interfaces": interfaces, "routes": routes}


def _vtep(values: Mapping[str, Any], capture: Path) -> Values | None:
    """The gateway is the end of the most frequent tunnel."""
    found = Counter(
        c.data[30:34] + c.data[46:49] for c in _packets(capture) if c.data[23:24] == b"\x11" and c.data[36:38] == VXLAN
    )
    if not found:
        return None
    end = _most(found)
    vtep = (int.from_bytes(end[4:], "big"), int.from_bytes(end[:4], "big"), *values["vtep"][2:])
    return {**values, "vtep": vtep}


def _most(found: Counter[bytes]) -> bytes:
    return found.most_common(1)[0][0]


BUSY: dict[str, Callable[[Mapping[str, Any], Path], Values | None]] = {
    "acl": _rules,
    "load_balancer": _vip,
    "router6": _mac,
    "vxlan_gateway": _vtep,
}
