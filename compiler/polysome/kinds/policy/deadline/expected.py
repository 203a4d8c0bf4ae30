"""deadline, as SCHEDULE.md P9 says it."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.testing.builtin.schedule_models import LAST_TIME, ExpectedOf, Link, one_queue_bound


class Deadline(Link):
    """P9."""

    rule = "P9.1"

    def next(self, port: int, waiting: Sequence[int]) -> int:
        return min(self.heads(waiting).values(), key=lambda i: (self._deadline(i), i))

    def _deadline(self, i: int) -> int:
        return min(self.offers[i].time + self.offers[i].args[0], LAST_TIME)


EXPECTED = ExpectedOf(Deadline, one_queue_bound)
