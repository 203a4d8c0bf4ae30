"""How much memory a schedule takes."""

from __future__ import annotations

from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Settings


def settings(schedule: ir.Schedule) -> Settings:
    """The schedule's constants as its policy takes them."""
    return Settings(**schedule.options)  # type: ignore[arg-type]


def schedule_memory(schedule: ir.Schedule) -> int:
    """Bytes that the schedule holds at most, packets and classes (SCHEDULE.md P1.9)."""
    return POLICIES[schedule.policy].memory(settings(schedule), t.width(schedule.cls.type) or 0)
