"""What became of a spec's mutants, for people and for programs."""

from __future__ import annotations

from collections import Counter
from typing import Any

from polysome.engines import ENGINES
from polysome.resources import MEANING
from polysome.testing.counterexample import loads, timeline
from polysome.testing.counterexample.files import Counterexample
from polysome.testing.execution import execute
from polysome.testing.mutants.difference import NoDifference
from polysome.testing.mutants.mutant import Mutant, mutated
from polysome.testing.mutants.trials import Found, Mutants, Verdict
from polysome.testing.spec import Spec

_MOST_NAMES = 4  # of properties in the first lines
_MOST_LINES = 4  # of a fault
_WIDTH = 100
_EQUAL = {
    Verdict.proved: "the compiler makes the same of it",
    Verdict.twin: "the compiler makes the same of it as of another",
    Verdict.refused: "refused by the compiler",
    Verdict.undecided: "no time was left",
}


def summary(found: Mutants) -> list[str]:
    """How many fared how, and the score."""
    counts = Counter(f.verdict for f in found.found)
    width = max(len(v) for v in counts) if counts else 0
    lines = [f"  {v:<{width}}  {counts[v]:>4}  {_remark(found, v)}".rstrip() for v in Verdict if counts[v]]
    return [*lines, "", _score(found)]


def _remark(found: Mutants, verdict: Verdict) -> str:
    match verdict:
        case Verdict.noticed:
            by = Counter(f.property for f in found.of(verdict)).most_common()
            more = f", {len(by) - _MOST_NAMES} more" if len(by) > _MOST_NAMES else ""
            return "by " + ", ".join(f"{name} ({count})" for name, count in by[:_MOST_NAMES]) + more
        case Verdict.unnoticed:
            return "no property fails, though something else leaves"
        case Verdict.unreached:
            return "no packet gets there"
        case Verdict.equal:
            return f"what leaves is the same, on {min(f.traces for f in found.of(verdict)):,} traces at least"
        case _:
            return _EQUAL[verdict]


def _score(found: Mutants) -> str:
    if found.score is None:
        return "there was nothing to notice"
    noticed = len(found.of(Verdict.noticed))
    missed = len(found.of(Verdict.unnoticed, Verdict.unreached))
    return f"score: {noticed} of {noticed + missed} that differ were noticed ({_percent(found.score)})"


def _percent(score: float) -> str:
    """Never 100 % unless all were."""
    return "100 %" if score == 1 else f"{int(1000 * score) / 10} %"


def place(mutant: Mutant) -> str:
    """`nat.nf:41`."""
    return f"{mutant.written.name.rsplit('/', 1)[-1]}:{mutant.line}"


def head(found: Found) -> list[str]:
    """What the fault is."""
    lines = [f"{found.verdict}: {place(found.mutant)}, {found.mutant.fault} (mutant {found.mutant.number})"]
    for _, old, new in found.mutant.changed[:_MOST_LINES]:
        lines += [f"  {sign} {said.strip()}"[:_WIDTH] for sign, said in (("-", old), ("+", new)) if said.strip()]
    return lines


def example(spec: Spec, found: Found) -> tuple[Counterexample, list[str]]:
    """The smallest trace that tells a mutant from its spec, with what the mutant does and what the spec does."""
    mutant = mutated(spec, found.mutant)
    assert mutant is not None and found.counterexample is not None
    again = loads(found.counterexample, mutant)
    original = spec.small() if again.small else spec
    execution = execute(again.spec, again.trace, ENGINES[MEANING])
    failure = NoDifference(original, "").judge(execution).failure
    return again, timeline(execution, failure)


def as_json(spec: Spec, found: Mutants, files: dict[int, str]) -> dict[str, Any]:
    """All of it; `files`: captures by the numbers of mutants."""
    return {
        "nf": spec.program.name,
        "seconds": round(found.seconds, 3),
        "score": None if found.score is None else round(found.score, 4),
        "counts": {v.value: len(found.of(v)) for v in Verdict},
        "mutants": [
            {
                "number": f.mutant.number,
                "file": f.mutant.written.name,
                "line": f.mutant.line,
                "fault": f.mutant.fault,
                "changed": [{"line": n, "old": old, "new": new} for n, old, new in f.mutant.changed],
                "verdict": f.verdict.value,
                "property": f.property,
                "traces": f.traces,
                "capture": files.get(f.mutant.number),
            }
            for f in found.found
        ],
    }
