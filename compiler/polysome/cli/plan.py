"""`polysome plan`: how packets are split and parked on a site, with the formula of every number."""

from __future__ import annotations

import dataclasses
import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polysome.cli import common
from polysome.cli.architecture import OPTION as architecture_option
from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, SPEC, fail
from polysome.ir import program as ir
from polysome.syntax.diagnostics import SpecError, one_of

if TYPE_CHECKING:
    from polysome.analysis.layout import Carry
    from polysome.plan.design import Design
    from polysome.plan.model import Plan
    from polysome.plan.site import Site


class Carried(StrEnum):
    """What the NF link carries: the relevant fields, or as Ribosome does, all headers."""

    fields = "fields"
    headers = "headers"


# What is planned: arguments of `plan` and `prove`.
SpecFile = Annotated[Path, typer.Argument(help="The NF, a file that ends in .nf.")]
SiteFile = Annotated[
    Path | None, typer.Option("--site", metavar="FILE", help="The site, a TOML file; else one that fits the load.")
]
Model = Annotated[str, typer.Option("--switch", metavar="MODEL", help="Without --site: software, tofino, tofino2.")]
Chosen = Annotated[str | None, architecture_option]
Carries = Annotated[Carried, typer.Option("--carry", help="What travels to the NF.")]
Params = Annotated[list[str] | None, typer.Option("--param", metavar="NAME=VALUE", help="Override a param.")]


def plan(
    spec: SpecFile,
    site: SiteFile = None,
    switch: Model = "",
    architecture: Chosen = None,
    carry: Carries = Carried.fields,
    param: Params = None,
    p4: Annotated[
        Path | None, typer.Option("--p4", metavar="FILE", help="Write the switch's program for this plan, P4_16.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the plan as one JSON object.")] = False,
) -> None:
    """Plan the deployment: frames, threshold, cells, slots, queue pairs, servers, and the load of every link."""
    program, place = inputs(spec, site, switch, architecture, carry.value, param or [])
    made = _plan(program, place, carry.value)
    if p4 is not None:
        _write(p4, program, place, carry.value)
    if as_json:
        print(json.dumps(dataclasses.asdict(made), indent=2))
        return
    from polysome.cli.plan_text import text_of

    print(text_of(made), end="")


def _write(path: Path, program: ir.Program, place: Site, carry: Carry) -> None:
    """Ends with code 3 if the file cannot be written."""
    from polysome.backends.system.library import p4_text

    try:
        path.write_text(p4_text(planned(program, place, carry)), encoding="utf-8")
    except OSError as error:
        fail(ENVIRONMENT, f"{path} cannot be written: {error.strerror}")


def planned(program: ir.Program, place: Site, carry: Carry) -> Design:
    """All that is fixed of the system; ends with code 1 if the plan does not fit."""
    from polysome.plan.design import design

    try:
        return design(program, place, None, carry)
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(SPEC) from None


def inputs(
    spec: Path, site: Path | None, switch: str, architecture: str | None, carry: str, param: list[str]
) -> tuple[ir.Program, Site]:
    """The program and where it is planned for; ends with code 2 and all errors if the site or the model is wrong."""
    from polysome.plan import targets
    from polysome.plan.site import Site
    from polysome.plan.split import fitting_site

    if site is not None and switch:
        fail(COMMAND_LINE, "--site and --switch: the site file names its switch", "Give one of them.")
    if site is None:
        switch = switch or "software"
        if switch not in targets.known("switch"):
            fail(COMMAND_LINE, f"--switch {switch}: there is no such model", one_of(switch, targets.known("switch")))
        program = common.spec(spec, param)
        carried: Carry = "headers" if carry == "headers" else "fields"
        chosen = architecture or Site.architecture
        return program, fitting_site(program, switch, carry=carried, architecture=chosen)
    return common.sited(spec, site, param, architecture=architecture)


def _plan(program: ir.Program, site: Site, carry: str) -> Plan:
    from polysome.plan.model import Options
    from polysome.plan.split import plan as make

    try:
        return make(program, site, Options(carry="headers" if carry == "headers" else "fields"))
    except SpecError as error:
        common.show(error.diagnostics, error.sources)
        raise SystemExit(SPEC) from None
