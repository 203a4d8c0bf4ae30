"""The same again leads to the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Determinism(Comparison):
    """The same packets at the same times, run again, lead to the same, whatever ran before."""

    name: ClassVar[str] = "determinism"
    place: ClassVar[int] = 14

    def cases(self, execution: Execution) -> int:
        return same(execution.record, rerun(execution, RunOptions(seed=1)), "run again")


PROPERTY = Determinism()
