"""`polysome top`: a deployment's links, servers and losses, again and again."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from polysome.cli.common import fail
from polysome.cli.status import Controller, Deployment, Tls, ask

PERIOD = 1.0  # s


def top(deployment: Deployment = None, controller: Controller = None, tls: Tls = None) -> None:
    """Show a deployment, anew every second, until `q` or Ctrl-C; once if this is no terminal."""
    from polysome.cli.deployment_text import text_of, view
    from polysome.deploy.client import open_client
    from polysome.deploy.errors import DeployError
    from polysome.deploy.find import endpoint

    if not sys.stdout.isatty():
        print(text_of(*ask(deployment, controller, tls)), end="")
        return
    try:
        place = endpoint(deployment, controller, tls)
        with open_client(place) as client, suppress(KeyboardInterrupt):
            client.status()  # nothing to show at all is an error; later it may come back
            _show(lambda: view(client.status(), place.target))
    except DeployError as error:
        fail(error.code, str(error), error.mend)


def _show(picture: Callable[[], Any]) -> None:
    from rich.live import Live

    from polysome.deploy.errors import DeployError

    with _keys() as pressed, Live(screen=True, auto_refresh=False) as live:
        while True:
            try:
                live.update(picture(), refresh=True)
            except DeployError as error:
                live.update(f"{error}", refresh=True)
            if pressed(PERIOD) == "q":
                return


def _wait(seconds: float) -> str:
    time.sleep(seconds)
    return ""


@contextmanager
def _keys() -> Iterator[Callable[[float], str]]:
    """What key is pressed within so many seconds, "" if none; as soon as it is pressed, without Enter."""
    if not sys.stdin.isatty():
        yield _wait
        return
    import termios
    import tty

    before = termios.tcgetattr(sys.stdin)

    def pressed(seconds: float) -> str:
        return sys.stdin.read(1) if select.select([sys.stdin], [], [], seconds)[0] else ""

    try:
        tty.setcbreak(sys.stdin)
        yield pressed
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
