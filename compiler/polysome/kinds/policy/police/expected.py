"""police, as SCHEDULE.md P4 says it."""

from __future__ import annotations

from polysome.testing.builtin.schedule_models import Buckets, ExpectedOf


class Police(Buckets):
    """P4."""

    shapes = False


EXPECTED = ExpectedOf(Police, lambda options, args, longest: 0, holds=lambda options: False, meters=True)
