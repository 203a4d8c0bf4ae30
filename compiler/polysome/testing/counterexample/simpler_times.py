"""Times that are simple: a round start, gaps of nothing or round, else as short as still breaks the property.

What happens between two others, at a time that matters little, happens at one that is easily read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate, pairwise

from polysome.engines.trace import Trace
from polysome.testing.counterexample.parts import Shrinking

START = 1_767_225_600 * 10**9  # 2026-01-01T00:00:00Z, so that captures show a plausible date
_S = 10**9
ROUND = (0, 1, 10**3, 10**6, 10**7, 10**8, _S, 2 * _S, 5 * _S, 10 * _S, 30 * _S, 60 * _S, 300 * _S, 3600 * _S)


def simplify(search: Shrinking) -> None:
    """The steps, each kept if the property still fails."""
    _in_order(search)
    _start(search)
    for number in range(1, len(search.best.arrivals) + len(search.best.changes)):
        _gap(search, number)
    for number in range(1, len(search.best.arrivals) + len(search.best.changes) - 1):
        _between(search, number)


def _in_order(search: Shrinking) -> None:
    """Arrivals whose times never run back."""
    trace = search.best
    times = list(accumulate((a.time for a in trace.arrivals), max))
    ordered = tuple(replace(a, time=time) for a, time in zip(trace.arrivals, times, strict=True))
    if ordered != trace.arrivals:
        search.fails(replace(trace, arrivals=ordered))


def _start(search: Shrinking) -> None:
    events = _events(search.best)
    if events and events[0] != START:
        search.fails(_moved(search.best, [time - events[0] + START for time in events]))


def _gap(search: Shrinking, number: int) -> None:
    """The gap before event `number`: the first round one that will do, else by halves between it and the one before."""
    gap = _gaps(search.best)[number - 1]
    too_short = -1
    for tried in (g for g in ROUND if g < gap):
        if _shortened(search, number, tried):
            gap = tried
            break
        too_short = tried
    if gap in ROUND and too_short >= 0 and gap - too_short > 1:
        return  # a round gap reads better than the shortest
    while gap - too_short > 1 and too_short >= 0:
        middle = (gap + too_short) // 2
        if _shortened(search, number, middle):
            gap = middle
        else:
            too_short = middle


def _between(search: Shrinking, number: int) -> None:
    """Event `number` at another time between its neighbours, which stay: the first at which both gaps read better."""
    gaps = _gaps(search.best)
    now = gaps[number - 1 : number + 1]
    whole = sum(now)
    tried = {
        (gap, whole - gap) for first in (*ROUND, whole // 2) for gap in (first, whole - first) if 0 <= gap <= whole
    }
    better = sorted((_digits(pair), pair) for pair in tried if _digits(pair) < _digits(now))
    events = _events(search.best)
    for _, (first, _) in better:
        moved = [events[number - 1] + first if n == number else time for n, time in enumerate(events)]
        if search.fails(_moved(search.best, moved)):
            return


def _digits(gaps: Iterable[int]) -> int:
    """How many digits a reader must take in."""
    return sum(len(f"{gap}".rstrip("0")) for gap in gaps)


def _shortened(search: Shrinking, number: int, gap: int) -> bool:
    """The gap before event `number` becomes `gap`, and all later events move up."""
    events = _events(search.best)
    earlier = events[number] - events[number - 1] - gap
    return search.fails(_moved(search.best, [t - earlier if n >= number else t for n, t in enumerate(events)]))


def _gaps(trace: Trace) -> list[int]:
    return [after - before for before, after in pairwise(_events(trace))]


def _order(trace: Trace) -> list[int]:
    """The events in the order in which they happen, as places in (arrivals, changes)."""
    found: list[int] = []
    waiting = list(range(len(trace.changes)))
    now = 0
    for n, arrival in enumerate(trace.arrivals):
        now = max(now, arrival.time)
        while waiting and trace.changes[waiting[0]].time <= now:
            found.append(len(trace.arrivals) + waiting.pop(0))
        found.append(n)
    return [*found, *(len(trace.arrivals) + c for c in waiting)]


def _events(trace: Trace) -> list[int]:
    """The times of all events, in their order."""
    times = [*(a.time for a in trace.arrivals), *(c.time for c in trace.changes)]
    return [times[place] for place in _order(trace)]


def _moved(trace: Trace, times: list[int]) -> Trace:
    """The same events at other times, given in the order of `_events`."""
    by_place = dict(zip(_order(trace), times, strict=True))
    arrivals = tuple(replace(a, time=by_place[n]) for n, a in enumerate(trace.arrivals))
    changes = tuple(replace(c, time=by_place[len(arrivals) + n]) for n, c in enumerate(trace.changes))
    return Trace(trace.config, arrivals, changes)
