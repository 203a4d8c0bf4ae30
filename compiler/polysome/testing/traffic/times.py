"""When packets come: mostly soon, and often exactly when something in the program is due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polysome.ir import program as ir
from polysome.testing.traffic.choices import Choices, Weighted
from polysome.testing.traffic.constants import constants
from polysome.testing.traffic.values import leaves

_US, _MS, _S = 10**3, 10**6, 10**9
_STEPS = {
    "calm": Weighted(
        [(1 * _US, 4), (0, 2), (1, 1), (1 * _MS, 3), (10 * _MS, 2), (100 * _MS, 2), (1 * _S, 2), (3 * _S, 1)]
    ),
    "burst": Weighted([(0, 4), (1 * _US, 4), (1, 2), (12 * _US, 2), (100 * _US, 1)]),
}
_SIZES = (60, 1514, 100)  # bytes whose time on a rate matters
_LONGEST = 10**9 * 86400 * 2  # two days
_TIMERS = 60  # firings of a timer that a jump may cause


@dataclass(frozen=True)
class Clockwork:
    """`spans`: durations after which something happens, in ns; `longest`: of any step; `periods`: of timers."""

    spans: tuple[int, ...]
    longest: int
    periods: tuple[int, ...]


def clockwork(program: ir.Program, config: Mapping[str, Any]) -> Clockwork:
    """The times that matter with this config: timeouts, periods, hold times, and refill times of token buckets."""
    found = constants(program)
    quantities: dict[str, list[int]] = {"duration": [], "bytes": [], "bitrate": [], "packetrate": []}
    for name, value in config.items():
        for type, one in leaves(program.config[name].type, value):
            if str(type) in quantities:
                quantities[str(type)].append(one)
    spans = dict.fromkeys((*found.durations, *quantities["duration"]))
    sizes = (*found.sizes, *quantities["bytes"], *_SIZES)
    for rate in (*found.bitrates, *quantities["bitrate"]):
        if rate > 0:
            spans |= dict.fromkeys(-(-size * 8 * _S // rate) for size in sizes)
    for rate in (*found.packetrates, *quantities["packetrate"]):
        if rate > 0:
            spans |= dict.fromkeys(-(-packets * _S // rate) for packets in (1, 2, 10))
    periods = tuple(timer.period for timer in program.timers)
    longest = min([_LONGEST, *(_TIMERS * period for period in periods)])
    return Clockwork(tuple(sorted(s for s in spans if 0 < s <= longest)), longest, periods)


def step(c: Choices, pace: str, works: Clockwork) -> int:
    """ns to the next packet, if nothing special is meant. `keep`: mostly just before the next thing is due."""
    if pace == "keep" and works.spans and not c.chance(0.25):
        long = [span for span in works.spans if span >= _MS] or works.spans
        return max(0, long[0] - 1 + c.pick((0, 0, 0, 1)) if not c.chance(0.1) else c.pick(long) - 1)
    return c.of(_STEPS["calm" if pace == "keep" else pace])


def boundary(c: Choices, works: Clockwork, now: int, started: int, since: Sequence[int]) -> int:
    """A time around which something is due: a span after one of `since`, or a timer; `now` if there is none."""
    if works.periods and c.chance(0.25):
        period = c.pick(works.periods)
        exact = started + ((now - started) // period + 1 + c.below(2)) * period
    elif works.spans and since:
        span = c.pick(works.spans)
        exact = c.pick(since) + (span // 2 if c.chance(0.08) else span)
    else:
        return now
    return exact + c.pick((0, -1, 1, 0))


def leap(c: Choices, works: Clockwork) -> int:
    """A long step."""
    return min(works.longest, c.pick((_S * 60, _S * 3600, _LONGEST // 2, _LONGEST)))
