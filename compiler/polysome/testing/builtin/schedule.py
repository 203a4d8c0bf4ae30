"""Every packet leaves when its schedule says, and is dropped only for its reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.history import Offer
from polysome.engines.record import Copy, Fate, Record
from polysome.testing.builtin.base import MEASURED, Broken, Invariant, Skip, history_of, when
from polysome.testing.builtin.schedule_models import Expected, expected, expected_of


@dataclass(frozen=True)
class ScheduleExact(Invariant):
    """What the NF sends leaves at the nanosecond, by the port and in the order that the schedule's definition
    (SCHEDULE.md) gives, computed anew from arrival times, sizes and classes: nothing waits while it could leave, and
    nothing is dropped while there is room.
    """

    name: ClassVar[str] = "schedule"
    place: ClassVar[int] = 6

    def check(self, record: Record) -> int:
        schedule = record.program.schedule
        if record.slack is not None:
            raise Skip(MEASURED)
        if isinstance(schedule.options.get("serve"), str):
            raise Skip("the rate of the ports is a config item")
        if schedule.plain:
            return self._at_once(record)
        policy = expected_of(schedule)
        if policy is None:
            raise Skip(f"{schedule.policy} is defined once only: its folder has no `expected.py`")
        offers = history_of(record).offers
        end = record.fates[-1].at if record.fates else 0
        found = expected(policy, schedule.options, offers, end)
        copies = {(f.number, c.port): c for f in record.fates for c in f.copies}
        for i, offer in enumerate(offers):
            self._time(record, offer, found, i, copies.get((offer.number, offer.port)))
        self._order(record, offers, found, copies)
        self._drops(record, offers, found)
        return len(offers)

    def _at_once(self, record: Record) -> int:
        for fate in record.fates:
            for copy in fate.copies:
                if copy.time != fate.at:
                    n = fate.number
                    raise Broken(
                        (n,),
                        f"packet {n + 1} was decided at {when(record, fate.at)}, and this schedule holds nothing",
                        f"it left at {when(record, copy.time)}",
                    )
        return len(record.fates)

    def _time(self, record: Record, offer: Offer, found: Expected, i: int, copy: Copy | None) -> None:
        time = found.left.get(i)
        if (None if copy is None else copy.time) == time:
            return
        n = offer.number
        port = record.program.ports[offer.port]
        rule = f" (SCHEDULE.md {found.rule[i]})" if i in found.rule else ""
        must = f"leave at {when(record, time)}" if time is not None else "be held"
        if i in found.dropped:
            must = f'be dropped, "{found.dropped[i]}"'
        seen = "it did not leave" if copy is None else f"it left at {when(record, copy.time)}"
        reason = record.fates[n].reason
        raise Broken(
            (n,),
            f"packet {n + 1} ({offer.size} bytes) reached the schedule at {when(record, offer.time)} for port {port}",
            f"it must {must}{rule}",
            seen + (f'; it was dropped, "{reason}"' if reason is not None else ""),
        )

    def _order(self, record: Record, offers: list[Offer], found: Expected, copies: dict[tuple[int, int], Copy]) -> None:
        """Of what leaves at one instant too."""
        last = -1
        for before, i in zip([None, *found.order], found.order, strict=False):
            offer = offers[i]
            place = copies[offer.number, offer.port].place
            if place < last and before is not None:
                numbers = (offers[before].number, offer.number)
                raise Broken(
                    numbers,
                    f"packet {numbers[0] + 1} must leave before packet {numbers[1] + 1} (SCHEDULE.md {found.rule[i]})",
                    f"they left at {when(record, found.left[before])} and {when(record, found.left[i])}, "
                    "in the other order",
                )
            last = place

    def _drops(self, record: Record, offers: list[Offer], found: Expected) -> None:
        """A packet of which no copy left was dropped for the reason of the last of them (LANGUAGE.md L13.1)."""
        copies: dict[int, list[int]] = {}
        for i, offer in enumerate(offers):
            copies.setdefault(offer.number, []).append(i)
        for n, own in copies.items():
            fate = record.fates[n]
            waiting = any(i not in found.left and i not in found.dropped for i in own)
            if fate.sent or waiting:
                if fate.reason is not None:
                    raise Broken((n,), f'packet {n + 1} must be held or sent, but was dropped, "{fate.reason}"')
                continue
            reason = found.dropped[own[-1]]
            if fate.reason != reason:
                raise Broken(
                    (n,),
                    f'packet {n + 1} must be dropped, "{reason}" (SCHEDULE.md {found.rule[own[-1]]})',
                    _became(fate),
                )
        for fate in record.fates:
            if fate.sent and fate.number not in copies:
                raise Broken((fate.number,), f"packet {fate.number + 1} left without having reached the schedule")


def _became(fate: Fate) -> str:
    return f'it was dropped, "{fate.reason}"' if fate.reason is not None else "it is still held"


PROPERTY = ScheduleExact()
