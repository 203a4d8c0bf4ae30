"""The schedule policies by name: the folders here that have a `KIND`. SCHEDULE.md says what they mean."""

from __future__ import annotations

from functools import cache
from typing import Any

from polysome.kinds.found import brought_in, kinds_in
from polysome.kinds.policy.base import PolicyKind

POLICIES: dict[str, PolicyKind] = kinds_in(__name__, __path__, PolicyKind)


@cache
def brought(module: str) -> dict[str, Any]:
    """What policies, by folder, bring in a module of that name (`found.py`)."""
    return brought_in(__name__, __path__, module)
