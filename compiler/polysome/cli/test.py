"""`polysome test`: tries to break an NF, and hands over the smallest trace that does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer

from polysome.cli import common
from polysome.cli.architecture import option
from polysome.cli.engine import OPTION, having, refuse
from polysome.engines import ENGINES
from polysome.engines.options import Ability
from polysome.resources import MEANING
from polysome.testing.plan import Plan, Sizes

_ASKED_THEN = ("only", "engine", "architecture", "seconds", "traces", "seed", "sizes", "capture", "first")


def test(
    context: typer.Context,
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The NF, a file that ends in .nf.")],
    only: Annotated[
        list[str] | None, typer.Option("--property", metavar="NAME", help="Only this property; may be repeated.")
    ] = None,
    engine: Annotated[str, OPTION] = MEANING,
    architecture: Annotated[str | None, option(f"With {having(Ability.machines)}: ")] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds", min=0.1, callback=common.finite, help="How long to look: 30 seconds; with --mutants 120."
        ),
    ] = None,
    traces: Annotated[
        int | None, typer.Option("--traces", min=1, help="At most so many traces; with --mutants for each.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeats a run; otherwise each looks elsewhere.")] = None,
    sizes: Annotated[
        Sizes, typer.Option("--sizes", help="Room in state: a few entries, as declared, or in turn.")
    ] = Sizes.both,
    param: Annotated[list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="Override a param.")] = None,
    config: Annotated[
        list[str] | None,
        typer.Option(
            "--config", metavar="[NAME=]FILE", help="What the config is at the start; otherwise it is made up."
        ),
    ] = None,
    capture: Annotated[
        list[Path] | None,
        typer.Option("--capture", metavar="FILE", help="A capture; some of the traffic is made from its packets."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where counterexamples are written.")] = Path(
        "counterexamples"
    ),
    database: Annotated[
        Path, typer.Option("--database", metavar="FOLDER", help="What failed once, and is tried first.")
    ] = Path(".polysome"),
    workers: Annotated[
        str, typer.Option("--workers", metavar="N|ray", help="Processes of this machine, or a Ray cluster.")
    ] = "1",
    first: Annotated[bool, typer.Option("-x", "--first", help="Stop at the first failure.")] = False,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="FILE", help="Run a counterexample again, and judge it.")
    ] = None,
    coverage: Annotated[
        bool,
        typer.Option(
            "--coverage",
            help="Say which lines of the spec tests reach, and which none can; "
            "with --engine system, what they reach of the switch's program.",
        ),
    ] = False,
    mutants: Annotated[
        bool,
        typer.Option(
            "--mutants",
            help="Put faults into the spec, one at a time, and say which of them no property notices.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with the campaign in --database that was interrupted, as it was asked for then."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Test an NF against its properties and those of every NF, on traffic made from the spec."""
    from polysome.cli import campaigns, outcomes  # Hypothesis and all: a third of a second that others do not need

    refuse(ENGINES[engine], {"--architecture": (architecture, Ability.machines)})
    if resume:
        _check_resumed(context)
    loaded = campaigns.loaded(spec, param or [], config or [])
    start = random.randrange(1 << 32) if seed is None else seed
    chosen, captures = tuple(only or ()), tuple(capture or ())
    limit = seconds if seconds is not None else 120.0 if mutants else 30.0
    plan = Plan(engine, architecture, sizes, start, limit, traces, chosen, captures, first)
    campaigns.check_names(loaded, plan)
    if mutants:
        other = {"--replay": replay is not None, "--coverage": coverage, "--workers ray": workers == "ray"}
        other[f"--engine {engine}"] = engine != MEANING
        if given := next((name for name, there in other.items() if there), None):
            mend = "Give one of them; mutants are tried on the interpreter, by processes of this machine."
            common.fail(common.COMMAND_LINE, f"--mutants and {given} do not go together", mend)
    if replay is not None:
        raise SystemExit(campaigns.replayed(loaded, plan, replay, as_json))
    if coverage:
        raise SystemExit(campaigns.covered(loaded, plan, as_json))
    if mutants:
        from polysome.cli.mutants import tried

        raise SystemExit(tried(loaded, plan, workers, out, as_json))
    plan, result = campaigns.performed(loaded, plan, database, workers, resume)
    files = outcomes.written(loaded, result, out)
    (outcomes.print_json if as_json else outcomes.print_table)(loaded, plan, result, files)
    if result.interrupted:
        again = f"polysome test {spec} --resume"
        common.fail(common.INTERRUPTED, "the campaign was interrupted", f"To go on with it: {again}")
    outcomes.check_tested(result)
    raise SystemExit(common.SPEC if result.failed else 0)


def _check_resumed(context: typer.Context) -> None:
    """Ends if something is asked for that the campaign was asked for when it began, or that is no campaign."""
    for p in context.command.params:
        source = context.get_parameter_source(p.name or "")
        given = source is not None and source.name == "COMMANDLINE"
        if given and p.name in (*_ASKED_THEN, "replay", "coverage", "mutants"):
            mend = "Leave one of them out; --workers, --out and --json may be others now."
            common.fail(common.COMMAND_LINE, f"--resume and {max(p.opts, key=len)} do not go together", mend)
