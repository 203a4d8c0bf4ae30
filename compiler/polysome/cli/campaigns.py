"""The work of `polysome test`: campaigns, replays, coverage, and how their results are shown."""

from __future__ import annotations

import json
import os
from pathlib import Path

from polysome.captures.errors import CaptureError
from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, UNTESTED, fail
from polysome.config.items import ConfigFileError
from polysome.engines import ENGINES
from polysome.engines.options import Ability, Unsupported
from polysome.p4.coverage import Coverage as SwitchCoverage
from polysome.syntax.diagnostics import SpecError, did_you_mean
from polysome.testing.campaign import Outcome, Result, judged, names, properties
from polysome.testing.counterexample import Counterexample, ReplayError, loads, read_capture, report, write
from polysome.testing.execution import execute
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec, load
from polysome.testing.workers import Task, on_processes, on_ray

_MORE = (
    "Give more time (`--seconds`), packets that meet the conditions (`--capture FILE`), "
    "or a config with which some do (`--config FILE`)."
)
_PER_CPU = 4  # workers; more of them take memory and find nothing sooner


def loaded(path: Path, params: list[str], config: list[str]) -> Spec:
    """The spec; ends with its errors (code 1) or those of the command line and the config (code 2)."""
    program = common.spec(path, params)
    if not config:
        return Spec(path, program, common.pairs("--param", params))
    try:
        return load(path, common.pairs("--param", params), config)
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(COMMAND_LINE) from None
    except ConfigFileError as error:
        fail(COMMAND_LINE, str(error))


def check_names(spec: Spec, plan: Plan) -> None:
    """Ends if a property or a capture is not there."""
    known = names(spec)
    for name in plan.only:
        if name not in known:
            fail(COMMAND_LINE, f"--property {name}: there is no such property", did_you_mean(name, known))
    for path in plan.captures:
        if not path.is_file():
            fail(COMMAND_LINE, f"--capture {path}: there is no such file")


def task(
    path: Path,
    params: tuple[tuple[str, str], ...],
    config: tuple[str, ...],
    plan: Plan,
    database: Path | None = None,
) -> Task:
    """What workers are to do, with paths that hold in another process too."""
    kept = database.resolve() if database is not None else None
    return Task(path.resolve(), params, tuple(map(_absolute, config)), plan, kept)


def performed(task: Task, workers: str) -> Result:
    """The campaign on one or several workers; ends with code 3 if something is missing for it."""
    try:
        if workers == "ray":
            return on_ray(task)
        return on_processes(task, processes(workers))
    except Unsupported as lacking:
        fail(ENVIRONMENT, str(lacking))


def processes(workers: str) -> int:
    """A number of processes; ends with code 2 if it is none, or more than make sense here."""
    if not workers.isdecimal() or not workers.strip("0"):
        fail(COMMAND_LINE, f"--workers {workers}: a number or `ray` was expected", "Write for example `4`.")
    most = _PER_CPU * (os.cpu_count() or 1)
    if len(workers) > 9 or int(workers) > most:
        fail(COMMAND_LINE, f"--workers {workers}: this machine has CPUs for {most} at most", f"Write `{most}` or less.")
    return int(workers)


def _absolute(config: str) -> str:
    """`[NAME=]FILE` with a path that also holds in another process."""
    name, equals, file = config.rpartition("=")
    return f"{name}{equals}{Path(file).resolve()}"


# ---------------------------------------------------------------- results


def written(spec: Spec, result: Result, out: Path) -> dict[str, Path]:
    """The counterexamples as files: the JSON of each by property."""
    files = {}
    for outcome in result.failed:
        assert outcome.counterexample is not None
        try:
            found = loads(outcome.counterexample, spec)
            files[outcome.name] = write(out, found, report(found)).replay
        except (OSError, CaptureError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            fail(ENVIRONMENT, f"{out}: {said}; the counterexample of {outcome.name} is not written")
    return files


def print_table(spec: Spec, plan: Plan, result: Result, files: dict[str, Path]) -> None:
    many = f"{result.traces:,} traces with {result.packets:,} packets in {result.seconds:.0f} s"
    print(f"{spec.program.name}: {many}, engine {_engine(plan)}, seed {plan.seed}")
    width = max(len(name) for name in result.outcomes)
    for outcome in result.outcomes.values():
        print(f"  {_verdict(outcome):<8} {outcome.name:<{width}}  {_remark(outcome)}".rstrip())
    for outcome in result.failed:
        assert outcome.counterexample is not None
        print()
        print("\n".join(report(loads(outcome.counterexample, spec))))
        print(f"\n  again: polysome test {spec.path} --replay {files[outcome.name]}")
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
        again = "as before" if outcome.remembered else f"after {outcome.found_after:.1f} s"
        return f"{again}; the smallest trace has {outcome.packets} packet{'s' if outcome.packets != 1 else ''}"
    if outcome.skipped is not None:
        return outcome.skipped
    if outcome.untested:
        return "no trace met its conditions"
    return f"{outcome.cases:,} case{'s' if outcome.cases != 1 else ''} in {outcome.traces:,} traces"


def _engine(plan: Plan) -> str:
    return plan.engine if plan.architecture is None else f"{plan.engine} ({plan.architecture})"


def print_json(spec: Spec, plan: Plan, result: Result, files: dict[str, Path]) -> None:
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
                "properties": [
                    {
                        "name": o.name,
                        "verdict": _verdict(o).lower(),
                        "cases": o.cases,
                        "skipped": o.skipped,
                        "packets": o.packets if not o.holds else None,
                        "counterexample": str(files[o.name]) if not o.holds else None,
                    }
                    for o in result.outcomes.values()
                ],
            },
            indent=2,
        )
    )


# ---------------------------------------------------------------- other work


def replayed(spec: Spec, plan: Plan, path: Path, as_json: bool) -> int:
    """Runs a counterexample again; 1 if its property (or, of a plain capture, any) still does not hold.

    Ends with code 4 if a plain capture does not meet the conditions. A counterexample did once: an NF that was mended
    often takes care that it does so no more.
    """
    found = _counterexample(spec, path)
    engine = ENGINES[plan.engine].around(plan.architecture)
    execution = execute(found.spec, found.trace, engine)
    wanted = plan.only or ((found.property,) if found.property else ())
    failed, cases = [], 0
    for p in properties(spec):
        if wanted and p.name not in wanted:
            continue
        judgement = judged(p, execution)
        cases += judgement.cases
        if judgement.failure is not None:
            failed.append(p.name)
    if as_json:
        print(json.dumps({"nf": spec.program.name, "engine": plan.engine, "failed": failed}))
    if not failed and not cases and not found.property:
        fail(UNTESTED, f"{path}: nothing in it meets the conditions of {', '.join(wanted) or 'any property'}")
    if not failed and not as_json:
        print(f"{path}: {', '.join(wanted) or 'every property'} holds on this trace")
    for name in failed if not as_json else ():
        again = Counterexample(found.spec, found.small, engine.name, name, found.trace, engine.architecture)
        print("\n".join(report(again)) + "\n")
    return SPEC if failed else 0


def _counterexample(spec: Spec, path: Path) -> Counterexample:
    """What is in the file, for the spec as it is now; a capture without its JSON beside it is just packets."""
    beside = path.with_suffix(".json")
    try:
        if beside.is_file():
            return loads(beside.read_bytes(), spec)
        return Counterexample(spec, False, "", "", read_capture(path, spec))
    except ReplayError as error:
        fail(COMMAND_LINE, f"{path}: {error.message}", error.mend)
    except CaptureError as error:
        fail(COMMAND_LINE, str(error))
    except OSError as error:
        fail(COMMAND_LINE, f"{path} cannot be read: {error.strerror}")


def covered(spec: Spec, plan: Plan, as_json: bool) -> int:
    """What tests reach of the spec; 1 if something that is not proved unreachable was not reached.

    On an engine that has one, what they reach of the switch's program, which says nothing about the spec: 0.
    """
    from polysome.testing import coverage
    from polysome.testing.coverage import emitted

    try:
        if Ability.coverage in ENGINES[plan.engine].abilities:
            reached = emitted.campaign(spec, plan.seconds, plan.seed, plan.captures, plan.architecture)
            return _switch_covered(reached, as_json)
        found = coverage.campaign(spec, plan.seconds, plan.seed)
    except Unsupported as lacking:
        fail(ENVIRONMENT, str(lacking))
    except (CaptureError, OSError) as error:
        fail(COMMAND_LINE, f"--capture: {error}")
    print(json.dumps(coverage.as_json(found), indent=2) if as_json else "\n".join(coverage.report(found)))
    return 0 if found.complete else SPEC


def _switch_covered(found: SwitchCoverage, as_json: bool) -> int:
    print(json.dumps(found.to_json(), indent=2) if as_json else "\n".join(found.lines()))
    return 0
