"""The trace run again, otherwise.

Which of several ways is tried for a trace depends on the trace alone (`base.draw`), to keep campaigns quick and
failures repeatable.
"""

from __future__ import annotations

from dataclasses import dataclass

from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.testing.builtin.base import Builtin, Skip
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Comparison(Builtin):
    """A property of several runs of a trace."""

    @property
    def reruns(self) -> bool:
        return True


def rerun(execution: Execution, options: RunOptions, engine: str | None = None) -> Record:
    """Skip where the engine cannot."""
    try:
        return execution.rerun(options, engine)
    except Unsupported as lacking:
        raise Skip(str(lacking)) from lacking
