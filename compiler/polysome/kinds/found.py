"""Kinds are found, not listed: whatever folder of a package has a `KIND` is one.

Beside that, a kind's folder may bring modules that are read only when they are asked for, each with one constant that
is named like the module:

| module         | what it brings                                                                                |
|----------------|-----------------------------------------------------------------------------------------------|
| `invariant.py` | what is true of a kind of state in every run, a built-in property (`testing.builtin.base`)    |
| `model.py`     | state or a config table in terms of z3, for coverage (`symbolic.state`, `symbolic.tables`)    |
| `rows.py`      | how rows of a config table stand in files (`config.rows`)                                     |
| `cpp.py`       | how a config table is in C++ (`backends.nf_cpp.table_code`)                                   |
| `traffic.py`   | how rows of a config table are drawn in tests, and what hits them (`testing.traffic.values`)  |
| `lookup.py`    | what a lookup in a config table must find, told a second time (`testing.builtin.lookups`)     |
| `expected.py`  | what a policy's definition says, told a second time (`testing.builtin.schedule_models`)       |
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any, TypeVar

Kind = TypeVar("Kind")


def kinds_in(package: str, path: Iterable[str], of: type[Kind]) -> dict[str, Kind]:
    """The `KIND`s of that class that a package's modules have, by name, in the order of the files' names."""
    modules = (import_module(f"{package}.{found.name}") for found in iter_modules(path))
    kinds = (getattr(module, "KIND", None) for module in modules)
    return {kind.name: kind for kind in kinds if isinstance(kind, of)}  # type: ignore[attr-defined]


def brought_in(package: str, path: Iterable[str], module: str) -> dict[str, Any]:
    """What the folders in a package bring in a module of that name, by folder: its constant, named like the module."""
    folders = [found.name for found in iter_modules(path) if found.ispkg]
    names = {folder: f"{package}.{folder}.{module}" for folder in folders}
    return {folder: getattr(import_module(name), module.upper()) for folder, name in names.items() if find_spec(name)}
