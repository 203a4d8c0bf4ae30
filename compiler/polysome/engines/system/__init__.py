"""The whole system as an engine: the switch's P4 program, RDMA servers and the NF as C++, on virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polysome.engines.base import Engine
from polysome.engines.options import Ability, RunOptions
from polysome.engines.run import Run
from polysome.ir import program as ir

if TYPE_CHECKING:
    from polysome.engines.system.run import Counted


class System(Engine):
    """It splits always, so `split` changes nothing. It has one core. The NF's state and headers of emitted packets are
    not shown.

    `counted`: is told after each run what the run reached of the design's P4 program; without it nothing is counted.
    """

    name = "system"
    abilities = frozenset({Ability.split, Ability.faults, Ability.machines, Ability.coverage})
    sees_frames = True

    def __init__(self, counted: Counted | None = None) -> None:
        self._counted = counted

    def missing(self) -> str | None:
        from polysome.backends.nf_cpp.build import missing

        return missing()

    def start(self, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
        from polysome.engines.system.run import SystemRun
        from polysome.engines.system.seen import ObservedRun

        kind = ObservedRun if options.observed else SystemRun
        if options.site is None and options.architecture is None:
            options = replace(options, architecture=self.architecture)
        return kind.started(program, config, options, self._counted)


ENGINE = System()
