"""reframe, as SCHEDULE.md P6 says it."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.engines.history import Offer
from polysome.testing.builtin.schedule_models import ExpectedOf, Model, Options


class Reframe(Model):
    """P6."""

    def __init__(self, options: Options, offers: Sequence[Offer]) -> None:
        super().__init__(options, offers)
        self.buffer: list[int] = []

    def until(self, time: int) -> None:
        if self.buffer and (due := self.offers[self.buffer[0]].time + self.options["window"]) <= time:
            self._empty(due)

    def arrive(self, i: int, offer: Offer) -> None:
        self.buffer.append(i)
        if len(self.buffer) == self.options["count"]:
            self._empty(offer.time)

    def _empty(self, time: int) -> None:
        classes = list(dict.fromkeys(self.offers[i].order_class for i in self.buffer))
        for i in sorted(self.buffer, key=lambda i: (classes.index(self.offers[i].order_class), i)):
            self.out.leave(i, time, "P6.2")
        self.buffer = []


EXPECTED = ExpectedOf(Reframe, lambda options, args, longest: int(options["window"]))
