"""Shrinking reaches the known smallest trace, keeps the failure, and is the same each time."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from polysome.engines.trace import Arrival, Change, Trace
from polysome.testing.counterexample.shrink import shrink
from polysome.testing.counterexample.simpler_config import simpler
from polysome.testing.counterexample.simpler_times import START
from polysome.testing.execution import Execution

from .kit import INTERP, Artificial, S, limiter, run, trace, udp


def many(count: int = 24, seed: int = 1) -> Trace:
    """Packets of four flows at random times, with payloads, config and changes that matter little."""
    rng = random.Random(seed)
    arrivals, now = [], 7 * S
    for _ in range(count):
        now += rng.randrange(S)
        data = udp(source=rng.randrange(2, 6), payload=rng.randbytes(rng.randrange(40)), ttl=rng.randrange(20, 60))
        arrivals.append(Arrival(0, now, data))
    plans = {0xC0A80000 + n: (100 + n, 1) for n in range(2, 6)}
    changes = (Change(8 * S, {"usual": 5}), Change(9 * S, {"blocked": (1, 2)}))
    return trace(arrivals, {"plans": plans, "blocked": (9, 8, 7), "usual": 77}, changes)


def far_apart(execution: Execution) -> tuple[int, ...] | None:
    """Two packets of a flow at least 5 s apart."""
    first: dict[object, int] = {}
    for fate in execution.record.fates:
        earlier = first.setdefault(fate.order_class, fate.number)
        if fate.at - execution.record.fates[earlier].at >= 5 * S:
            return earlier, fate.number
    return None


def dropped(reason: str) -> Artificial:
    def broken(execution: Execution) -> tuple[int, ...] | None:
        found = [f.number for f in execution.record.fates if f.reason == reason]
        return (found[0],) if found else None

    return Artificial(broken)


def test_two_packets_of_a_flow_five_seconds_apart() -> None:
    runs = 0

    def counted(execution: Execution) -> tuple[int, ...] | None:
        nonlocal runs
        runs += 1
        return far_apart(execution)

    found = shrink(limiter(), INTERP, many(), Artificial(counted))
    assert runs < 80
    assert [a.time for a in found.arrivals] == [START, START + 5 * S]
    assert len({a.data for a in found.arrivals}) == 1 and len(found.arrivals[0].data) <= 14
    assert found.changes == () and found.config == {"plans": {}, "blocked": (), "usual": 0}


@pytest.mark.parametrize(
    ("given", "longest", "found"),
    [(9 * S, 10 * S, 2 * S), (1_900_000_000, 2 * S - 1, 1_234_567_890), (5 * S, 5 * S, 2 * S)],
)
def test_a_gap_is_round_or_else_the_shortest_to_the_nanosecond(given: int, longest: int, found: int) -> None:
    def broken(execution: Execution) -> tuple[int, ...] | None:
        gaps = (b.at - a.at for a, b in pairwise(execution.record.fates))
        return next(((n, n + 1) for n, gap in enumerate(gaps) if 1_234_567_890 <= gap <= longest), None)

    large = trace([Arrival(0, 9 * S, udp()), Arrival(0, 9 * S + given, udp()), Arrival(0, 99 * S, udp())])
    small = shrink(limiter(), INTERP, large, Artificial(broken))
    assert [a.time - START for a in small.arrivals] == [0, found]


@pytest.mark.parametrize(
    ("given", "least", "most", "found"),
    [
        ((5 * S - 7, 7), 1, 6 * S, (5 * S, 0)),
        ((5 * S - 7, 7), 1, 5 * S - 1, (S, 4 * S)),
        ((5 * S - 7, 7), 4_000_000_001, 5 * S - 1, (4_900_000_000, 100_000_000)),
        ((1_500_000_000, 3_500_000_000), 1_234_567_890, 1_999_999_999, (1_500_000_000, 3_500_000_000)),
        ((7, 5 * S - 7), 3, 999, (7, 5 * S - 7)),
    ],
)
def test_what_happens_between_two_others_has_a_time_that_is_easily_read(
    given: tuple[int, int], least: int, most: int, found: tuple[int, int]
) -> None:
    """Of three packets the last comes 5 s after the first, and the second from `least` to `most` after it."""

    def broken(execution: Execution) -> tuple[int, ...] | None:
        times = [fate.at for fate in execution.record.fates]
        right = len(times) == 3 and times[2] - times[0] >= 5 * S and least <= times[1] - times[0] <= most
        return (0, 1, 2) if right else None

    times = [9 * S, 9 * S + given[0], 9 * S + sum(given)]
    small = shrink(limiter(), INTERP, trace([Arrival(0, time, udp()) for time in times]), Artificial(broken))
    assert tuple(b.time - a.time for a, b in pairwise(small.arrivals)) == found


def test_what_state_must_hold_stays() -> None:
    """The third packet of a flow with a limit of two; the limit shrinks with the packets."""
    plans = {0xC0A80002: (2, 1), 0xC0A80003: (100, 1)}
    made = many()
    given = Trace({**made.config, "plans": plans}, made.arrivals, made.changes)
    found = shrink(limiter(), INTERP, given, dropped("too many"))
    assert len(found.arrivals) == 1 and found.config["plans"] in ({}, {0x0A000001: (0, 0)})
    assert [f.reason for f in run(found).record.fates] == ["too many"]


def test_three_of_a_flow_are_needed_where_the_config_cannot_shrink() -> None:
    def broken(execution: Execution) -> tuple[int, ...] | None:
        counts: dict[object, list[int]] = {}
        for fate in execution.record.fates:
            if fate.sent and fate.order_class is not None and fate.order_class[0]:
                counts.setdefault(fate.order_class, []).append(fate.number)
        return next((tuple(n[:3]) for n in counts.values() if len(n) >= 3), None)

    found = shrink(limiter(), INTERP, many(), Artificial(broken))
    assert len(found.arrivals) == 3
    assert {a.time for a in found.arrivals} == {START}
    assert len({a.data for a in found.arrivals}) == 1


def test_addresses_are_simple_throughout_trace_and_config() -> None:
    """A packet is dropped because its source stands in the config: both get the same new address."""
    made = many()
    given = Trace({**made.config, "blocked": (0xC0A80004, 0xC0A80009)}, made.arrivals, ())
    found = shrink(limiter(), INTERP, given, dropped("blocked"))
    assert len(found.arrivals) == 1
    assert found.config["blocked"] == (0x0A000001,)
    assert found.arrivals[0].data[26:34] == bytes([10, 0, 0, 1, 10, 0, 0, 2])


def test_a_change_of_config_that_matters_stays() -> None:
    made = many()
    change = Change(made.arrivals[10].time, {"blocked": (0xC0A80002, 0xC0A80003, 0xC0A80004, 0xC0A80005), "usual": 9})
    given = Trace({**made.config, "blocked": ()}, made.arrivals, (Change(8 * S, {"usual": 3}), change))

    def broken(execution: Execution) -> tuple[int, ...] | None:
        fates = execution.record.fates
        last = next((f.number for f in fates if f.reason == "blocked"), None)
        return None if last is None or not any(f.sent for f in fates[:last]) else (0, last)

    found = shrink(limiter(), INTERP, given, Artificial(broken))
    assert len(found.arrivals) == 2 and len(found.changes) == 1
    assert [list(c.values) for c in found.changes] == [["blocked"]] and len(found.changes[0].values["blocked"]) == 1


def test_a_pair_that_only_goes_together_is_left_out() -> None:
    """An odd number of packets: no single one can be left out, two can."""

    def broken(execution: Execution) -> tuple[int, ...] | None:
        count = len(execution.record.fates)
        return (0,) if count % 2 and count >= 3 else None

    found = shrink(limiter(), INTERP, many(11), Artificial(broken))
    assert len(found.arrivals) == 3


def test_the_result_is_the_same_each_time_and_fails() -> None:
    again = [shrink(limiter(), INTERP, many(seed=5), Artificial(far_apart)) for _ in range(2)]
    assert again[0] == again[1]
    assert far_apart(run(again[0])) is not None


def test_without_time_the_trace_stays_as_it_is() -> None:
    assert shrink(limiter(), INTERP, many(), Artificial(far_apart), seconds=0) == many()


def test_a_property_that_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="`artificial` holds"):
        shrink(limiter(), INTERP, many(), Artificial(lambda _: None))


def test_every_chain_of_simpler_values_ends() -> None:
    decl = limiter().program.config["plans"].type
    value = {1: (2**32 - 1, 1), 2: (3, 0)}
    steps = 0
    while (found := next(simpler(value, decl), None)) is not None:
        value, steps = found, steps + 1
    assert value == {1: (0, 0), 2: (0, 0)} and steps == 3
