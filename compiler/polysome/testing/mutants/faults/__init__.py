"""Faults that people make: each the `FAULT` of a module here, named as a report names it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from polysome.testing.mutants.faults.base import Fault

__all__ = ["Fault", "every"]


@cache
def every() -> tuple[Fault, ...]:
    """All of them, by name."""
    modules = (import_module(f"{__package__}.{found.name}") for found in iter_modules([str(Path(__file__).parent)]))
    return tuple(sorted((m.FAULT for m in modules if hasattr(m, "FAULT")), key=lambda f: f.name))
