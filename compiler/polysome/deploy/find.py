"""Which deployment a command means."""

from __future__ import annotations

from pathlib import Path

from polysome.deploy.client import Endpoint
from polysome.deploy.errors import DeployError
from polysome.deploy.layout import SOCKET
from polysome.deploy.run import PLACE, read_record


def deployments() -> list[Path]:
    """The folders under /run/polysome with a controller's socket."""
    return sorted(path for path in PLACE.glob("*") if (path / SOCKET).exists())


def folder_of(deployment: str | None) -> Path:
    """A run folder, by its path or its NF's name under /run/polysome; None: the only one. DeployError, code 2."""
    if deployment is not None:
        for place in (PLACE / deployment if "/" not in deployment else Path(deployment), Path(deployment)):
            if (place / SOCKET).exists() or read_record(place) is not None:
                return place.absolute()
        here = ", ".join(path.name for path in deployments()) or "none"
        raise DeployError(f"there is no deployment {deployment} here", f"There are under {PLACE}: {here}.", code=2)
    found = deployments()
    if len(found) == 1:
        return found[0]
    if not found:
        mend = "Start one with `polysome up BUNDLE`, or name one elsewhere with --controller ADDRESS:PORT --tls FOLDER."
        raise DeployError(f"no deployment runs here: none is under {PLACE}", mend)
    names = ", ".join(path.name for path in found)
    raise DeployError(f"several deployments run here: {names}", f"Name one, as in `{found[0].name}`.", code=2)


def endpoint(deployment: str | None, controller: str | None, tls: Path | None) -> Endpoint:
    """Where to ask: --controller with --tls, or a deployment of this machine. DeployError, code 2."""
    if controller is None and tls is None:
        return endpoint_in(folder_of(deployment))
    if controller is None or tls is None or deployment is not None:
        mend = "Give both, and no deployment, as in `--controller 198.51.100.1:9560 --tls ./tls`."
        raise DeployError("--controller and --tls belong together: a controller elsewhere asks who you are", mend, 2)
    return Endpoint(controller, tls)


def endpoint_in(folder: Path) -> Endpoint:
    """The controller's Unix socket in a run folder."""
    return Endpoint(f"unix:{folder / SOCKET}")
