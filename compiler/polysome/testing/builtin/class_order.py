"""Packets of one class do not overtake each other."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.record import Record
from polysome.testing.builtin.base import Broken, Invariant, classes_of, when


@dataclass(frozen=True)
class ClassOrder(Invariant):
    """Packets of one order class (the `class` of the schedule, by default the flow) leave each port in the order in
    which they arrived, under every schedule. Not counted: packets that `when full pass` lets go unscheduled.
    """

    name: ClassVar[str] = "class order"
    place: ClassVar[int] = 4

    def check(self, record: Record) -> int:
        last: dict[tuple[int, Hashable], tuple[int, int, int]] = {}
        classes = classes_of(record)
        cases = 0
        unscheduled = record.program.schedule.options.get("when_full") == "pass"
        for fate in record.fates:
            for copy in fate.copies:
                if fate.number not in classes or (unscheduled and copy.time == fate.at):
                    continue
                key = (copy.port, classes[fate.number])
                before = last.get(key)
                if before is not None:
                    cases += 1
                    self._pair(record, before, (copy.place, copy.time, fate.number), copy.port)
                last[key] = (copy.place, copy.time, fate.number)
        return cases

    def _pair(self, record: Record, first: tuple[int, int, int], second: tuple[int, int, int], port: int) -> None:
        if first[:2] <= second[:2] and first[0] < second[0] and first[1] <= second[1]:
            return
        (_, early, a), (_, late, b) = first, second
        raise Broken(
            (a, b),
            f"packets {a + 1} and {b + 1} are of one class, and packet {a + 1} arrived first",
            f"by port {record.program.ports[port]}, packet {b + 1} left first: at {when(record, late)}, "
            f"packet {a + 1} at {when(record, early)}",
        )


PROPERTY = ClassOrder()
