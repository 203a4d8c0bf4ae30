"""The architecture on the command line."""

from __future__ import annotations

import typer

from polysome.plan.site import Site
from polysome.resources import architectures


def _known(name: str | None) -> str | None:
    if name is not None and name not in architectures():
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, architectures()))}.")
    return name


def option(when: str = "") -> object:
    """`when`: what it needs, in front of what it is."""
    what = f"How packets get to the NF; else as the site file says, or {Site.architecture}."
    return typer.Option("--architecture", metavar="|".join(architectures()), callback=_known, help=when + what)


OPTION = option()
