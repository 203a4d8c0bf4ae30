"""State: what the language remembers between packets. STATE.md defines it; one folder per kind.

Maps, sets, pools, arrays, token buckets and config tables have syntax of their own; the kinds used through methods only
are those whose folder has a `KIND`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from polysome.kinds.base import StateKind
from polysome.kinds.found import brought_in, kinds_in

STATE_KINDS: dict[str, StateKind] = kinds_in(__name__, __path__)


@cache
def brought(module: str) -> dict[str, Any]:
    """What kinds of state, by folder, bring in a module of that name (`found.py`)."""
    return brought_in(__name__, __path__, module)
