"""The architectures: each is a folder here of its name, with an `ARCHITECTURE`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

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
