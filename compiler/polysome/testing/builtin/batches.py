"""Batches are invisible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.resources import MEANING
from polysome.testing.builtin.base import Skip
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Batches(Comparison):
    """Packets that are handled in batches fare as they would one by one. Skipped by an engine that has no batches."""

    name: ClassVar[str] = "batches"
    place: ClassVar[int] = 15

    def cases(self, execution: Execution) -> int:
        if execution.engine.name == MEANING:
            raise Skip("the interpreter handles packets one by one")
        single = rerun(execution, RunOptions(batch=1))
        return same(single, rerun(execution, RunOptions(batch=32)), "in batches of 32 instead of 1")


PROPERTY = Batches()
