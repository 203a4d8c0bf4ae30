"""What the built-in properties have in common."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from polysome.analysis.values_text import moment
from polysome.engines.history import History
from polysome.engines.record import Record
from polysome.engines.trace import Trace
from polysome.ir import program as ir
from polysome.testing.execution import Execution, Failure, Judgement

SHORT = 6  # packets: also what a counterexample is shrunk to
Way = TypeVar("Way")
NO_STATE = "the engine does not show its state"
MEASURED = "the engine measures times, so none is exact"


class Broken(Exception):
    """A promise is broken: numbers of the packets it is about, and what was expected and found, a line each."""

    def __init__(self, packets: Sequence[int], *said: str) -> None:
        super().__init__(*said)
        self.failure = Failure(tuple(packets), said)


class Skip(Exception):
    """Nothing can be tested; the text says why."""


@dataclass(frozen=True)
class Builtin:
    """A property of every NF. `name` is how reports call it, the docstring what it promises an operator.

    `place`: where it stands in reports; without one, behind all others.
    """

    name: ClassVar[str]
    place: ClassVar[int] = 100

    @property
    def reruns(self) -> bool:
        """As in `execution.Property`."""
        return False

    @property
    def doc(self) -> str:
        return inspect.cleandoc(type(self).__doc__ or "")

    def concerns(self, program: ir.Program) -> bool:
        """Has the NF anything that this is about?"""
        return True

    def cases(self, execution: Execution) -> int:
        """How often something was tested. Raises Broken, and Skip."""
        raise NotImplementedError

    def judge(self, execution: Execution) -> Judgement:
        if execution.record.crash is not None:
            return Judgement(None, 0, "the engine failed")
        try:
            return Judgement(None, self.cases(execution))
        except Broken as broken:
            return Judgement(broken.failure, 1)
        except Skip as skip:
            return Judgement(None, 0, str(skip))


@dataclass(frozen=True)
class Invariant(Builtin):
    """A property of a single run, which therefore can be asked of reruns too."""

    def check(self, record: Record) -> int:
        """How often something was tested. Raises Broken, and Skip."""
        raise NotImplementedError

    def cases(self, execution: Execution) -> int:
        return self.check(execution.record)


@dataclass(frozen=True)
class KindInvariant(Invariant):
    """What one kind of state promises, as the `INVARIANT` in its folder's `invariant.py`.

    `section`: that of the manual (STATE.md) which says so; kinds are judged in this order.
    """

    place: ClassVar[int] = 7
    section: ClassVar[int]


def history_of(record: Record) -> History:
    if record.history is None:
        raise Skip(NO_STATE)
    return record.history


def draw(trace: Trace, salt: str, choices: int) -> int:
    """A number below `choices` that depends on the trace only, so that a failure stays while the trace stays."""
    digest = zlib.crc32(salt.encode())
    for arrival in trace.arrivals:
        digest = zlib.crc32(arrival.data, zlib.crc32(b"%d %d" % (arrival.port, arrival.time), digest))
    return digest % choices


def classes_of(record: Record) -> dict[int, Hashable]:
    """The order class of each packet that has one, by number."""
    found = {fate.number: fate.order_class for fate in record.fates if fate.order_class is not None}
    if record.history is not None:
        found |= {offer.number: offer.order_class for offer in record.history.offers}
    return found


def some(trace: Trace, salt: str, ways: Sequence[Way]) -> Sequence[Way]:
    """All ways to try for a short trace; for a long one, which costs more, one that is drawn."""
    return ways if len(trace.arrivals) <= SHORT else (ways[draw(trace, salt, len(ways))],)


# ---------------------------------------------------------------- words


def start_of(record: Record) -> int | None:
    return record.fates[0].at if record.fates else None


def when(record: Record, time: int) -> str:
    """A time as reports show it: from the first packet on."""
    return moment(time, start_of(record))


def around(record: Record, stamp: int) -> tuple[int, ...]:
    """The packet of a stamp of the history; none at the end of the trace."""
    number = stamp // 2
    return (number,) if number < len(record.fates) else ()


def occasion(record: Record, stamp: int, time: int) -> str:
    """When something happened, in words."""
    number = stamp // 2
    if stamp % 2:
        return f"while packet {number + 1} was decided ({when(record, time)})"
    before = f"before packet {number + 1}" if number < len(record.fates) else "after the last packet"
    return f"at {when(record, time)}, {before}"


def per_second(rate: int, unit: str) -> str:
    """A rate in bit/s or packets/s, of what counts `bytes` or `packets`: `10Mbps`, `250Kpps`."""
    letters = "bps" if unit == "bytes" else "pps"
    power = max(n for n in range(4) if rate % 1000**n == 0) if rate else 0
    return f"{rate // 1000**power}{('', 'K', 'M', 'G')[power]}{letters}"


def packets(numbers: Sequence[int]) -> str:
    """Packets 2, 4 by number: `packets 3 and 5`. What people read counts from 1, as packet analysers do."""
    if len(numbers) == 1:
        return f"packet {numbers[0] + 1}"
    counted = [str(n + 1) for n in numbers]
    return f"packets {', '.join(counted[:-1])} and {counted[-1]}"


def difference(expected: bytes, found: bytes) -> tuple[str, ...]:
    """Where two packets differ, in hex; two lines, with a third if their lengths differ."""
    shorter = min(len(expected), len(found))
    at = next((i for i in range(shorter) if expected[i] != found[i]), shorter)
    lengths = [f"expected {len(expected)} bytes, found {len(found)}"] if len(expected) != len(found) else []
    first = max(0, at - 2)
    return (
        *lengths,
        f"expected from byte {first}: {expected[first : first + 16].hex(' ')}",
        f"found    from byte {first}: {found[first : first + 16].hex(' ')}",
    )
