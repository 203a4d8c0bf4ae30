"""The schedule policies by name. A new one is a file beside these and a line here; SCHEDULE.md says what they mean."""

from __future__ import annotations

from polysome.kinds.policy.base import PolicyKind
from polysome.kinds.policy.deadline import DEADLINE
from polysome.kinds.policy.drr import DRR
from polysome.kinds.policy.fifo import FIFO
from polysome.kinds.policy.police import POLICE
from polysome.kinds.policy.priority import PRIORITY
from polysome.kinds.policy.reframe import REFRAME
from polysome.kinds.policy.shape import SHAPE

POLICIES: dict[str, PolicyKind] = {kind.name: kind for kind in (FIFO, POLICE, SHAPE, REFRAME, PRIORITY, DEADLINE, DRR)}
