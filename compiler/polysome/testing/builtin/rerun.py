"""The trace run again, otherwise.

Which of several ways is tried for a trace depends on the trace alone (`base.draw`), to keep campaigns quick and
failures repeatable.
"""

from __future__ import annotations

from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.testing.builtin.base import Skip
from polysome.testing.execution import Execution


def rerun(execution: Execution, options: RunOptions, engine: str | None = None) -> Record:
    """Skip where the engine cannot."""
    try:
        return execution.rerun(options, engine)
    except Unsupported as lacking:
        raise Skip(str(lacking)) from lacking
