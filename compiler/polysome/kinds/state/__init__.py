"""State: what the language remembers between packets. STATE.md defines it; one file per kind.

Maps, sets, pools, arrays, token buckets and config tables have syntax of their own; the kinds used through methods only
are those whose file has a `KIND`.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from polysome.kinds.base import StateKind


def _kinds() -> dict[str, StateKind]:
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
    kinds: list[StateKind] = [module.KIND for module in modules if hasattr(module, "KIND")]
    return {kind.name: kind for kind in kinds}


STATE_KINDS = _kinds()
