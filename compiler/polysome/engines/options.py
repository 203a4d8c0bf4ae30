"""How an NF is run, what of that an engine must be able to do, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from polysome.analysis.layout import Carry
from polysome.backends.nf_cpp.library import Failed
from polysome.engines.trace import Arrival

if TYPE_CHECKING:
    from polysome.plan.site import Site


__all__ = ["Ability", "BadOption", "Failed", "RunOptions", "Sample", "Unsupported"]


class Unsupported(Exception):
    """An engine cannot run with these options, or is not here; the text says what is missing."""


class BadOption(Exception):
    """The value of an option, a field of RunOptions, is none; `mend` says what to write."""

    def __init__(self, option: str, message: str, mend: str) -> None:
        super().__init__(message)
        self.option, self.message, self.mend = option, message, mend


class Ability(Enum):
    """What some engines have beside running an NF; the value names it in messages."""

    cores = "several cores"
    batches = "batches of a given size"
    steps = "time that passes in steps"
    split = "packets split from their payloads"
    whole = "packets that are not split"
    scramble = "scrambled bytes"
    faults = "faults on links"
    machines = "machines around the NF"
    profile = "a profile"
    explanation = "an explanation of a packet"
    coverage = "coverage of the switch's program"


@dataclass(frozen=True, slots=True)
class Sample:
    """Packets that an NF is optimized for; `name`: what they are, for the user."""

    name: str
    packets: tuple[Arrival, ...]

    def from_zero(self) -> list[tuple[int, int, bytes]]:
        """(port, time, frame) of each, the first one at time 0."""
        start = self.packets[0].time
        return [(p.port, p.time - start, p.data) for p in self.packets]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """None: as the engine does by itself.

    Those of `outputs(…)` in properties (LANGUAGE.md L12.13): `batch` to `faults`, with `jump` in ns and `faults` as
    `backends.system.faults` reads them. `seed` makes what is random in a run (scrambled bytes, where time jumps,
    faults) repeatable.

    Of machines around the NF: `site`, or a default one of `architecture` with so many `servers`; `queue_pairs` of each
    RDMA server; `carry`: what of the packet goes to the NF; `capture`: every frame on the links inside is told.

    `profile`: what the NF is optimized for. `explain`: the number, from 0, of a packet to explain.
    `observed`: times and classes of decisions are told too, the causes of emitted packets, and the history of state.
    """

    batch: int | None = None
    cores: int | None = None
    split: bool | None = None
    scramble: bool = False
    steps: int = 1
    jump: int = 0
    ties: int = 1
    capacity: int | None = None
    collisions: bool = False
    faults: frozenset[str] = frozenset()
    seed: int = 0
    site: Site | None = None
    architecture: str | None = None
    servers: int | None = None
    queue_pairs: int | None = None
    carry: Carry = "fields"
    capture: bool = False
    profile: Sample | None = None
    explain: int | None = None
    observed: bool = False

    def needs(self) -> Iterator[Ability]:
        """What an engine must have for these."""
        inside = (self.site, self.architecture, self.servers, self.queue_pairs)
        asked = {
            Ability.cores: (self.cores or 1) > 1,
            Ability.batches: self.batch is not None,
            Ability.steps: self.steps > 1,
            Ability.split: self.split is True,
            Ability.whole: self.split is False,
            Ability.scramble: self.scramble,
            Ability.faults: bool(self.faults),
            Ability.machines: any(i is not None for i in inside) or self.carry != "fields" or self.capture,
            Ability.profile: self.profile is not None,
            Ability.explanation: self.explain is not None,
        }
        return (ability for ability, needed in asked.items() if needed)
