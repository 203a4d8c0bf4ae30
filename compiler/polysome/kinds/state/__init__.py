"""State: what the language remembers between packets. STATE.md defines it; one folder per kind.

Maps, sets, pools, arrays and token buckets have syntax of their own; the kinds used through methods only, and the kinds
of config tables, are those whose folder has a `KIND`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeGuard

from polysome.ir import types
from polysome.kinds.base import StateKind, TableKind
from polysome.kinds.found import brought_in, kinds_in

STATE_KINDS: dict[str, StateKind] = kinds_in(__name__, __path__, StateKind)
_TABLES = kinds_in(__name__, __path__, TableKind)
TABLE_KINDS: dict[str, TableKind] = dict(sorted(_TABLES.items(), key=lambda named: named[1].section))


@cache
def brought(module: str) -> dict[str, Any]:
    """What kinds of state, by folder, bring in a module of that name (`found.py`)."""
    return brought_in(__name__, __path__, module)


def is_mapping(type: types.Type) -> TypeGuard[types.Table]:
    """A config table of which the language asks `k in t` and runs over the entries."""
    return isinstance(type, types.Table) and TABLE_KINDS[type.kind].identity == "key"
