"""The schedule policies by name: of the files beside this one those with a `KIND`. SCHEDULE.md says what they mean."""

from __future__ import annotations

from polysome.kinds.found import kinds_in
from polysome.kinds.policy.base import PolicyKind

POLICIES: dict[str, PolicyKind] = kinds_in(__name__, __path__)
