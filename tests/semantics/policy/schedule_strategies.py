"""Hypothesis strategies: schedules with their settings, and packets for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from polysome.kinds.policy.base import Settings

SIZES = st.one_of(st.integers(14, 200), st.sampled_from([60, 100, 1500, 1514, 9000]))
RATES = st.sampled_from([1, 7, 1000, 10**6, 7 * 10**8, 8 * 10**9, 3 * 10**9 + 1, 10**11, 10**12])
LAST = 2**64 - 1


@dataclass(frozen=True)
class Schedule:
    """A policy with its settings, and the expressions' values if they are the same for every packet."""

    kind: str
    settings: Settings
    args: tuple[int, ...] | None = None


@st.composite
def bucketed(draw: st.DrawFn, kind: str, constant: bool = False) -> Schedule:
    """police or shape, with few classes and little room, so that all of it runs out."""
    settings = Settings(
        classes=draw(st.integers(1, 4)),
        idle=draw(st.sampled_from([1, 1000, 10**6, 10**12])),
        buffer=draw(st.sampled_from([0, 300, 3000, 10**5])) if kind == "shape" else None,
        queue=draw(st.none() | st.integers(0, 4000)) if kind == "shape" else None,
        when_full=draw(st.sampled_from(("drop", "evict", "pass"))),
        unit=draw(st.sampled_from(("bytes", "packets"))),
    )
    burst = st.integers(0, 3) if settings.unit == "packets" else st.sampled_from([13, 100, 150, 1514, 4000])
    return Schedule(kind, settings, (draw(RATES), draw(burst)) if constant or draw(st.booleans()) else None)


@st.composite
def lasting(draw: st.DrawFn, kind: str) -> Schedule:
    """police or shape with constant rate and burst whose classes are neither forgotten nor refused."""
    buffer = draw(st.sampled_from([300, 3000, 10**6])) if kind == "shape" else None
    settings = Settings(classes=100, idle=10**15, buffer=buffer, when_full="drop")
    return Schedule(
        kind, settings, (draw(RATES), draw(st.sampled_from([60, 100, 150, 1514, 4000]) | st.integers(14, 200)))
    )


@st.composite
def served(
    draw: st.DrawFn, kinds: tuple[str, ...] = ("fifo", "priority", "deadline", "drr"), constant: bool = False
) -> Schedule:
    settings = Settings(
        serve=draw(RATES),
        buffer=draw(st.sampled_from([0, 200, 3000, 10**6])),
        queue=draw(st.none() | st.integers(0, 4000)),
        classes=draw(st.none() | st.integers(1, 4)),
        when_full="drop",
    )
    kind = draw(st.sampled_from(kinds))
    return Schedule(kind, settings, (draw(VALUES),) if constant or draw(st.booleans()) else None)


VALUES = st.one_of(st.integers(0, 4), st.sampled_from([100, 10**4, 2**32, LAST]))
REFRAME = st.builds(
    lambda window, count: Schedule("reframe", Settings(window=window, count=count)),
    st.integers(0, 2000),
    st.integers(1, 8),
)
ANY = st.one_of(
    bucketed("police"),
    bucketed("shape"),
    REFRAME,
    served(("fifo", "priority")),
    served(("deadline", "drr")),
    st.just(Schedule("fifo", Settings())),
)
BOUNDED = st.one_of(bucketed("shape", constant=True), REFRAME, served(constant=True))


@st.composite
def offers(draw: st.DrawFn, schedule: Schedule) -> list[dict[str, Any]]:
    """Packets of few classes and ports, many at the same instant, with the arguments the schedule wants."""
    if schedule.args is not None:
        args: st.SearchStrategy[tuple[int, ...]] = st.just(schedule.args)
    elif schedule.kind in ("police", "shape"):
        args = st.tuples(RATES | st.just(0), st.integers(0, 300))
    else:
        args = st.tuples(VALUES)
    gaps = st.one_of(st.just(0), st.just(0), st.integers(0, 3), st.integers(0, 3000), st.sampled_from([10**5, 10**9]))
    packet = st.tuples(gaps, st.sampled_from("abcde"), SIZES, args, st.integers(0, 2))
    now = draw(st.sampled_from([0, 1, 1_700_000_000_123_456_789]))
    result = []
    for gap, cls, size, values, port in draw(st.lists(packet, min_size=draw(st.sampled_from([0, 5, 20])), max_size=40)):
        now += gap
        result.append({"now": now, "cls": cls, "size": size, "args": values, "port": port})
    return result


@st.composite
def workload(draw: st.DrawFn, schedules: st.SearchStrategy[Schedule]) -> tuple[Schedule, list[dict[str, Any]]]:
    schedule = draw(schedules)
    return schedule, draw(offers(schedule))
