"""Every example over every real capture (DESIGN section 9: conservation, checksums stay valid).

253 captures hold tunnels, fragments, malformed and fuzzed packets, trailers, frames shorter than their IP length, jumbo
frames, backward and equal times. Without the captures' folder these tests are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.semantics.verify import Reassembly, Verdicts, verify

from polysome.captures.errors import CaptureError
from polysome.captures.read import Captured, open_capture
from polysome.config.load import load_config
from polysome.config.tables import Tables
from polysome.interp.code import Generated, generate
from polysome.interp.feed import Gaps, Turns
from polysome.interp.machine import Machine
from polysome.ir import program as ir
from polysome.kinds.state.acl import AclRow, Range
from polysome.kinds.values import Prefix
from polysome.semantics.check import Options, check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT.parent / "shared" / "captures" / "ndpi"
EXAMPLES = sorted(p.parent.name for p in (ROOT / "examples").glob("*/*.nf"))
GAP = 3600 * 10**9
VXLAN = (4789).to_bytes(2, "big")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CAPTURES.is_dir(), reason="the folder of real captures is not here"),
]


@dataclass
class Sink:
    """What left, by the number of the packet that arrived."""

    left: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    emitted_packets: list[bytes] = field(default_factory=list)

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.left.setdefault(order, []).append((port, data))
        self.times.append(time)

    def emitted(self, port: int, time: int, data: bytes) -> None:
        self.emitted_packets.append(data)
        self.times.append(time)


def packets(capture: Path) -> Iterator[Captured]:
    """The packets of a capture, up to where it may be cut."""
    try:
        yield from open_capture(capture)
    except CaptureError:
        return


def prepared(example: str, params: tuple[tuple[str, str], ...]) -> tuple[ir.Program, dict[str, Any], Generated]:
    """The example's program, config and code, with params that make it busy with a given capture."""
    return _prepared(example, params)


@cache
def _prepared(example: str, params: tuple[tuple[str, str], ...]) -> tuple[ir.Program, dict[str, Any], Generated]:
    folder = ROOT / "examples" / example
    report = Report()
    program = check(folder / f"{example}.nf", report, Options(dict(params), {}))
    files = [str(p) for p in folder.glob("*.toml")] + [f"{p.stem}={p}" for p in folder.glob("*.csv")]
    values = load_config(program, files, report)
    report.stop_on_errors()
    return program, values, generate(program)


def busy(example: str, capture: Path) -> tuple[tuple[str, str], ...]:
    """Params under which the example does its work on the capture: its VIP, the router's own MAC."""
    if example == "load_balancer":
        destinations = Counter(
            c.data[30:34] for c in packets(capture) if c.data[12:14] == b"\x08\x00" and len(c.data) >= 34
        )
        if destinations:
            return (("vip", ".".join(map(str, destinations.most_common(1)[0][0]))),)
    return ()


def at_home(example: str, values: dict[str, Any], capture: Path) -> dict[str, Any]:
    """Config under which the example does its work on the capture: its packets are sent to it (the router, the tunnel's
    end), some rule is about them (the access list)."""
    if example == "acl":
        deny, permit = 0, 1
        rules = (
            AclRow((None, None, None, 6, None, Range(1024, 65535)), (deny, 254), -1),
            AclRow((None,) * 6, (permit, 255), -2),
        )
        return {**values, "rules": values["rules"] + rules}
    if example == "router6":
        seen = Counter(c.data[:6] for c in packets(capture) if c.data[12:14] == b"\x86\xdd")
        if seen:
            mac = int.from_bytes(seen.most_common(1)[0][0], "big")
            interfaces = {port: (mac, address) for port, (_, address) in values["interfaces"].items()}
            routes = tuple((Prefix(128, i << 127, 1), (i, 0x020000000000 + i)) for i in (0, 1))
            return {**values, "interfaces": interfaces, "routes": routes}
    if example == "vxlan_gateway":
        ends = Counter(
            c.data[30:34] + c.data[46:49]
            for c in packets(capture)
            if c.data[23:24] == b"\x11" and c.data[36:38] == VXLAN
        )
        if ends:
            end = ends.most_common(1)[0][0]
            vtep = (int.from_bytes(end[4:], "big"), int.from_bytes(end[:4], "big"), *values["vtep"][2:])
            return {**values, "vtep": vtep}
    return values


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_capture_runs_and_every_packet_is_accounted_for(example: str) -> None:
    for capture in sorted(CAPTURES.iterdir()):
        machine, sink, arrived = run(example, capture)
        c = machine.counters
        where = f"{example} on {capture.name}"
        assert c.packets_in == len(arrived), where
        assert c.packets_in == c.sent + sum(c.dropped.values()) + machine.held, where
        assert len(sink.left) == c.sent, where
        assert sink.times == sorted(sink.times), where
        assert_checksums(where, arrived, sink)


def run(example: str, capture: Path) -> tuple[Machine, Sink, list[bytes]]:
    """The example on one capture that feeds all its ports."""
    program, values, generated = prepared(example, busy(example, capture))
    values = at_home(example, values, capture)
    sink = Sink()
    machine = Machine(program, Tables(program, values), sink, generated)
    turns, gaps = Turns(machine), Gaps(GAP)
    arrived = []
    for c in packets(capture):
        arrived.append(c.data)
        machine.arrive(turns.port(c.data), gaps.time(c.time), c.data)
    machine.finish()
    return machine, sink, arrived


def assert_checksums(where: str, arrived: list[bytes], sink: Sink) -> None:
    """Right on the way in: right on the way out, also of fragments put together; emitted ones are right."""
    before, after = Reassembly(), Reassembly()
    for number, copies in sink.left.items():
        old = verify(arrived[number])
        before.add(number, old)
        for data in {data for _, data in copies}:
            new = verify(data)
            after.add(number, new)
            _compare(f"{where}, packet {number}", old, new, _shift(arrived[number], data))
    outcome = after.datagrams()
    for numbers, right in before.datagrams().items():
        if right and all(n in sink.left for n in numbers) and numbers in outcome:
            assert outcome[numbers], f"{where}: the datagram of packets {numbers} is wrong after reassembly"
    for data in sink.emitted_packets:
        for name, right in verify(data).right.items():
            quoted = "quoted." in name  # a quote is what arrived, right or wrong
            assert right or quoted or name.endswith("has a checksum"), f"{where}: {name} of an emitted packet"


TUNNEL = 14 + 20 + 8 + 8  # Ethernet, IPv4, UDP, VXLAN


def _shift(old: bytes, new: bytes) -> int:
    """1 if the packet was put into a tunnel, -1 if it was taken out of one, else 0."""
    if len(new) >= TUNNEL + 14 and new[TUNNEL : TUNNEL + 14] == old[:14]:
        return 1
    return -1 if len(old) >= TUNNEL + 14 and old[TUNNEL : TUNNEL + 14] == new[:14] else 0


def _compare(where: str, old: Verdicts, new: Verdicts, shift: int) -> None:
    """Checksums by name; a tunnel that was added or removed shifts the names (only one level of tunnel is judged)."""
    names = {name: name for name in old.right}
    if shift > 0:
        names = {name: f"inner.{name}" for name in old.right if not name.startswith("inner.")}
    elif shift < 0:
        names = {name: name.removeprefix("inner.") for name in old.right if name.startswith("inner.")}
    for name, renamed in names.items():
        if old.right[name] and renamed in new.right:
            assert new.right[renamed], f"{where}: the checksum of {renamed} was right and is wrong now"
    if not shift:
        assert set(new.right) == set(old.right), f"{where}: other headers are found in what left"
        for name in old.right:
            if name.endswith("has a checksum"):
                assert new.right[name] == old.right[name], f"{where}: {name}"
