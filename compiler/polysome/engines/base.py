"""What an engine is: something that runs NFs, and says what it can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

from polysome.engines.collect import Collected, fed
from polysome.engines.options import Ability, Failed, RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.run import Run
from polysome.engines.shrunk import shrunk
from polysome.engines.trace import Trace
from polysome.engines.transform import transformed
from polysome.ir import program as ir
from polysome.syntax.diagnostics import SpecError

ENGINES: dict[str, Engine] = {}  # by name; `polysome.engines` fills it


class Engine(ABC):
    """`name`, that of its folder, is what `--engine` and `outputs(engine: …)` call it; `abilities`: what it has beside
    running an NF.

    `sees_frames`: an observed run numbers packets as the NF decides on them, and says what each was then.
    """

    name: ClassVar[str]
    abilities: ClassVar[frozenset[Ability]]
    sees_frames: ClassVar[bool] = False

    architecture: str | None = None  # of the switch and the machines around the NF; None: as an option says

    @property
    def slack(self) -> int | None:
        """Not None if the engine sees its NF from outside only: as `Record.slack`, which it becomes."""
        return None

    @abstractmethod
    def missing(self) -> str | None:
        """What this machine lacks to run it, and how to get it; None if nothing."""

    @abstractmethod
    def start(self, program: ir.Program, config: Mapping[str, Any], options: RunOptions) -> Run:
        """An NF with a value for each config item. Deterministic: what is random comes from `options.seed`.

        Raises Unsupported for a program that it cannot run, BadOption for values that are none, SpecError if the
        program does not fit where it is to run, Failed if it cannot be built.
        """

    def around(self, architecture: str | None) -> Engine:
        """The engine for another architecture, where there are machines around the NF; None: as it is."""
        if architecture is None:
            return self
        if said := self.lacks(Ability.machines):
            raise Unsupported(said)
        other = copy(self)
        other.architecture = architecture
        return other

    def lacks(self, ability: Ability) -> str:
        """Who has it, if this engine does not, in the words of every refusal; else ""."""
        return "" if ability in self.abilities else f"{_having(ability)} {ability.value}, not `{self.name}`"

    def refuse(self, options: RunOptions) -> None:
        """Raises Unsupported for options that need what this engine does not have."""
        for ability in options.needs():
            if said := self.lacks(ability):
                raise Unsupported(said)

    def run(self, program: ir.Program, trace: Trace, options: RunOptions) -> Record:
        """A whole trace, observed. Raises Unsupported; what fails later is the record's `crash`."""
        self.refuse(options)
        seen = transformed(trace, options)
        sized = program if options.capacity is None else shrunk(program, options.capacity)
        collected = Collected(sized, seen, self.sees_frames, self.slack)
        try:
            run = self.start(program, trace.config, replace(options, observed=True))
        except SpecError as error:
            raise Unsupported(f"the engine `{self.name}` has no plan: {error.diagnostics[0].message}") from error
        except Failed as error:
            return collected.record(None, str(error))
        crash = None
        with run:
            try:
                for event in fed(run, seen, options):
                    collected.take(event)
            except Unsupported:
                raise
            except Failed as error:
                crash = str(error)
            except Exception as error:  # whatever it is, it is the engine's fault
                crash = f"{type(error).__name__}: {error}"
            return collected.record(run.history, crash)


def _having(ability: Ability) -> str:
    """`only the engine `system` has`."""
    names = [f"`{engine.name}`" for engine in ENGINES.values() if ability in engine.abilities]
    if not names:
        return "no engine has"
    if len(names) == 1:
        return f"only the engine {names[0]} has"
    return f"only the engines {', '.join(names[:-1])} and {names[-1]} have"
