"""`polysome config`, `drain`, `undrain`: what an operator asks of a running deployment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polysome.cli import common
from polysome.cli.common import COMMAND_LINE, fail
from polysome.cli.status import Controller, Deployment, Tls

if TYPE_CHECKING:
    from polysome.deploy.client import Client

WORDS = typer.Argument(metavar="[DEPLOYMENT] SERVER", help="The deployment as in `status`, and an NF server of it.")
Words = Annotated[list[str], WORDS]


def drain(words: Words, controller: Controller = None, tls: Tls = None) -> None:
    """Take the traffic from an NF server; ends when another one has it, and nothing is held in the drained one."""
    deployment, server = _words(words)
    _ask(deployment, controller, tls, lambda client: client.drain(server))
    print(f"{server} is drained; `polysome undrain {' '.join(words)}` takes that back")


def undrain(words: Words, controller: Controller = None, tls: Tls = None) -> None:
    """Let an NF server have traffic again."""
    deployment, server = _words(words)
    _ask(deployment, controller, tls, lambda client: client.undrain(server))
    print(f"{server} may have traffic again")


def config(
    deployment: Deployment = None,
    configs: Annotated[
        list[str] | None,
        typer.Option(
            "--config", metavar="[NAME=]FILE", help="As with `compile`; what it does not say is as in the bundle."
        ),
    ] = None,
    spare: Annotated[
        list[str] | None,
        typer.Option("--spare", metavar="SERVER=RATE", help="What may be used of an RDMA server's link, as `40Gbps`."),
    ] = None,
    bundle: Annotated[
        Path | None, typer.Option("--bundle", metavar="FOLDER", help="Of the deployment, if it is not one of `up`.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also if no packet that the NF is for gets through with this config.")
    ] = False,
    controller: Controller = None,
    tls: Tls = None,
) -> None:
    """Change a deployment's config, on every NF server or on none; flows that are under way stay where they are."""
    from polysome.deploy.messages import control

    if not configs and not spare:
        fail(COMMAND_LINE, "nothing to change is given", "Give --config FILE or --spare SERVER=RATE.")
    request = control().ConfigureRequest(spare=[_spare(text) for text in spare or []], force=force)
    if configs:
        request.config = _blob(_bundle(bundle, deployment, controller), configs)
        request.version = hashlib.sha256(request.config).hexdigest()
    _ask(deployment, controller, tls, lambda client: client.configure(request))
    version = f"config {request.version[:12]} is in force" if configs else ""
    rates = ", ".join(f"{one.server} lends {one.rate} bit/s" for one in request.spare)
    print("; ".join(filter(None, (version, rates))))


def _words(words: Sequence[str]) -> tuple[str | None, str]:
    if len(words) > 2:
        fail(COMMAND_LINE, "a deployment and one NF server are expected", f"Write `{words[0]} {words[1]}`.")
    return (words[0] if len(words) == 2 else None), words[-1]


def _ask(deployment: str | None, controller: str | None, tls: Path | None, what: Callable[[Client], None]) -> None:
    """Ends with code 3 if there is no answer, 2 if the controller refuses."""
    from polysome.deploy.client import Refused, open_client
    from polysome.deploy.errors import DeployError
    from polysome.deploy.find import endpoint

    try:
        with open_client(endpoint(deployment, controller, tls)) as client:
            what(client)
    except Refused as error:
        fail(COMMAND_LINE, str(error), "Nothing has changed.")
    except DeployError as error:
        fail(error.code, str(error), error.mend)


def _spare(text: str) -> Any:
    from polysome.config.items import Item
    from polysome.config.scalars import Wrong, WrongShape, scalar
    from polysome.deploy.messages import control
    from polysome.ir import types as t
    from polysome.syntax.spans import Span

    server, equals, rate = text.partition("=")
    try:
        if server and equals:
            found = scalar(Item(rate, Span("--spare", 0, 0)), t.Quantity("bitrate"), ())
            return control().Spare(server=server, rate=int(found))
    except (Wrong, WrongShape):
        pass
    fail(COMMAND_LINE, f"--spare {text}: this is not SERVER=RATE", "Write for example `--spare memory1=10Gbps`.")


def _bundle(given: Path | None, deployment: str | None, controller: str | None) -> Path:
    from polysome.deploy.errors import DeployError
    from polysome.deploy.find import folder_of
    from polysome.deploy.run import read_record

    if given is not None:
        return given
    try:
        record = read_record(folder_of(deployment)) if controller is None else None
    except DeployError as error:
        fail(error.code, str(error), error.mend)
    if record is None:
        fail(COMMAND_LINE, "how the NF's config is made is in its bundle", "Name it with --bundle FOLDER.")
    return Path(record.bundle)


def _blob(bundle: Path, configs: Sequence[str]) -> bytes:
    """The config as the NF reads it; ends with code 2 if it is wrong."""
    from polysome.backends.nf_cpp.config_blob import encode
    from polysome.cli.deployed import SITE, program_of
    from polysome.deploy.bundle import open_bundle
    from polysome.deploy.errors import DeployError
    from polysome.plan.site_config import config_of
    from polysome.plan.site_file import open_site

    try:
        nf = open_bundle(bundle).nf
    except DeployError as error:
        fail(error.code, str(error), error.mend)
    program = program_of(bundle, nf)
    if program is None:
        fail(COMMAND_LINE, f"{bundle / 'source'} has no spec of `{nf}`", "Name its bundle with --bundle FOLDER.")
    with common.right_files() as report:
        return encode(program, config_of(open_site(str(bundle / SITE), report), program, report, configs).values)
