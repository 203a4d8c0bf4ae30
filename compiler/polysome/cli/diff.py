"""`polysome diff`: what a new bundle means for the machines that run an old one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail

if TYPE_CHECKING:
    from polysome.backends.bundle.compare import Difference
    from polysome.backends.bundle.opened import Bundle


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The bundle that runs.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The one that shall run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say for each machine what changes with a new bundle, why, and what is lost meanwhile."""
    from polysome.backends.bundle.compare import compare

    before, after = _open(old), _open(new)
    names = before.about["nf"], after.about["nf"]
    if names[0] != names[1]:
        what = f"{old} is a bundle of {names[0]}, {new} one of {names[1]}"
        fail(COMMAND_LINE, what, "Name two bundles of the same NF.")
    found = compare(before, after)
    if as_json:
        print(json.dumps({**asdict(found), "next": _next(found, new)}, indent=2))
        return
    print(_text(found, new), end="")


def _open(folder: Path) -> Bundle:
    from polysome.backends.bundle.opened import NoBundle, open_bundle

    try:
        return open_bundle(folder)
    except NoBundle as error:
        fail(COMMAND_LINE, str(error), "Write one with `polysome compile SPEC --site FILE -o FOLDER`.")
    except OSError as error:
        fail(ENVIRONMENT, f"{error.filename} cannot be read: {error.strerror}")


def _text(found: Difference, new: Path) -> str:
    """What was changed, then machine by machine."""
    if not found.inputs.all and all(m.change.value == "unchanged" for m in found.machines):
        return f"{found.nf}: the same for all machines\n"
    lines = [f"{found.nf}: what was changed", *(f"  {line}" for line in found.inputs.all or ("no input",))]
    lines += ["", "what that means"]
    first = max(len(machine.name) for machine in found.machines)
    for machine in found.machines:
        effect = f": {machine.effect}" if machine.effect else ""
        lines.append(f"  {machine.name.ljust(first)}  {machine.change}{effect}")
        lines += [f"  {' ' * first}    {why}" for why in machine.reasons]
    return "\n".join([*lines, "", f"next: {_next(found, new)}"]) + "\n"


def _next(found: Difference, new: Path) -> str:
    """The command that brings the new bundle onto the machines."""
    from polysome.backends.bundle.compare import Change

    nf = [machine.change for machine in found.machines if machine.role == "nf"]
    others = [machine.change for machine in found.machines if machine.role != "nf"]
    mild = all(change in (Change.unchanged, Change.configuration) for change in others)
    if found.worst is Change.unchanged:
        return "nothing to do"
    rolling = mild and Change.restart in nf and not {Change.new, Change.gone} & set(nf)
    book = "rolling-update.yml" if rolling else "playbook.yml"
    return f"ansible-playbook -i {new}/deploy/inventory.yml {new}/deploy/{book}"
