"""All engines do what the interpreter does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.resources import MEANING
from polysome.testing.builtin.base import Builtin, Skip
from polysome.testing.builtin.compare import same
from polysome.testing.builtin.from_outside import like
from polysome.testing.builtin.rerun import rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class EnginesAgree(Builtin):
    """The engine does what the interpreter, which defines the meaning of a spec, does with the packets as they were
    decided: every packet's fate, bytes, ports and times, and every packet that is emitted. Of an engine that sees its
    NF from outside only, that is the bytes that leave and their ports (`from_outside`). Nothing to compare for the
    interpreter itself: `--engine native` compares.
    """

    name: ClassVar[str] = "engines agree"
    place: ClassVar[int] = 17

    def cases(self, execution: Execution) -> int:
        if execution.engine.name == MEANING:
            raise Skip(f"other engines are compared with `{MEANING}`, as with `--engine native`")
        if execution.record.slack is not None:
            return like(execution.record, execution.record.slack, f"on the engine `{execution.engine.name}`")
        expected = rerun(execution, RunOptions(), MEANING)
        return same(expected, execution.record, f"on the engine `{execution.engine.name}`")


PROPERTY = EnginesAgree()
