"""The properties that a campaign judges, and when."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.testing import builtin, judge
from polysome.testing.builtin.crash import PROPERTY as NO_CRASH
from polysome.testing.execution import Execution, Judgement, Property
from polysome.testing.spec import Spec

_RERUN = 5  # in one of so many traces a property that runs them again is judged: else most of the time would be theirs
_EVERYTHING = 3  # traces, the first ones, on which all are


def properties(spec: Spec) -> tuple[Property, ...]:
    """The spec's own, those of the libraries it uses, then the built-in ones that concern it."""
    return (*judge.properties(spec.program), *(p for p in builtin.every() if p.concerns(spec.program)))


def names(spec: Spec) -> Sequence[str]:
    """All properties that a campaign judges, by name."""
    return [p.name for p in properties(spec)]


def chosen(spec: Spec, only: Sequence[str]) -> dict[str, Property]:
    """Those in `only` by name, all if it is empty. LookupError for the first name that is none."""
    every = {p.name: p for p in properties(spec)}
    if unknown := [name for name in only if name not in every]:
        raise LookupError(unknown[0])
    return {name: p for name, p in every.items() if not only or name in only}


def due(p: Property, place: int, number: int) -> bool:
    """Is property number `place` judged on trace `number`? That is told by these alone: a seed repeats a campaign."""
    return not p.reruns or number < _EVERYTHING or (number + place) % _RERUN == 0


def judged(p: Property, execution: Execution) -> Judgement:
    """What the property says; after a crash only the property that forbids it says anything."""
    if execution.record.crash is not None and p is not NO_CRASH:
        return Judgement(None, 0)
    return p.judge(execution)
