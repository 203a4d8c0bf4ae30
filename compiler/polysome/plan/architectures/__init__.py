"""The architectures: each is a folder here of its name, with an `ARCHITECTURE`.

Beside that, it may bring modules for other rooms, each with one constant that is named like the module:

| module          | what it brings                                                                         |
|-----------------|----------------------------------------------------------------------------------------|
| `p4.py`         | what it puts into the switch's program (`backends.tofino.pieces`)                      |
| `controller.py` | what the controller is told of it (`backends.controller.config`)                       |
| `simulated.py`  | its machines in a simulated system (`backends.system.machines`)                        |
| `bundle.py`     | its machines in a bundle, with their files (`backends.bundle.parts`)                   |
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from polysome.kinds.found import brought_in
from polysome.plan.architectures.base import Architecture
from polysome.resources import architectures


@cache
def named(name: str) -> Architecture:
    """The architecture of a name that `resources.architectures` lists."""
    if name not in architectures():
        raise KeyError(name)
    found = import_module(f"{__name__}.{name}").ARCHITECTURE
    assert isinstance(found, Architecture)
    return found


@cache
def brought(name: str, module: str) -> Any:
    """What the folder of an architecture brings in a module of that name; None if it has none."""
    return brought_in(__name__, __path__, module).get(name)
