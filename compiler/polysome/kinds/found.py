"""Kinds are found, not listed: whatever file of a package has a `KIND` is one."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def kinds_in(package: str, path: Iterable[str]) -> dict[str, Any]:
    """The `KIND`s of a package's modules by name, in the order of the files' names."""
    modules = (import_module(f"{package}.{found.name}") for found in iter_modules(path))
    kinds = [module.KIND for module in modules if hasattr(module, "KIND")]
    return {kind.name: kind for kind in kinds}
