"""instant: every packet leaves at once, as with a plain fifo (SCHEDULE.md P3.1)."""

from __future__ import annotations

from polysome.engines.history import Offer
from polysome.testing.builtin.schedule_models import ExpectedOf, Model


class Instant(Model):
    def arrive(self, i: int, offer: Offer) -> None:
        self.out.leave(i, offer.time, "P3.1")


EXPECTED = ExpectedOf(Instant, lambda options, args, longest: 0, holds=lambda options: False)
