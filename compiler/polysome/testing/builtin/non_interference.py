"""What is not relevant does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.testing.builtin.base import draw
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class NonInterference(Comparison):
    """Bytes that the spec does not list as relevant change nothing: neither verdicts, edits, state nor packets that the
    NF emits. They are replaced by random ones before the NF decides (in two ways) and put back after. This is what
    allows a payload to stay in the switch while a server decides.
    """

    name: ClassVar[str] = "non-interference"
    place: ClassVar[int] = 9

    def cases(self, execution: Execution) -> int:
        seeds = (1, 2 + draw(execution.record.trace, self.name, 1 << 16))
        how = "with other bytes in place of those that are not relevant"
        return sum(
            same(execution.record, rerun(execution, RunOptions(scramble=True, seed=seed)), how) for seed in seeds
        )


PROPERTY = NonInterference()
