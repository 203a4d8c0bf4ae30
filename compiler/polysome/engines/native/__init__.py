"""Generated C++ as an engine: built once per NF, run in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from polysome.engines.base import Engine
from polysome.engines.options import Ability, RunOptions
from polysome.engines.run import Run
from polysome.ir import program as ir


class Native(Engine):
    """It shows no state, so its records have no history, and emitted packets no headers.

    It decides on whole packets: `split` and `scramble`, which hide bytes from it, are for engines with fields frames.
    """

    name = "native"
    abilities = frozenset({Ability.cores, Ability.batches, Ability.steps, Ability.whole, Ability.profile})

    def missing(self) -> str | None:
        from polysome.backends.nf_cpp.build import missing

        return missing()

    def start(self, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
        from polysome.engines.native.run import start

        return start(program, config, options)


ENGINE = Native()
