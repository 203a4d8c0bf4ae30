"""Where the standard library and the targets are: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def folder(name: str) -> Path:
    """The folder `stdlib` or `targets`."""
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent.parent / name
