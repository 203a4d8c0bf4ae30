"""How much of a spec some traces reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from polysome.config.tables import Tables
from polysome.engines.trace import Trace
from polysome.interp.machine import Machine, Nowhere
from polysome.ir import program as ir
from polysome.testing.coverage.counting import counting
from polysome.testing.coverage.points import Outcome, Points, points
from polysome.testing.spec import Spec


@dataclass(frozen=True)
class Coverage:
    """`counts[n]`: how often number n of `Points` happened. `unreachable`: why a number never can, where it is proved.

    `proved`: whether proofs were tried. `corpus`: traces that each reached something that those before them did not.
    """

    program: ir.Program
    counts: tuple[int, ...]
    unreachable: Mapping[int, str] = field(default_factory=dict)
    proved: bool = False
    corpus: tuple[Trace, ...] = ()

    @property
    def points(self) -> Points:
        return points(self.program)

    @cached_property
    def reached(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.points.outcomes if self.counts[o.number])

    @cached_property
    def missing(self) -> tuple[Outcome, ...]:
        """Outcomes that were not reached, and may be reachable."""
        return tuple(o for o in self.points.outcomes if not self.counts[o.number] and o.number not in self.unreachable)

    @cached_property
    def dead(self) -> tuple[Outcome, ...]:
        """Outcomes that are proved unreachable."""
        return tuple(o for o in self.points.outcomes if o.number in self.unreachable)

    @property
    def complete(self) -> bool:
        """Was every outcome reached, but for those that are proved unreachable?"""
        return not self.missing


def measure(spec: Spec, traces: Iterable[Trace]) -> Coverage:
    """What the traces reach in the spec, run by the interpreter one by one."""
    total = [0] * points(spec.program).numbers
    corpus = []
    for trace in traces:
        counts = hits(spec.program, trace)
        if any(n and not old for n, old in zip(counts, total, strict=True)):
            corpus.append(trace)
        total = [a + b for a, b in zip(total, counts, strict=True)]
    return Coverage(spec.program, tuple(total), corpus=tuple(corpus))


def hits(program: ir.Program, trace: Trace) -> list[int]:
    """How often every number of `Points` happened in one run."""
    code = counting(program)
    code.taken()
    machine = Machine(program, Tables(program, trace.config), Nowhere(), code.generated)
    for change in trace.changes:
        machine.change_at(change.time, change.values)
    for arrival in trace.arrivals:
        machine.arrive(arrival.port, arrival.time, arrival.data)
    machine.finish()
    return code.taken()
