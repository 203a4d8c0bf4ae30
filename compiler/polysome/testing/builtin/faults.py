"""Faults inside corrupt nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.resources import MEANING
from polysome.testing.builtin.base import Broken, difference, draw
from polysome.testing.builtin.compare import complete, copies_of
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Faults(Comparison):
    """When frames are lost, doubled or reordered on the way inside, packets may be lost, but nothing is corrupted: what
    leaves is what the NF's decisions say, no more often, with the same bytes. Skipped by an engine without internal
    links.
    """

    name: ClassVar[str] = "faults"
    place: ClassVar[int] = 18

    def cases(self, execution: Execution) -> int:
        cases = 0
        for kind in ("loss", "duplication", "reordering"):
            again = rerun(execution, RunOptions(faults=frozenset({kind}), seed=draw(execution.trace, kind, 1 << 16)))
            expected = ENGINES[MEANING].run(execution.spec.program, again.decided(), RunOptions())
            complete(expected, again, f"with {kind} on the links inside")
            for one, other in zip(expected.fates, again.fates, strict=True):
                self._packet(one.number, copies_of(one), copies_of(other), kind)
            cases += len(again.fates)
        return cases

    def _packet(
        self, n: int, expected: Counter[tuple[int, bytes]], found: Counter[tuple[int, bytes]], kind: str
    ) -> None:
        for port, data in found - expected:
            like = [d for p, d in expected if p == port]
            said = f"with {kind} on the links inside, packet {n + 1} leaves changed, by another port or more often"
            raise Broken((n,), said, *(difference(like[0], data) if like else ()))


PROPERTY = Faults()
