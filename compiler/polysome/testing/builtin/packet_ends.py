"""A packet ends where its network header says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.record import Record
from polysome.ir.walk import pops
from polysome.testing.builtin.base import Broken, Invariant
from polysome.testing.judge.parsing import parse


@dataclass(frozen=True)
class PacketEnds(Invariant):
    """A frame that is shorter than its network header says is never sent. What follows the network packet in a frame
    (padding, a trailer) is never sent on; but what follows it in a frame inside a tunnel is the tunnel's payload, and
    may come out of it.
    """

    name: ClassVar[str] = "packet ends"
    place: ClassVar[int] = 2

    def check(self, record: Record) -> int:
        for fate in record.fates:
            n, arrival = fate.number, fate.arrival
            if not fate.copies:
                continue
            claimed = parse(record.program, arrival.port, arrival.data).claimed
            if claimed is not None and claimed > len(arrival.data):
                raise Broken((n,), f"packet {n + 1} was sent, but is shorter than its network header says")
            for copy in fate.copies:
                if pops(record.program) and len(copy.data) < len(arrival.data):
                    continue
                claimed = parse(record.program, copy.port, copy.data).claimed
                if claimed is not None and claimed < len(copy.data):
                    said = f"packet {n + 1} left with {len(copy.data)} bytes, but it ends after {claimed}"
                    raise Broken((n,), said, "what follows there is no part of it")
        return len(record.fates)


PROPERTY = PacketEnds()
