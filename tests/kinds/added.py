"""Polysome with kinds added: the package as it is, and more folders in `kinds/state` and `kinds/policy`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "compiler" / "polysome"
ADDED = Path(__file__).resolve().parent


def with_kinds(place: Path) -> Path:
    """A folder for PYTHONPATH: all of Polysome in it are links to the checkout, and beside its kinds are those here."""
    opened = [Path("polysome"), Path("polysome/kinds"), Path("polysome/kinds/state"), Path("polysome/kinds/policy")]
    for folder in opened:
        (place / folder).mkdir(parents=True)
        for child in (PACKAGE.parent / folder).iterdir():
            if folder / child.name not in opened and child.name != "__pycache__":
                (place / folder / child.name).symlink_to(child)
    for name in ("state", "policy"):
        for kind in (ADDED / name).iterdir():
            (place / "polysome/kinds" / name / kind.name).symlink_to(kind)
    return place


def polysome(path: Path, *words: object, cwd: Path) -> tuple[int, str]:
    """The program as users start it, of a folder that `with_kinds` made: its exit code, and all that it says."""
    environment = os.environ | {"PYTHONPATH": str(path), "NO_COLOR": "1", "COLUMNS": "120"}
    command = [sys.executable, "-m", "polysome.cli.main", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr
