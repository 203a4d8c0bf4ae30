"""All engines do the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.testing.builtin.base import Builtin, Skip
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.rerun import rerun
from polysome.testing.engines import ENGINES
from polysome.testing.execution import Execution
from polysome.testing.options import RunOptions


@dataclass(frozen=True)
class EnginesAgree(Builtin):
    """All engines do the same with the packets as they were decided: every packet's fate, bytes, ports and times, and
    every packet that is emitted. Skipped as long as there is only one engine that can run here.
    """

    name: ClassVar[str] = "engines agree"

    def cases(self, execution: Execution) -> int:
        others = [e for name, e in ENGINES.items() if name != execution.engine.name and e.missing() is None]
        if not others:
            raise Skip(f"there is no engine here to compare `{execution.engine.name}` with")
        return sum(
            same(execution.record, rerun(execution, RunOptions(), other.name), f"on the engine `{other.name}`")
            for other in others
        )
