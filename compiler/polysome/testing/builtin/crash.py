"""The engine stays alive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.testing.builtin.base import Builtin
from polysome.testing.execution import Execution, Failure, Judgement


@dataclass(frozen=True)
class NoCrash(Builtin):
    """Whatever arrives, the engine does not fail: every packet gets a verdict."""

    name: ClassVar[str] = "no crash"
    place: ClassVar[int] = 0

    def judge(self, execution: Execution) -> Judgement:
        record = execution.record
        if record.crash is None:
            return Judgement(None, len(record.fates))
        last = max(0, len(record.fates) - 1)
        return Judgement(Failure((last,) if record.fates else (), (f"the engine failed: {record.crash}",)), 1)


PROPERTY = NoCrash()
