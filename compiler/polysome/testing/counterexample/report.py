"""A counterexample, run and told."""

from __future__ import annotations

import textwrap

from polysome.engines import ENGINES
from polysome.testing.counterexample.files import Counterexample, ReplayError
from polysome.testing.counterexample.timeline import WIDTH, timeline
from polysome.testing.execution import Execution, Judgement, Property, execute


def report(counterexample: Counterexample) -> list[str]:
    """Runs it and says what happened, as `timeline` does, with every statement of the packets it is about.

    Raises ReplayError if the engine or the property does not exist, Unsupported if the engine cannot run here.
    """
    execution, property, judgement = replay(counterexample)
    count = len(counterexample.trace.arrivals)
    room = ", room for few entries only" if counterexample.small else ""
    head = f"property {property.name}: {'FAILS' if judgement.failure is not None else 'holds'}"
    run = f"{count} packet{'s' * (count != 1)} through {execution.record.program.name} on {execution.engine.name}{room}"
    promise = textwrap.wrap(" ".join(property.doc.split()), WIDTH, initial_indent="  ", subsequent_indent="  ")
    marked = ["(packets count from 1; those marked > are what it is about)"] if judgement.failure is not None else []
    return [
        head,
        *promise,
        run,
        *marked,
        "",
        *timeline(execution, judgement.failure, True),
    ]


def replay(counterexample: Counterexample, engine: str | None = None) -> tuple[Execution, Property, Judgement]:
    """Runs it again, on another engine if one is given, and judges it."""
    from polysome.testing import builtin, judge  # what reads and writes counterexamples does not need them

    name, around = (engine, None) if engine else (counterexample.engine, counterexample.architecture)
    if name not in ENGINES:
        raise ReplayError(f"there is no engine `{name}`", f"There are: {', '.join(ENGINES)}.")
    every = (*judge.properties(counterexample.spec.program), *builtin.every())
    property = next((p for p in every if p.name == counterexample.property), None)
    if property is None:
        raise ReplayError(
            f"there is no property `{counterexample.property}`", f"There are: {', '.join(p.name for p in every)}."
        )
    execution = execute(counterexample.spec, counterexample.trace, ENGINES[name].around(around))
    return execution, property, property.judge(execution)
