"""`polysome status`: is a deployment healthy?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from polysome.cli.common import fail, warn

DEPLOYMENT = typer.Argument(
    metavar="[DEPLOYMENT]",
    help="The NF's name under /run/polysome, or a folder that `polysome up --run-folder` was given; else the only one.",
)
CONTROLLER = typer.Option("--controller", metavar="ADDRESS:PORT", help="A controller elsewhere; needs --tls.")
TLS = typer.Option("--tls", metavar="FOLDER", help="authority.pem, operator.pem and operator.key.")

Deployment = Annotated[str | None, DEPLOYMENT]
Controller = Annotated[str | None, CONTROLLER]
Tls = Annotated[Path | None, TLS]

DOWN = 1


def status(
    deployment: Deployment = None,
    controller: Controller = None,
    tls: Tls = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the controller's answer as one JSON object.")] = False,
) -> None:
    """Show a deployment's parts, links and losses. Exit code 0: all is up; 1: something is not; 3: no answer."""
    from polysome.cli.deployment_text import healthy, text_of
    from polysome.deploy.messages import text

    found, where = ask(deployment, controller, tls)
    print(text(found) if as_json else text_of(found, where), end="")
    if not healthy(found):
        raise SystemExit(DOWN)


def ask(deployment: str | None, controller: str | None, tls: Path | None) -> tuple[Any, str]:
    """A ControllerStatus and where it came from; ends with code 3 if there is no answer, 2 for the command line."""
    from polysome.deploy.client import open_client
    from polysome.deploy.errors import DeployError
    from polysome.deploy.find import endpoint

    try:
        place = endpoint(deployment, controller, tls)
        with open_client(place) as client:
            if client.complaint:
                warn(client.complaint, f"polysome certificates renew {tls}")
            return client.status(), place.target
    except DeployError as error:
        fail(error.code, str(error), error.mend)
