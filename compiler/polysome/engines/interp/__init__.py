"""The reference interpreter as an engine: the meaning of a spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.engines.base import Engine
from polysome.engines.options import Ability, RunOptions
from polysome.engines.run import Run
from polysome.ir import program as ir
from polysome.resources import MEANING


class Interp(Engine):
    """It has no batches, hash tables or links: `batch` and `collisions` change nothing. Runs on several `cores` have no
    history. `split` gives `decide` the bytes of the fields frame and zeros for all others, and applies the edits to the
    packet that waited.
    """

    name = MEANING
    abilities = frozenset(Ability) - {Ability.faults, Ability.machines, Ability.profile, Ability.coverage}

    def missing(self) -> str | None:
        return None

    def start(self, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
        from polysome.engines.interp.run import InterpRun  # for start-up time, as in all engines

        return InterpRun(program, config, options)


ENGINE = Interp()
