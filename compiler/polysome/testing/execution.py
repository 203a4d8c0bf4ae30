"""One run that properties judge, and what they say of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from polysome.engines import ENGINES, Engine
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.syntax.spans import Span
from polysome.testing.spec import Spec


@dataclass(frozen=True)
class Failure:
    """A property does not hold. `packets`: numbers of those it is about, in order of the property's names.

    `said`: what was expected and what was found, a line each, for a person who knows networks and not this project.
    `span`: the line of the spec that expects it, None for built-in properties.
    """

    packets: tuple[int, ...]
    said: tuple[str, ...]
    span: Span | None = None


@dataclass(frozen=True)
class Judgement:
    """The first failure, if there is one. `cases`: how often the property's conditions were met, so that something was
    tested; `skipped`: why nothing could be tested (an engine that is not here).
    """

    failure: Failure | None
    cases: int
    skipped: str | None = None


class Property(Protocol):
    """What can be expected of every run. `name`: of the spec's own, `nat.injective` from a library, `built-in name`."""

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str:
        """What it promises an operator."""

    @property
    def reruns(self) -> bool:
        """Does judging run the trace again? Then it costs as much as several runs."""

    def judge(self, execution: Execution) -> Judgement: ...


@dataclass(frozen=True, eq=False)
class Execution:
    """`record` is what `engine` did with `trace`. `rerun` runs it again, once per options: the same engine on what it
    got before, another one on the trace that `decide` saw.
    """

    spec: Spec
    engine: Engine
    trace: Trace
    record: Record
    _again: dict[tuple[str, RunOptions], Record] = field(default_factory=dict)

    def rerun(self, options: RunOptions, engine: str | None = None) -> Record:
        """Raises Unsupported if the engine is not here or has no such options."""
        name = engine or self.engine.name
        chosen = self.engine if name == self.engine.name else ENGINES.get(name)
        if chosen is None:
            raise Unsupported(f"there is no engine `{name}` yet")
        if chosen.slack is not None:
            raise Unsupported(f"the engine `{name}` measures times, so no run of it can be had again")
        if (lacking := chosen.missing()) is not None:
            raise Unsupported(lacking)
        key = (name, options)
        if key not in self._again:
            trace = self.trace if name == self.engine.name else self.record.decided()
            self._again[key] = chosen.run(self.spec.program, trace, options)
        return self._again[key]


def execute(spec: Spec, trace: Trace, engine: Engine) -> Execution:
    """Runs the trace."""
    return Execution(spec, engine, trace, engine.run(spec.program, trace, RunOptions()))
