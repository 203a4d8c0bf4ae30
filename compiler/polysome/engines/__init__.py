"""The engines: each is a folder here of its name, with an `ENGINE`."""

from __future__ import annotations

from importlib import import_module

from polysome.engines.base import ENGINES, Engine
from polysome.resources import engines

ENGINES |= {name: import_module(f"{__name__}.{name}").ENGINE for name in engines()}

__all__ = ["ENGINES", "Engine"]
