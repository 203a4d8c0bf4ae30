"""What the switch's program is told of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from polysome.analysis.layout import WIRE


@dataclass(frozen=True)
class Sizes:
    """What the plan decides about the program. Lengths in bytes, times in ticks; counts are powers of two.

    `least`, `most`: claimed lengths of packets that are split; `cell`: bytes of a cell; `cells`: in a server's region;
    `edits_frame`: of each frame of edits, without FCS.
    """

    slots: int
    queue_pairs: int
    buckets: int
    cells: int
    cell: int
    least: int
    most: int
    edits_frame: int
    timeout: int
    most_reads: int
    tries: int
    nf_ports: int
    server_ports: int


@dataclass(frozen=True)
class Addresses:
    mac: int
    ip: int
    recirculation_port: int


LEAST_QUEUE_PAIRS = 64  # of the program's tables, so that a few more queue pairs make no other program
NOTHING = Sizes(
    slots=2,
    queue_pairs=LEAST_QUEUE_PAIRS,
    buckets=2,
    cells=2,
    cell=2048,
    least=65_535,
    most=65_535,
    edits_frame=WIRE.minimum,
    timeout=256,
    most_reads=16,
    tries=8,
    nf_ports=1,
    server_ports=1,
)  # where nothing is split
