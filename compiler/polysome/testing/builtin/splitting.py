"""Splitting packets is invisible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Splitting(Comparison):
    """Splitting is invisible: with payloads parked while the NF decides, the same bytes leave by the same ports at the
    same times as from a server that sees whole packets.
    """

    name: ClassVar[str] = "splitting"
    place: ClassVar[int] = 10

    def cases(self, execution: Execution) -> int:
        return same(execution.record, rerun(execution, RunOptions(split=True)), "with payloads parked")


PROPERTY = Splitting()
