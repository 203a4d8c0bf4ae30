"""Hardware as data: `targets/<name>/target.toml`, whose comments name the source of every number.

A target has a table `[switch]`, or `[nic]` and `[server]`, or all three. `like = "NAME"` takes what is not said from
another target. Sizes are in bytes, rates in bit/s, times in ns, as the names say.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from polysome.config.items import Item, Rejected, read_source
from polysome.config.toml_text import read_toml
from polysome.plan.records import Table, many, one_name, refuse, text, whole, yes
from polysome.resources import folder
from polysome.syntax.diagnostics import Report, SpecError, one_of

T = TypeVar("T")
RATE = 10**13  # bit/s, more than any port has
MOST = 2**48


def _whole(least: int, most: int = MOST, default: Any = MISSING) -> Any:
    return field(metadata={"read": whole(least, most)}, default=default)


@dataclass(frozen=True, kw_only=True)
class Switch:
    """A switch chip. Ports are numbers within a pipe; device port = pipe · ports_per_pipe + port.

    `architecture`: that of its P4 programs, as p4c calls it.
    `ingress_depth_most_bytes`: what an ingress parser can see of a frame. `gateway_bits`: what one comparison may take;
    `stateful_compares`, `stateful_operands`: of one stateful ALU, comparisons and fields that it reads.
    `stateful_wraps`: it compares sums modulo their width; if not, exactly, as sums of values without a sign.
    `egress_depth_*`: what an egress parser can see of a copy, mirror or bridge header included. `mirror_length_*`: what
    the longest length of a mirror session counts besides the packet; `packet_length_*`: what egress is told.
    `checksum_residual_zero_is_ones`: which of ones' complement's zeros a parser's residual has; if not, either.
    `port_speeds_bps`: what a port may be set to, 0: to anything. `cell_bytes`: in which the traffic manager counts.
    `queue_limit_bytes` is no fact of a chip but what may wait for a port, in bytes on the wire. `traffic_rate_bps`,
    `nf_port` and `server_port` lay out the default site, 0: like any port, or the next ones.
    """

    name: str
    architecture: str = field(metadata={"read": one_name("tna", "t2na")})
    pipes: int = _whole(1, 64)
    stages: int = _whole(1, 64)
    sram_blocks_per_stage: int = _whole(1)
    sram_block_bytes: int = _whole(1)
    map_rams_per_stage: int = _whole(1)
    stateful_alus_per_stage: int = _whole(1)
    stateful_compares: int = _whole(1)
    stateful_operands: int = _whole(1)
    stateful_wraps: bool = field(metadata={"read": yes})
    gateway_bits: int = _whole(1)
    ingress_depth_most_bytes: int = _whole(64)
    egress_depth_least_bytes: int = _whole(0)
    egress_depth_most_bytes: int = _whole(1)
    mirror_header_most_bytes: int = _whole(1)
    mirror_sessions: int = _whole(1)
    mirror_length_counts_header: bool = field(metadata={"read": yes})
    mirror_length_counts_fcs_bytes: int = _whole(0, 4)
    packet_length_counts_fcs_bytes: int = _whole(0, 4)
    checksum_residual_zero_is_ones: bool = field(metadata={"read": yes})
    port_rate_bps: int = _whole(1_000_000, RATE)
    port_speeds_bps: tuple[int, ...] = field(metadata={"read": many(whole(0, RATE), "speeds")})
    first_port: int = _whole(0, 511)
    last_port: int = _whole(0, 511)
    lanes_per_port: int = _whole(1, 8)
    ports_per_pipe: int = _whole(1, 512)
    recirculation_port: int = _whole(0, 511)
    generator_port: int = _whole(0, 511)
    cpu_port: int = _whole(0, 511)
    recirculation_ns: int = _whole(1)
    cell_bytes: int = _whole(1)
    packet_buffer_bytes: int = _whole(1)
    queue_limit_bytes: int = _whole(2_000)
    traffic_rate_bps: int = _whole(0, RATE, 0)
    nf_port: int = _whole(0, 511, 0)
    server_port: int = _whole(0, 511, 0)

    @property
    def sram_blocks(self) -> int:
        return self.stages * self.sram_blocks_per_stage

    @property
    def stateful_alus(self) -> int:
        return self.stages * self.stateful_alus_per_stage


@dataclass(frozen=True, kw_only=True)
class Nic:
    """A network card with RDMA. `goodput_bps` counts payload that is written and read again."""

    name: str
    rate_bps: int = _whole(1_000_000, RATE)
    path_mtus_bytes: tuple[int, ...] = field(metadata={"read": many(whole(256, 4096), "path MTUs")})
    largest_frame_bytes: int = _whole(60, 65_536)
    outstanding_reads: int = _whole(1, 255)
    queue_pairs: int = _whole(1, 65_535)
    queue_pair_bps: int = _whole(1, RATE)
    goodput_bps: int = _whole(1, RATE)
    read_ns: int = _whole(1)


@dataclass(frozen=True, kw_only=True)
class Server:
    """What is assumed of the server around a NIC where a site file says nothing."""

    name: str
    memory_bytes: int = _whole(1)
    latency_ns: int = _whole(0)


RECORDS: dict[str, type] = {"switch": Switch, "nic": Nic, "server": Server}


def switch(name: str) -> Switch:
    """The switch of that target; SpecError if its file is wrong, KeyError if there is none."""
    found: Switch = _part(name, "switch")
    return found


def nic(name: str) -> Nic:
    """The NIC of that target; errors as for `switch`."""
    found: Nic = _part(name, "nic")
    return found


def server(name: str) -> Server:
    """The server of that target; errors as for `switch`."""
    found: Server = _part(name, "server")
    return found


@cache
def known(part: str) -> tuple[str, ...]:
    """The targets that have that table."""
    found = sorted(path.parent.name for path in folder("targets").glob("*/target.toml"))
    return tuple(name for name in found if part in _root(name, Report()).value)


@cache
def _part(name: str, part: str) -> Any:
    if name not in known(part):
        raise KeyError(name)
    report = Report()
    try:
        return read(name, part, RECORDS[part], report)
    except Rejected:
        raise SpecError(report.errors, report.sources) from None


def read(name: str, part: str, record: type[T], report: Report, at: Path | None = None) -> T:
    """One table of `at`/<name>/target.toml as a record. Reports, and raises Rejected, if it is wrong."""
    root = _root(name, report, at)
    members = Table(root.value[part], f"`[{part}]`", report)
    base = members.take("like", text, "")
    values: dict[str, Any] = {"name": name}
    other: Any = None
    if base:
        if base not in known(part):
            refuse(
                "E1305",
                f"there is no target `{base}` with a table `[{part}]`",
                members.place("like"),
                report,
                why="What is not said here is taken from there.",
                mend=one_of(base, known(part)),
            )
        other = _part(base, part)
    for f in _read_fields(record):
        if other is not None:
            values[f.name] = members.take(f.name, f.metadata["read"], getattr(other, f.name))
        elif f.default is not MISSING:
            values[f.name] = members.take(f.name, f.metadata["read"], f.default)
        else:
            values[f.name] = members.take(f.name, f.metadata["read"])
    members.done()
    return record(**values)


def _read_fields(record: Any) -> list[Field[Any]]:
    return [f for f in fields(record) if "read" in f.metadata]


def _root(name: str, report: Report, at: Path | None = None) -> Item:
    path = (at or folder("targets")) / name / "target.toml"
    return read_toml(read_source(str(path), report), report)
