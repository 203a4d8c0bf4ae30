"""What a test in any pytest needs: run a spec on a trace, and expect things of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.engines import ENGINES, Engine
from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.resources import MEANING
from polysome.testing.builtin.base import Broken
from polysome.testing.builtin.compare import same
from polysome.testing.campaign import judged, properties
from polysome.testing.counterexample import timeline
from polysome.testing.execution import execute
from polysome.testing.spec import Spec


def run(spec: Spec, trace: Trace, engine: str = MEANING, **options: Any) -> Record:
    """What happens: the fate of each packet, what was emitted, the history of state and config.

    `options` are those of `RunOptions` (LANGUAGE.md L12.13): `run(spec, trace, scramble=True)`. Raises KeyError for an
    engine that there is not, Unsupported for one that cannot run here or has no such options.
    """
    return _engine(engine).run(spec.program, trace, RunOptions(**options))


def assert_holds(spec: Spec, trace: Trace, engine: str = MEANING, only: Sequence[str] = ()) -> Record:
    """Every property of the spec, of the libraries it uses and of all NFs holds; or those in `only`, by name.

    Raises AssertionError with the whole story of the trace for the first that does not. Returns the run.
    """
    execution = execute(spec, trace, _engine(engine))
    chosen = [p for p in properties(spec) if not only or p.name in only]
    if unknown := set(only) - {p.name for p in chosen}:
        raise LookupError(f"{spec.path.name} has no property {sorted(unknown)[0]}")
    for p in chosen:
        judgement = judged(p, execution)
        if judgement.failure is not None:
            story = "\n".join(timeline(execution, judgement.failure))
            raise AssertionError(f"property {p.name} does not hold\n{story}")
    return execution.record


def engines_agree(spec: Spec, trace: Trace, *engines: str) -> None:
    """The engines (all that can run here, if none are named) give equal results on the trace that `decide` saw.

    Each is compared with the first one on the trace as its own `decide` saw it. Raises AssertionError with the first
    difference.
    """
    names = engines or tuple(name for name, e in ENGINES.items() if e.missing() is None)
    for name in names[1:]:
        found = execute(spec, trace, _engine(name)).record
        expected = execute(spec, found.decided(), _engine(names[0])).record
        try:
            same(expected, found, f"on the engine `{name}`")
        except Broken as broken:
            raise AssertionError("\n".join(broken.failure.said)) from None


def _engine(name: str) -> Engine:
    engine = ENGINES[name]
    if (lacking := engine.missing()) is not None:
        raise Unsupported(lacking)
    return engine
