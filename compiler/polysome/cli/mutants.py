"""The work of `polysome test --mutants`: faults are put into a spec, and those that nothing notices are shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from polysome.captures.errors import CaptureError
from polysome.cli.campaigns import processes
from polysome.cli.common import ENVIRONMENT, SPEC, UNTESTED, fail
from polysome.cli.progress import progress
from polysome.testing.counterexample import Counterexample, write_trace
from polysome.testing.mutants import Mutants, SpecFails, Verdict, on_processes
from polysome.testing.mutants.text import as_json, example, head, summary
from polysome.testing.mutants.trials import Progress
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

_SHOWN = (Verdict.unnoticed, Verdict.unreached, Verdict.equal)


def tried(spec: Spec, plan: Plan, workers: str, out: Path, json_wanted: bool) -> int:
    """Tries them, prints what became of them, and writes a trace for each that nothing notices.

    The exit code: 1 if there is one, or one that no packet reached; ends with 1 if the spec itself fails, with 2 for a
    wrong number of workers, with 4 if there is nothing to notice.
    """
    many = processes(workers)
    try:
        with _progress(spec) as seen:
            found = on_processes(spec, plan, many, seen)
    except SpecFails as fails:
        mend = f"Mend it first: polysome test {spec.path} --property {str(fails)!r}"
        fail(SPEC, f"{spec.path} does not hold its own property {fails}, so its mutants say nothing", mend)
    stories = {f.mutant.number: example(spec, f) for f in found.of(Verdict.unnoticed)}
    files = {number: _written(spec, out, number, *story) for number, story in stories.items()}
    if json_wanted:
        print(json.dumps(as_json(spec, found, {n: str(p) for n, p in files.items()}), indent=2))
    else:
        _print(spec, plan, many, found, {n: (files[n], lines) for n, (_, lines) in stories.items()})
    if found.score is None:
        fail(UNTESTED, "no mutant was tried that differs", "Give more time (`--seconds`).")
    return SPEC if found.of(Verdict.unnoticed, Verdict.unreached) else 0


def _written(spec: Spec, out: Path, number: int, found: Counterexample, lines: list[str]) -> Path:
    try:
        return write_trace(out, f"mutant-{number}", found.spec.program, found.trace, lines).capture
    except (OSError, CaptureError) as error:
        said = error.strerror if isinstance(error, OSError) else error
        fail(ENVIRONMENT, f"{out}: {said}; the trace of mutant {number} is not written")


def _print(spec: Spec, plan: Plan, many: int, found: Mutants, stories: dict[int, tuple[Path, list[str]]]) -> None:
    workers = f"{many} worker{'s' if many > 1 else ''}"
    time = f"{found.seconds:.0f} s on {workers}, seed {plan.seed}"
    print(f"{spec.program.name}: {len(found.found)} mutants in {time}")
    for verdict in _SHOWN:
        for one in found.of(verdict):
            print("\n".join(["", *head(one)]))
            if one.mutant.number in stories:
                path, lines = stories[one.mutant.number]
                print("\n".join(["", *(f"  {line}".rstrip() for line in lines), "", f"  written to {path}"]))
    print("\n" + "\n".join(summary(found)))


@contextmanager
def _progress(spec: Spec) -> Iterator[Progress]:
    with progress(spec.program.name) as show:
        show("looking for faults to make")
        yield lambda traces, done, left: show(f"{left} mutants left, {done} looked at on up to {traces:,} traces")
