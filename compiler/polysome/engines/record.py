"""What happened in one run: the fate of each packet, what was emitted, how state and config went on.

Every engine yields a Record; `history` is None where an engine does not show its state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from polysome.engines.history import End, History
from polysome.engines.trace import Arrival, Trace
from polysome.ir import program as ir


@dataclass(frozen=True, slots=True)
class Copy:
    """One copy of a packet that left. `place` counts all that left, emitted packets too, from 0 in their order."""

    port: int
    time: int
    data: bytes
    place: int


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of packet `number` (from 0): at `at` (`now` of its handler) it was decided.

    Exactly one of `sent` (at least one copy left), `dropped` (then `reason` says why), `held` is true; what got lost
    inside (`Record.lost`) counts as held. `order_class` is
    its class in the schedule, None if the packet lacks what the NF demands.
    """

    number: int
    arrival: Arrival
    at: int
    reason: str | None
    copies: tuple[Copy, ...]
    order_class: Any

    @property
    def sent(self) -> bool:
        return bool(self.copies)

    @property
    def dropped(self) -> bool:
        return self.reason is not None

    @property
    def held(self) -> bool:
        return not self.copies and self.reason is None


@dataclass(frozen=True, slots=True)
class Made:
    """A packet that the NF emitted. `cause`: the number of the packet whose handler made it, None: a timer or an end.

    `headers`: header types and field values by number, in the order of the `emit`; None where an engine does not know.
    """

    port: int
    time: int
    data: bytes
    place: int
    cause: int | None
    headers: tuple[tuple[str, Mapping[int, int]], ...] | None


@dataclass(frozen=True)
class Record:
    """One run of `program` on `trace`: one Fate per arrival, in order; packets emitted, in order.

    `program` may have smaller state than the spec declares, if the options say so. `crash`: the engine failed with this
    error, which is its fault and not the spec's; then `fates` has the packets before that.

    `lost`: by number, packets that the NF sent and that got lost inside, and why: faults on links, or frames whose
    lengths lie. They have no copies.

    `slack`: the NF was seen from outside only, at its ports. Times are measured, and what it did at one it may have
    done up to so many ns earlier or later; why it dropped a packet is not known, and `reason` says just that. None:
    times and reasons are the NF's own.
    """

    program: ir.Program
    trace: Trace
    fates: tuple[Fate, ...]
    emitted: tuple[Made, ...]
    history: History | None
    crash: str | None = None
    lost: Mapping[int, str] = field(default_factory=dict)
    slack: int | None = None

    @property
    def ends(self) -> tuple[End, ...]:
        """Entries that ended, in order."""
        return () if self.history is None else tuple(self.history.ends)

    @property
    def drops(self) -> Mapping[str, int]:
        """How many packets were dropped for each reason."""
        found: dict[str, int] = {}
        for fate in self.fates:
            if fate.reason is not None:
                found[fate.reason] = found.get(fate.reason, 0) + 1
        return found

    def decided(self) -> Trace:
        """The trace that `decide` saw: every packet with the time at which its handler ran."""
        arrivals = tuple(Arrival(f.arrival.port, f.at, f.arrival.data) for f in self.fates)
        return Trace(self.trace.config, arrivals, self.trace.changes)
