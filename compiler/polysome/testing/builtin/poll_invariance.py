"""How often the clock is looked at does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.testing.builtin.base import some
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class PollInvariance(Comparison):
    """How often the NF looks at the clock does not matter: the same packets with time moving in 7, or 64, small steps
    between them lead to the same. An NF that rounds away what accrues in a small step breaks this.
    """

    name: ClassVar[str] = "poll invariance"
    place: ClassVar[int] = 12

    def cases(self, execution: Execution) -> int:
        cases = 0
        for steps in some(execution.record.trace, self.name, (7, 64)):
            again = rerun(execution, RunOptions(steps=steps))
            cases += same(execution.record, again, f"with time moving in {steps} steps between packets")
        return cases


PROPERTY = PollInvariance()
