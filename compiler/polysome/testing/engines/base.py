"""What an engine is: something that runs a spec on a trace and says what happened."""

from __future__ import annotations

from typing import Protocol

from polysome.testing.options import RunOptions
from polysome.testing.record import Record
from polysome.testing.spec import Spec
from polysome.testing.trace import Trace


class Engine(Protocol):
    """`name` is what `--engine` and `outputs(engine: …)` call it."""

    name: str

    def missing(self) -> str | None:
        """What this machine lacks to run it, and how to get it; None if nothing."""

    def run(self, spec: Spec, trace: Trace, options: RunOptions) -> Record:
        """What happens. Raises Unsupported for options that the engine does not have.

        Deterministic in all three arguments: what is random comes from `options.seed`.
        """
