"""priority, as SCHEDULE.md P8 says it."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.testing.builtin.schedule_models import ExpectedOf, Link, one_queue_bound


class Priority(Link):
    """P8."""

    rule = "P8.1"

    def next(self, port: int, waiting: Sequence[int]) -> int:
        return min(self.heads(waiting).values(), key=lambda i: (-self.offers[i].args[0], i))


EXPECTED = ExpectedOf(Priority, one_queue_bound)
