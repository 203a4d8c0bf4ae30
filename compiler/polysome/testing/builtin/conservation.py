"""Every packet that comes in is accounted for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.record import Fate, Record
from polysome.testing.builtin.base import Broken, Invariant
from polysome.testing.builtin.schedule_models import expected_of


@dataclass(frozen=True)
class Conservation(Invariant):
    """Every packet that arrives is sent, dropped for a reason that has a name, or still held when the trace ends.

    Nothing leaves that did not arrive or was not made by the NF. Copies leave by the ports that the NF sent the packet
    to, by each once, and never before the packet was decided. Packets are decided when they arrive, in that order.
    """

    name: ClassVar[str] = "conservation"
    place: ClassVar[int] = 1

    def check(self, record: Record) -> int:
        self._all_there(record)
        for fate in record.fates:
            self._one_fate(record, fate)
        self._places(record)
        self._ports(record)
        return len(record.fates)

    def _all_there(self, record: Record) -> None:
        arrivals = record.trace.arrivals
        if len(record.fates) != len(arrivals):
            raise Broken((), f"{len(arrivals)} packets arrived, but the fate of {len(record.fates)} is known")
        now = 0
        for number, (fate, arrival) in enumerate(zip(record.fates, arrivals, strict=True)):
            if fate.number != number or fate.arrival != arrival:
                raise Broken((number,), f"packet {number + 1} was decided as another one, packet {fate.number + 1}")
            now = max(now, arrival.time)
            if fate.at != now:
                raise Broken(
                    (number,),
                    f"packet {number + 1} arrived at {arrival.time} ns, so it is decided at {now} ns",
                    f"it was decided at {fate.at} ns",
                )

    def _one_fate(self, record: Record, fate: Fate) -> None:
        n = fate.number
        if fate.sent and fate.dropped:
            raise Broken((n,), f'packet {n + 1} left, but is counted as dropped too: "{fate.reason}"')
        if fate.reason == "":
            raise Broken((n,), f"packet {n + 1} was dropped without a reason")
        twice = [port for port, count in Counter(copy.port for copy in fate.copies).items() if count > 1]
        if twice:
            port = record.program.ports[twice[0]]
            raise Broken((n,), f"packet {n + 1} left by port {port} more than once")
        for copy in fate.copies:
            if not 0 <= copy.port < len(record.program.ports):
                raise Broken((n,), f"packet {n + 1} left by port number {copy.port}, which the NF does not have")
            if copy.time < fate.at:
                raise Broken((n,), f"packet {n + 1} was decided at {fate.at} ns, but left before, at {copy.time} ns")
        if (
            fate.held
            and n not in record.lost
            and (policy := expected_of(record.program.schedule)) is not None
            and not policy.holds(record.program.schedule.options)
        ):
            raise Broken((n,), f"packet {n + 1} neither left nor was dropped, and this schedule holds nothing")

    def _places(self, record: Record) -> None:
        """What left is numbered without a gap or a second use, and in order of time."""
        left = [(c.place, c.time, (f.number,)) for f in record.fates for c in f.copies]
        made = [(m.place, m.time, () if m.cause is None else (m.cause,)) for m in record.emitted]
        last = 0
        for expected, (place, time, numbers) in enumerate(sorted(left + made)):
            if place != expected:
                raise Broken(numbers, f"{len(left) + len(made)} packets left, but none as number {expected} of them")
            if time < last:
                raise Broken(numbers, f"time ran back: something left at {time} ns after something left at {last} ns")
            last = time

    def _ports(self, record: Record) -> None:
        """What the NF handed to its schedule is what comes out of it or is still in it."""
        if record.history is None:
            return
        wanted: dict[int, set[int]] = {}
        for offer in record.history.offers:
            wanted.setdefault(offer.number, set()).add(offer.port)
        names = record.program.ports
        for fate in record.fates:
            found = {copy.port for copy in fate.copies}
            if fate.number in wanted and not found <= wanted[fate.number]:
                raise Broken(
                    (fate.number,),
                    f"packet {fate.number + 1} was sent to {_list(names, wanted[fate.number])}",
                    f"it left by {_list(names, found)}",
                )


def _list(names: tuple[str, ...], ports: set[int]) -> str:
    return ", ".join(names[port] for port in sorted(ports))


PROPERTY = Conservation()
