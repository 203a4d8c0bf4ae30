"""How the results of `polysome test` are shown, and where its counterexamples are written."""

from __future__ import annotations

import json
from pathlib import Path

from polysome.captures.errors import CaptureError
from polysome.cli.common import ENVIRONMENT, UNTESTED, fail
from polysome.testing.campaign import Finding, Outcome, Result
from polysome.testing.counterexample import loads, report, write
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

_MORE = (
    "Give more time (`--seconds`), packets that meet the conditions (`--capture FILE`), "
    "or a config with which some do (`--config FILE`)."
)

Files = dict[str, list[Path]]  # the JSON of each counterexample by property, as its findings


def written(spec: Spec, result: Result, out: Path) -> Files:
    """The counterexamples as files; those after the first of a property have a number behind their names."""
    files: Files = {}
    for outcome in result.failed:
        for number, found in enumerate(outcome.findings, 1):
            try:
                again = loads(found.counterexample, spec)
                name = outcome.name if number == 1 else f"{outcome.name}-{number}"
                files.setdefault(outcome.name, []).append(write(out, again, report(again), name).replay)
            except (OSError, CaptureError) as error:
                said = error.strerror if isinstance(error, OSError) else error
                fail(ENVIRONMENT, f"{out}: {said}; the counterexample of {outcome.name} is not written")
    return files


def print_table(spec: Spec, plan: Plan, result: Result, files: Files) -> None:
    many = f"{result.traces:,} traces with {result.packets:,} packets in {result.seconds:.0f} s"
    print(f"{spec.program.name}: {many}, engine {_engine(plan)}, seed {plan.seed}")
    width = max(len(name) for name in result.outcomes)
    for outcome in result.outcomes.values():
        print(f"  {_verdict(outcome):<8} {outcome.name:<{width}}  {_remark(outcome)}".rstrip())
    for outcome in result.failed:
        for number, (found, file) in enumerate(zip(outcome.findings, files[outcome.name], strict=True)):
            print()
            if len(outcome.findings) > 1:
                print(f"{outcome.name}, way {number + 1} of {len(outcome.findings)}: {found.cause.said()}\n")
            print("\n".join(report(loads(found.counterexample, spec))))
            print(f"\n  again: polysome test {spec.path} --replay {file}")
    count = len(result.failed)
    print(f"\n{count} of {len(result.outcomes)} properties {'does' if count == 1 else 'do'} not hold" if count else "")
    if result.untested and not result.vacuous:
        print(f"{len(result.untested)} of {len(result.outcomes)} are untested. {_MORE}\n")


def check_tested(result: Result) -> None:
    """Ends with code 4 if nothing was tested: that all holds would say nothing then."""
    if result.vacuous:
        fail(UNTESTED, "nothing was tested", _MORE if result.untested else "Choose another engine with `--engine`.")


def _verdict(outcome: Outcome) -> str:
    if not outcome.holds:
        return "FAILS"
    if outcome.skipped is not None:
        return "skipped"
    return "untested" if outcome.untested else "holds"


def _remark(outcome: Outcome) -> str:
    if not outcome.holds:
        first, ways = outcome.findings[0], len(outcome.findings)
        again = "as before" if first.remembered else f"after {first.after:.1f} s"
        smallest = min(found.packets for found in outcome.findings)
        said = f"{again}; the smallest trace has {smallest} packet{'s' if smallest != 1 else ''}"
        return said if ways == 1 else f"{said}; {ways} ways"
    if outcome.skipped is not None:
        return outcome.skipped
    if outcome.untested:
        return "no trace met its conditions"
    return f"{outcome.cases:,} case{'s' if outcome.cases != 1 else ''} in {outcome.traces:,} traces"


def _engine(plan: Plan) -> str:
    return plan.engine if plan.architecture is None else f"{plan.engine} ({plan.architecture})"


def print_json(spec: Spec, plan: Plan, result: Result, files: Files) -> None:
    print(
        json.dumps(
            {
                "nf": spec.program.name,
                "engine": plan.engine,
                **({} if plan.architecture is None else {"architecture": plan.architecture}),
                "seed": plan.seed,
                "traces": result.traces,
                "packets": result.packets,
                "seconds": round(result.seconds, 3),
                "interrupted": result.interrupted,
                "properties": [
                    {
                        "name": o.name,
                        "verdict": _verdict(o).lower(),
                        "cases": o.cases,
                        "skipped": o.skipped,
                        "counterexamples": [
                            _found(f, path) for f, path in zip(o.findings, files.get(o.name, ()), strict=True)
                        ],
                    }
                    for o in result.outcomes.values()
                ],
            },
            indent=2,
        )
    )


def _found(found: Finding, file: Path) -> dict[str, object]:
    return {"file": str(file), "packets": found.packets, "decided": list(found.cause.decided)}
