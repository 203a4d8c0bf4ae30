"""`polysome up`: a bundle on this machine."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from polysome.cli.common import COMMAND_LINE, ENVIRONMENT, fail, finite


def up(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The folder of `polysome compile --site`.")],
    run_folder: Annotated[
        Path | None,
        typer.Option("--run-folder", metavar="DIR", help="Logs, certificates, sockets; else /run/polysome/NF."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="N", min=0, callback=finite, help="End after so long; else at Ctrl-C."),
    ] = None,
    no_view: Annotated[bool, typer.Option("--no-view", help="Say only what happens.")] = False,
) -> None:
    """Run a bundle here: each machine a network namespace, each part a process, real packets between them.

    Needs root. The network of this machine is not touched; all that was made goes at the end.
    """
    from polysome.backends.nf_cpp.build import BuildError
    from polysome.deploy.errors import DeployError
    from polysome.deploy.needs import missing

    if not bundle.is_dir():
        fail(COMMAND_LINE, f"there is no folder {bundle}", "Write `polysome compile SPEC --site FILE -o BUNDLE`.")
    lacking = missing()
    if lacking:
        fail(ENVIRONMENT, "`polysome up` needs what is not here:\n" + "\n".join(f"  - {what}" for what in lacking))
    try:
        with _stopping() as stop:
            _run(bundle.resolve(), run_folder, stop, _Show(seconds, not no_view and sys.stdout.isatty(), no_view))
    except (DeployError, BuildError) as error:
        fail(getattr(error, "code", ENVIRONMENT), str(error), getattr(error, "mend", ""))


class _Stop:
    """Whether we were asked to end; while `raises`, the request ends what is being done at once."""

    def __init__(self) -> None:
        self.asked = self.raises = False

    def __call__(self, number: int, frame: Any) -> None:
        self.asked = True
        if self.raises:
            raise SystemExit(0)


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """SIGINT and SIGTERM only ask: what was made must go in order."""
    stop = _Stop()
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Show:
    """What the user sees. `seconds`: how long; `live`: a picture; `brief`: only what happens."""

    def __init__(self, seconds: float | None, live: bool, brief: bool) -> None:
        self.seconds, self.live, self.brief = seconds, live, brief


def _run(bundle: Path, run_folder: Path | None, stop: _Stop, show: _Show) -> None:
    from polysome.deploy.bundle import open_bundle
    from polysome.deploy.layout import layout
    from polysome.deploy.run import PLACE, claimed, prepare, supervisor

    opened = open_bundle(bundle)
    folder = (run_folder or PLACE / opened.nf).absolute()
    plan = layout(opened, folder)
    with claimed(plan, bundle, folder):
        programs = _built(bundle, {part.component for part in plan.parts if part.component is not None}, stop)
        prepare(opened, plan, folder)
        for line in _entrances(plan, folder):
            print(line, flush=True)
        parts = supervisor(opened, plan, folder, programs)
        try:
            if not stop.asked:
                _watch(parts, folder, stop, show)
        finally:
            killed = parts.stop()
    for name in killed:
        print(f"{name} did not end by itself and was killed", file=sys.stderr)
    print("everything is down")


def _built(bundle: Path, components: set[tuple[str, str]], stop: _Stop) -> dict[tuple[str, str], Path]:
    from polysome.deploy.build import component

    programs = {}
    stop.raises = True  # nothing was started yet
    if stop.asked:
        raise SystemExit(0)
    for place, target in sorted(components):
        print(f"building {target} (or taking it from the cache)", flush=True)
        programs[place, target] = component(bundle / place, target)
    stop.raises = False
    return programs


def _entrances(plan: Any, folder: Path) -> Iterator[str]:
    yield f"{plan.nf}: {len(plan.parts)} parts in {len(plan.machines)} namespaces; logs in {folder}/logs"
    yield "traffic enters in the namespaces of the ports, where any program can run:"
    for port, namespace in plan.ports.items():
        names = [c.other.interface for c in plan.cables if c.other.namespace == namespace]
        yield f"  {port}: ip netns exec {namespace} ip address show {names[0]}"
    few = next((c for c in plan.cables if c.other.namespace in plan.ports.values() and c.too_long), None)
    if few is not None:
        takes, longest = few.other.takes, few.too_long
        yield f"their interfaces take {takes} B at most, one tag among them, of the {longest} B that may leave"


def _watch(parts: Any, folder: Path, stop: _Stop, show: _Show) -> None:
    """Keeps the parts running until it is time to end."""
    from polysome.cli.up_view import Lines, Picture
    from polysome.deploy.run import last_words, log

    end = None if show.seconds is None else time.monotonic() + show.seconds
    screen: Lines | Picture = Picture(folder) if show.live else Lines(folder, show.brief)
    with screen:
        while not stop.asked and (end is None or time.monotonic() < end):
            for ended in parts.tick():
                words = last_words(log(folder, ended.name))
                screen.happened(f"{ended}" + (f" ({words})" if words else ""))
            screen.refresh()
            time.sleep(0.05)
