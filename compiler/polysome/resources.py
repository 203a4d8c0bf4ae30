"""Where the standard library and the targets are: inside the installed package, or beside it in a checkout.

And where what was made once is kept for the next time, and which engines and architectures there are.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

MEANING: Final = "interp"  # the engine that all others are compared with

_PACKAGE = Path(__file__).resolve().parent


@cache
def folder(name: str) -> Path:
    """The folder `stdlib` or `targets`."""
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent.parent / name


def engines() -> tuple[str, ...]:
    """The engines by name: each is a folder of `polysome.engines`. This loads none."""
    return _packages("engines")


@cache
def architectures() -> tuple[str, ...]:
    """The architectures by name: each is a folder of `polysome.plan.architectures`. This loads none."""
    return _packages("plan/architectures")


def _packages(folder: str) -> tuple[str, ...]:
    return tuple(found.name for found in iter_modules([str(Path(__file__).parent / folder)]) if found.ispkg)


def user_cache() -> Path:
    """The folder for all that can be made again; it need not be there (XDG base directory specification)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    top = Path(given) if os.path.isabs(given) else Path.home() / ".cache"  # others are ignored, says the specification
    return top / "polysome"


def ours(place: Path) -> bool:
    """Can only this user, or root, have put there what is in a file or folder? OSError if it is not there."""
    stat = place.stat()
    return stat.st_uid in (0, os.geteuid()) and not stat.st_mode & 0o002
