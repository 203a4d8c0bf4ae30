"""The properties of every NF, found and not listed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from polysome.kinds.state import brought
from polysome.testing.builtin.base import Builtin, KindInvariant


@cache
def every() -> tuple[Builtin, ...]:
    """All of them: the `PROPERTY` of each module beside this one that has one, and what kinds of state bring."""
    modules = (import_module(f"{__package__}.{found.name}") for found in iter_modules([str(Path(__file__).parent)]))
    own: list[Builtin] = [module.PROPERTY for module in modules if hasattr(module, "PROPERTY")]
    return tuple(sorted([*own, *brought("invariant").values()], key=_order))


def _order(found: Builtin) -> tuple[int, int, str]:
    return found.place, found.section if isinstance(found, KindInvariant) else 0, found.name
