"""State without room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.testing.builtin.base import some
from polysome.testing.builtin.invariants import hold
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Exhaustion(Comparison):
    """When maps, sets, pools and schedules have room for one entry only, or for two, all that holds for a single run
    still holds: what finds no room meets `when full`, and what is there is not hurt. For a long trace, one is tried.
    """

    name: ClassVar[str] = "exhaustion"
    place: ClassVar[int] = 13

    def cases(self, execution: Execution) -> int:
        return sum(
            hold(rerun(execution, RunOptions(capacity=capacity)), f"with room for {capacity}")
            for capacity in some(execution.record.trace, self.name, (1, 2))
        )


PROPERTY = Exhaustion()
