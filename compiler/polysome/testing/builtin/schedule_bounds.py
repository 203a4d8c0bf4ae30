"""The limits that a schedule promises, as one who only watches the ports can measure them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar

from polysome.analysis.values_text import duration
from polysome.engines.record import Copy, Fate, Record
from polysome.ir import program as ir
from polysome.testing.builtin.base import MEASURED, Broken, Invariant, Skip, classes_of, per_second, when
from polysome.testing.builtin.schedule_models import BYTE, SHORTEST, ExpectedOf, expected_of, unit

Left = tuple[int, int, int]  # time, size, number of the packet


@dataclass(frozen=True)
class ScheduleBounds(Invariant):
    """In every span of t, a policed or shaped class gets through at most burst + rate·t, and a port with a rate sends
    at most that; nothing is held longer than the bound that `polysome check` prints. Measured from when packets
    arrive and leave, whatever the engine does within.
    """

    name: ClassVar[str] = "schedule bounds"
    place: ClassVar[int] = 5

    def check(self, record: Record) -> int:
        if record.slack is not None:
            raise Skip(MEASURED)
        schedule = record.program.schedule
        cases = 0
        serve = schedule.options.get("serve")
        if isinstance(serve, int):
            cases += self._ports(record, serve)
        args = constants(schedule)
        policy = expected_of(schedule)
        if policy is None:
            return cases
        if policy.meters and args is not None and self._never_refilled(schedule, *args):
            cases += self._classes(record, *args)
        bound = hold_bound(record, policy, args)
        if bound is not None:
            cases += self._held(record, bound)
        return cases

    def _never_refilled(self, schedule: ir.Schedule, rate: int, burst: int) -> bool:
        """Whether forgetting a class changes nothing (P2.2, P4.4)."""
        idle = schedule.options["idle"]
        assert isinstance(idle, int)
        return schedule.options["when_full"] == "drop" and idle * rate >= burst * unit(schedule.options)

    def _ports(self, record: Record, rate: int) -> int:
        cases = 0
        for port, left in enumerate(_by_port(record)):
            cases += len(left)
            level, last, first, sent = 0, 0, 0, 0
            for time, size, number in left:
                level = max(0, level - rate * (time - last))
                # A port is free at a whole nanosecond: the last bits may be under way for less than that.
                if level >= rate:
                    raise Broken(
                        (first, number),
                        f"port {record.program.ports[port]} sends at {per_second(rate, 'bytes')}: the {sent} bytes "
                        f"from packet {first + 1} on take it {duration(level // rate)} beyond {when(record, time)}",
                        f"it sent packet {number + 1} then",
                    )
                if level == 0:
                    first, sent = number, 0
                level, last, sent = level + size * BYTE, time, sent + size
        return cases

    def _classes(self, record: Record, rate: int, burst: int) -> int:
        schedule = record.program.schedule
        scale = unit(schedule.options)
        counted = "bytes" if scale == BYTE else "packets"
        classes = classes_of(record)
        cases = 0
        copies = ((classes[f.number], f, c) for f in record.fates if f.number in classes for c in f.copies)
        for left in _grouped(copies).values():
            cases += len(left)
            level, last, began = 0, 0, 0
            for time, size, number in left:
                level -= rate * (time - last)
                if level <= 0:
                    level, began = 0, time
                level, last = level + (size * scale if scale == BYTE else scale), time
                if level > burst * scale:
                    raise Broken(
                        (number,),
                        f"a class may get through {burst} {counted} and {per_second(rate, counted)} beyond that",
                        f"that of packet {number + 1} got more in the {duration(time - began)} until "
                        f"{when(record, time)}: {-(-level // scale) - burst} too many",
                    )
        return cases

    def _held(self, record: Record, bound: int) -> int:
        end = record.fates[-1].at if record.fates else 0
        for fate in record.fates:
            waits = fate.held and fate.number not in record.lost
            times = [copy.time for copy in fate.copies] or ([end] if waits else [])
            if times and max(times) - fate.at > bound:
                n = fate.number
                still = "it left" if fate.copies else "it is still held"
                raise Broken(
                    (n,),
                    f"packet {n + 1} was decided at {when(record, fate.at)}; this schedule holds a packet for at most "
                    f"{duration(bound)}",
                    f"{still} at {when(record, max(times))}",
                )
        return len(record.fates)


def constants(schedule: ir.Schedule) -> tuple[int, ...] | None:
    """The policy's values, if they are the same for all packets."""
    if all(isinstance(arg, ir.Const) for arg in schedule.args):
        return tuple(arg.value for arg in schedule.args if isinstance(arg, ir.Const))
    return None


def hold_bound(record: Record, policy: ExpectedOf, args: tuple[int, ...] | None) -> int | None:
    """How long a packet may be held, ns; None if there is no bound."""
    if isinstance(record.program.schedule.options.get("serve"), str):  # a config item
        return None
    longest = max((len(c.data) for f in record.fates for c in f.copies), default=SHORTEST)
    return policy.hold_bound(record.program.schedule.options, args, longest)


def _by_port(record: Record) -> list[list[Left]]:
    left = _grouped((c.port, f, c) for f in record.fates for c in f.copies)
    return [left.get(port, []) for port in range(len(record.program.ports))]


def _grouped(copies: Iterable[tuple[Hashable, Fate, Copy]]) -> dict[Hashable, list[Left]]:
    """What left, by the key, in the order of leaving."""
    found: dict[Hashable, list[tuple[int, Left]]] = {}
    for key, fate, copy in copies:
        left = (copy.time, max(len(copy.data), SHORTEST), fate.number)
        found.setdefault(key, []).append((copy.place, left))
    return {key: [left for _, left in sorted(each)] for key, each in found.items()}


PROPERTY = ScheduleBounds()
