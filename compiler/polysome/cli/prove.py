"""`polysome prove`: that the switch's program does to every packet what the spec says."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from polysome.cli import common
from polysome.cli.plan import Carried, Carries, Chosen, Model, Params, SiteFile, SpecFile, inputs, planned


def prove(
    spec: SpecFile,
    site: SiteFile = None,
    switch: Model = "",
    architecture: Chosen = None,
    carry: Carries = Carried.fields,
    param: Params = None,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", min=0.1, callback=common.finite, help="How long it may take; what is left then is not proved."
        ),
    ] = 600.0,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where packets that break something are written.")
    ] = Path("counterexamples"),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every result, path by path, as one JSON object.")
    ] = False,
) -> None:
    """Prove that the switch's P4 program, by its text, does to every packet what the spec says.

    A packet that breaks it is printed, written as a capture, and run on all engines. Exit code 1 if there is one, or if
    time ran out.
    """
    from polysome.backends.system.proof import results
    from polysome.cli import proof_text
    from polysome.testing.spec import Spec

    program, place = inputs(spec, site, switch, architecture, carry.value, param or [])
    made = planned(program, place, carry.value)
    start = time.monotonic()
    with proof_text.progress(made, as_json) as seen:
        found = [seen(result) for result in results(made, seconds)]
    took = time.monotonic() - start
    if as_json:
        print(json.dumps(proof_text.as_json(made, found, took), indent=2))
    else:
        print(proof_text.table(made, found, took), end="")
    failed = proof_text.not_proved(found)
    if failed and not as_json:
        print(proof_text.stories(Spec(spec, program), failed, out), end="")
    raise SystemExit(common.SPEC if failed else 0)
