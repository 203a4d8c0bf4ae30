"""`polysome certificates`: what a deployment's authority has signed, and what it signs and revokes now."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from polysome.cli.common import COMMAND_LINE, fail

if TYPE_CHECKING:
    from polysome.deploy.certificates import Listed

DUE = 1
BRING = "`ansible-playbook -i inventory.yml playbook.yml --tags certificates`"

app = typer.Typer(
    help="List, renew and revoke the certificates of a deployment, where its authority is.", no_args_is_help=True
)
Folder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Of the authority: polysome_certificates of inventory.yml, or RUN/tls.")
]


@app.command("list")
def list_(
    folder: Folder, as_json: Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")] = False
) -> None:
    """Show all certificates. Exit code 0: none is due; 1: one ends within 30 days, or is revoked; 2: no authority."""
    from polysome.deploy.certificates import listed
    from polysome.deploy.errors import DeployError

    try:
        found = listed(folder)
    except DeployError as error:
        fail(error.code, str(error), error.mend)
    print(json.dumps([asdict(one) | {"days": one.days} for one in found], indent=2) if as_json else _table(found))
    if any(one.due for one in found):
        raise SystemExit(DUE)


def _table(found: Sequence[Listed]) -> str:
    rows = [("name", "serial", "not before", "not after", "days", "")]
    for one in found:
        state = "revoked" if one.revoked else "expired" if one.days < 0 else "renew it" if one.due else ""
        rows.append((one.name, one.serial, _time(one.begins), _time(one.ends), str(one.days), state))
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


@app.command("renew")
def renew(
    folder: Folder,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="These, due or not.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All, due or not.")] = False,
) -> None:
    """Sign anew every certificate that ends within 30 days, from its stored request. Parts take it while they run."""
    from polysome.deploy import certificates
    from polysome.deploy.errors import DeployError

    if names and every:
        fail(COMMAND_LINE, "names and --all are given", "Give names, or --all.")
    try:
        _tell(certificates.renew(folder, names or (), every))
    except DeployError as error:
        fail(error.code, str(error), error.mend)


@app.command("revoke")
def revoke(folder: Folder, name: Annotated[str, typer.Argument(metavar="NAME", help="Whose key is no more.")]) -> None:
    """Have all parts refuse a name's certificates, from the moment that they have the new list; needs a new key."""
    from polysome.deploy import certificates
    from polysome.deploy.errors import DeployError

    try:
        _tell(certificates.revoke(folder, name))
    except DeployError as error:
        fail(error.code, str(error), error.mend)


def _tell(done: str) -> None:
    print(done)
    if "nothing was due" not in done:
        print(f"next, unless the parts read this folder: {BRING}")
