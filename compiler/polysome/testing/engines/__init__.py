"""The engines. A new one is a module here and a line in ENGINES."""

from __future__ import annotations

from polysome.testing.engines.base import Engine
from polysome.testing.engines.interp import Interp
from polysome.testing.engines.native import Native
from polysome.testing.engines.system import System

ENGINES: dict[str, Engine] = {engine.name: engine for engine in (Interp(), Native(), System())}

__all__ = ["ENGINES", "Engine"]
