"""fifo, as SCHEDULE.md P3 says it."""

from __future__ import annotations

from collections.abc import Sequence

from polysome.engines.history import Offer
from polysome.testing.builtin.schedule_models import ExpectedOf, Link, Model, Options, one_queue_bound


class Plain(Model):
    """P3.1."""

    def arrive(self, i: int, offer: Offer) -> None:
        self.out.leave(i, offer.time, "P3.1")


class Served(Link):
    """P3.2."""

    rule = "P3.2"

    def next(self, port: int, waiting: Sequence[int]) -> int:
        return waiting[0]


def model(options: Options, offers: Sequence[Offer]) -> Model:
    return Served(options, offers) if holds(options) else Plain(options, offers)


def holds(options: Options) -> bool:
    return "serve" in options


def hold_bound(options: Options, args: tuple[int, ...] | None, longest: int) -> int | None:
    return one_queue_bound(options, args, longest) if holds(options) else 0


EXPECTED = ExpectedOf(model, hold_bound, holds)
