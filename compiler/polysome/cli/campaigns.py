"""The work of `polysome test`: campaigns, replays and coverage."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path

from hypothesis.database import DirectoryBasedExampleDatabase

from polysome.captures.errors import CaptureError
from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, UNTESTED, fail
from polysome.cli.progress import progress
from polysome.config.items import ConfigFileError
from polysome.engines import ENGINES
from polysome.engines.options import Ability, Unsupported
from polysome.p4.coverage import Coverage as SwitchCoverage
from polysome.syntax.diagnostics import SpecError, did_you_mean
from polysome.testing.campaign import (
    Campaign,
    Crew,
    Here,
    Journal,
    Nothing,
    Processes,
    Ray,
    Result,
    judged,
    names,
    properties,
)
from polysome.testing.counterexample import Counterexample, ReplayError, loads, read_capture, report
from polysome.testing.execution import execute
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec, load
from polysome.testing.traffic import captured

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
    """Ends if a property is not there, or a capture cannot be read."""
    known = names(spec)
    for name in plan.only:
        if name not in known:
            fail(COMMAND_LINE, f"--property {name}: there is no such property", did_you_mean(name, known))
    _check_captures(plan)


def _check_captures(plan: Plan) -> None:
    try:
        captured.read(plan.captures)
    except CaptureError as error:
        fail(COMMAND_LINE, f"--capture {error}")


def performed(spec: Spec, plan: Plan, folder: Path, workers: str, resume: bool) -> tuple[Plan, Result]:
    """The campaign on one or several workers, or the rest of the one in `folder` that was interrupted; and its plan.

    Ends with code 2 if there is none, with 3 if something is missing for it.
    """
    try:
        crew = _crew(spec, workers)
    except Unsupported as lacking:
        fail(ENVIRONMENT, str(lacking))
    with closing(crew):
        journal = _journal(spec, plan, folder, resume)
        over = False
        try:
            _check_captures(journal.plan)
            campaign = Campaign(spec, journal.plan, DirectoryBasedExampleDatabase(folder), journal)
            with progress(spec.program.name) as show:
                result = campaign.run(crew, lambda result: show(_so_far(journal.plan, result)))
            over = not result.interrupted
        except (Unsupported, CaptureError) as lacking:  # the second where a node lacks a capture
            fail(ENVIRONMENT, str(lacking))
        finally:
            journal.close(over=over)
    return journal.plan, result


def _journal(spec: Spec, plan: Plan, folder: Path, resume: bool) -> Journal:
    try:
        return Journal.resume(folder, spec) if resume else Journal.begin(folder, spec, plan)
    except Nothing as error:
        fail(COMMAND_LINE, f"--resume: {error}", "Leave it out to begin anew; what failed is tried first then.")
    except OSError as error:
        fail(ENVIRONMENT, f"--database {folder}: {error.strerror}", "Give a folder that can be written.")


def _crew(spec: Spec, workers: str) -> Crew:
    if workers == "ray":
        return Ray(spec)
    many = processes(workers)
    return Processes(spec, many) if many > 1 else Here(spec)


def _so_far(plan: Plan, result: Result) -> str:
    limit = "" if plan.traces is None else f" of {plan.traces:,}"
    fail = len(result.failed)
    broken = f", {fail} of {len(result.outcomes)} properties {'does' if fail == 1 else 'do'} not hold" if fail else ""
    return f"{result.traces:,}{limit} traces{broken}"


def processes(workers: str) -> int:
    """A number of processes; ends with code 2 if it is none, or more than make sense here."""
    if not workers.isdecimal() or not workers.strip("0"):
        fail(COMMAND_LINE, f"--workers {workers}: a number or `ray` was expected", "Write for example `4`.")
    most = _PER_CPU * (os.cpu_count() or 1)
    if len(workers) > 9 or int(workers) > most:
        fail(COMMAND_LINE, f"--workers {workers}: this machine has CPUs for {most} at most", f"Write `{most}` or less.")
    return int(workers)


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
