"""Polysome with folders added: what a new kind of state, policy or engine is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "compiler" / "polysome"


def with_added(place: Path, folders: Mapping[str, Iterable[Path]]) -> Path:
    """A folder for PYTHONPATH: all of Polysome in it are links to the checkout, and beside them those given.

    `folders`: by where in the package they are to be.
    """
    opened = {parent for name in folders for parent in (Path(name), *Path(name).parents)}
    for folder in sorted(opened):
        (place / "polysome" / folder).mkdir(parents=True, exist_ok=True)
        for child in (PACKAGE / folder).iterdir():
            if folder / child.name not in opened and child.name != "__pycache__":
                (place / "polysome" / folder / child.name).symlink_to(child)
        for new in folders.get(str(folder), ()):
            (place / "polysome" / folder / new.name).symlink_to(new)
    return place


KINDS = Path(__file__).parent / "kinds"


def with_kinds(place: Path) -> Path:
    """The same with the kinds of `tests/kinds`."""
    return with_added(place, {f"kinds/{sort}": (KINDS / sort).iterdir() for sort in ("state", "policy")})


def polysome(path: Path, *words: object, cwd: Path) -> tuple[int, str]:
    """The program as users start it, of a folder that `with_added` made: its exit code, and all that it says."""
    environment = os.environ | {"PYTHONPATH": str(path), "NO_COLOR": "1", "COLUMNS": "120"}
    command = [sys.executable, "-m", "polysome.cli.main", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr
