"""What leaves in one run beside what leaves in another (LANGUAGE.md L12.13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from polysome.engines.options import RunOptions, Unsupported
from polysome.engines.record import Made, Record

if TYPE_CHECKING:
    from polysome.testing.execution import Execution


class Outputs:
    """All that leaves when the trace runs again with `options` (names as in `outputs(…)`). Runs at its first use.

    Comparing raises Unsupported if there is no such run.
    """

    def __init__(self, execution: Execution, options: tuple[tuple[str, Any], ...]) -> None:
        self._execution = execution
        self._options = dict(options)

    def record(self) -> Record:
        values = dict(self._options)
        engine = values.pop("engine", None)
        if "faults" in values:
            values["faults"] = frozenset(values["faults"])
        return self._execution.rerun(RunOptions(**values), engine)

    def shown(self) -> str:
        """How much it is."""
        try:
            record = self.record()
        except Unsupported as lacking:
            return str(lacking)
        copies = sum(len(fate.copies) for fate in record.fates)
        return f"{_count(copies, 'packet')} left, {_count(len(record.emitted), 'packet')} emitted"


def same(a: Outputs | None, b: Outputs | None) -> bool:
    """The same packets by the same ports, in the same order in each class, and the same emitted."""
    return a is not None and b is not None and difference(a, b) is None


def different(a: Outputs | None, b: Outputs | None) -> bool:
    return a is not None and b is not None and difference(a, b) is not None


def part(a: Outputs | None, b: Outputs | None) -> bool:
    """Does all that leaves in `a` leave in `b` too, no more often?"""
    return a is not None and b is not None and surplus(a, b) is None


def difference(a: Outputs, b: Outputs) -> tuple[tuple[int, ...], str, str] | None:
    """The first: packets that it is about, what `a` says and what `b` says; None if there is none."""
    one, two = a.record(), b.record()
    if one is two:
        return None
    for first, second in zip(one.fates, two.fates, strict=True):
        if _copies(first.copies) != _copies(second.copies):
            return (first.number,), _fate(one, first.number), _fate(two, second.number)
    found = _first(_orders(one), _orders(two))
    if found is not None:
        return tuple(n for n in found if n is not None), _leaves(found[0], found), _leaves(found[1], found)
    return _emissions(one, two)


def surplus(a: Outputs, b: Outputs) -> tuple[tuple[int, ...], str, str] | None:
    """The first that leaves in `a` and not, or less often, in `b`."""
    one, two = a.record(), b.record()
    room = Counter(_all(two))
    for (port, data), number in zip(_all(one), _numbers(one), strict=True):
        room[port, data] -= 1
        if room[port, data] < 0:
            what = "an emitted packet" if number is None else f"packet {number + 1}"
            said = f"{what} leaves by {one.program.ports[port]}: {shortened(data)}"
            other = "no packet with these bytes leaves by that port"
            return (
                () if number is None else (number,),
                said,
                other if (port, data) not in set(_all(two)) else "less often",
            )
    return None


def _copies(copies: tuple[Any, ...]) -> list[tuple[int, bytes]]:
    return sorted((c.port, c.data) for c in copies)


def _orders(record: Record) -> dict[Any, list[int]]:
    """Numbers by class, in order of leaving."""
    leaving = sorted((c.place, f.number, f.order_class) for f in record.fates for c in f.copies)
    found: dict[Any, list[int]] = {}
    for _, number, cls in leaving:
        found.setdefault(cls, []).append(number)
    return found


def _first(one: dict[Any, list[int]], two: dict[Any, list[int]]) -> tuple[int | None, int | None] | None:
    """The first place in a class where another packet stands."""
    for cls in [*one, *(c for c in two if c not in one)]:
        a, b = one.get(cls, []), two.get(cls, [])
        for n in range(max(len(a), len(b))):
            x, y = a[n] if n < len(a) else None, b[n] if n < len(b) else None
            if x != y:
                return x, y
    return None


def _leaves(number: int | None, both: tuple[int | None, int | None]) -> str:
    others = [n for n in both if n != number and n is not None]
    before = f" before packet {others[0] + 1}" if others else ""
    return "nothing more of this class leaves" if number is None else f"packet {number + 1} leaves{before}"


def _emissions(one: Record, two: Record) -> tuple[tuple[int, ...], str, str] | None:
    """Emitted packets: those of one class in order, those without a packet as a whole."""
    first, second = _emitted(one), _emitted(two)
    for cause in [*first, *(c for c in second if c not in first)]:
        a, b = first.get(cause, []), second.get(cause, [])
        for n in range(max(len(a), len(b))):
            x, y = a[n] if n < len(a) else None, b[n] if n < len(b) else None
            if x is None or y is None or (x.port, x.data) != (y.port, y.data):
                about = {made.cause for made in (x, y) if made is not None and made.cause is not None}
                return tuple(sorted(about)), _said(one, x), _said(two, y)
    return None


def _emitted(record: Record) -> dict[Any, list[Made]]:
    found: dict[Any, list[Made]] = {}
    for made in record.emitted:
        cls = None if made.cause is None else ("class", record.fates[made.cause].order_class)
        found.setdefault(cls, []).append(made)
    if None in found:
        found[None].sort(key=lambda made: (made.port, made.data))
    return found


def _said(record: Record, made: Made | None) -> str:
    if made is None:
        return "nothing more is emitted"
    why = "" if made.cause is None else f" for packet {made.cause + 1}"
    return f"emitted{why} to {record.program.ports[made.port]}: {shortened(made.data)}"


def _fate(record: Record, number: int) -> str:
    fate = record.fates[number]
    if fate.sent:
        copies = (f"{record.program.ports[port]}: {shortened(data)}" for port, data in _copies(fate.copies))
        return f"packet {number + 1} leaves by {'; by '.join(copies)}"
    return f'packet {number + 1} is dropped, "{fate.reason}"' if fate.dropped else f"packet {number + 1} is held"


def _all(record: Record) -> Iterator[tuple[int, bytes]]:
    """(port, bytes) of all that leaves."""
    yield from ((c.port, c.data) for f in record.fates for c in f.copies)
    yield from ((m.port, m.data) for m in record.emitted)


def _numbers(record: Record) -> Iterator[int | None]:
    """Beside `_all`: the packet, None for what was emitted."""
    yield from (f.number for f in record.fates for _ in f.copies)
    yield from (None for _ in record.emitted)


def shortened(data: bytes, most: int = 24) -> str:
    """The first bytes in hexadecimal, and how many there are."""
    return f"{data[:most].hex(' ')}{' …' if len(data) > most else ''} ({_count(len(data), 'byte')})"


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
