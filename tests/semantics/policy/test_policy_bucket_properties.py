"""police and shape against what a token bucket promises, in exact fractions and without using one.

A bucket of burst B and rate R allows n bytes at t after what passed iff for every earlier passing at s, and s = t, what
passed in [s, t] plus n is at most B + R (t - s). So the checks here say: never more than that, never less.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from schedule_harness import Run, run
from schedule_strategies import SIZES, Schedule, bucketed, lasting, workload

from polysome.kinds.policy.base import Settings

Work = tuple[Schedule, list[dict[str, Any]]]
Passed = list[tuple[int, int]]  # (time, bytes)


def allowed(passed: Passed, time: int, args: tuple[int, ...]) -> Fraction:
    """How many bytes may pass at `time`, no earlier than the last of `passed`."""
    rate, burst = args
    least, total = Fraction(burst), 0
    for start, size in reversed(passed):
        total += size
        least = min(least, burst + Fraction(rate * (time - start), 8 * 10**9) - total)
    return least


def by_class(r: Run) -> dict[Any, list[tuple[int, int]]]:
    """(order, time) of what left, by class."""
    result: dict[Any, list[tuple[int, int]]] = {}
    for order, time in r.left:
        result.setdefault(r.items[order][0].cls, []).append((order, time))
    return result


@given(workload(lasting("police")))
def test_police_passes_all_it_may_and_no_more(work: Work) -> None:
    schedule, offers = work
    assert schedule.args is not None
    r = run("police", schedule.settings, offers)
    passing = dict(r.left)
    passed: dict[Any, Passed] = {cls: [] for cls in "abcde"}
    for order, (item, now) in r.items.items():
        conforms = item.size <= allowed(passed[item.cls], now, schedule.args)
        assert conforms == (order in passing)
        if conforms:
            passed[item.cls].append((now, item.size))


@given(workload(lasting("shape")))
def test_shape_is_neither_early_nor_late(work: Work) -> None:
    schedule, offers = work
    args = schedule.args
    assert args is not None
    r = run("shape", schedule.settings, offers)
    for leavings in by_class(r).values():
        passed: Passed = []
        for order, time in leavings:
            item, arrival = r.items[order]
            assert item.size <= allowed(passed, time, args)
            earliest = max([arrival, *(t for t, _ in passed[-1:])])
            assert time == earliest or allowed(passed, time - 1, args) < item.size
            passed.append((time, item.size))


@given(st.lists(SIZES, min_size=1, max_size=60), st.sampled_from([1, 7 * 10**8, 3 * 10**9 + 1]))
def test_shape_keeps_up_its_rate(sizes: list[int], rate: int) -> None:
    # All packets come at 0. By any time t, what left is at least what was offered or rate * t less one packet; with a
    # burst 1 ns * rate above the longest packet, so that rounding loses nothing (P5.3).
    burst = max(sizes) + -(-rate // (8 * 10**9))
    settings = Settings(classes=1, idle=10**15, buffer=10**6, when_full="drop")
    r = run("shape", settings, [{"now": 0, "size": size, "args": (rate, burst)} for size in sizes])
    left = 0
    for order, time in r.left:  # the least favourable time is just before the next leaving
        assert left >= min(Fraction(sum(sizes)), Fraction(rate * (time - 1), 8 * 10**9) - max(sizes))
        left += r.items[order][0].size
    assert left == sum(sizes)


@given(workload(bucketed("police", constant=True)))
def test_police_with_forgetting_agrees_with_a_model(work: Work) -> None:
    """The class table (P2), modelled the slow way: all classes with their whole history, searched each time."""
    schedule, offers = work
    settings, args = schedule.settings, schedule.args
    assert args is not None and settings.classes is not None and settings.idle is not None
    rate, burst = args
    if settings.unit == "packets":  # as if each packet had 1 byte: 8 bits for one packet
        rate *= 8
    known: dict[str, tuple[int, int, Passed]] = {}  # class: (last use, number made, passed)
    left, dropped, made = [], [], 0
    for order, offer in enumerate(offers):
        now, cls, size = offer["now"], offer["cls"], offer["size"]
        known = {c: k for c, k in known.items() if now - k[0] < settings.idle}
        if cls not in known and len(known) >= settings.classes:
            if settings.when_full == "pass":
                left.append((order, now))
                continue
            if settings.when_full == "drop":
                dropped.append((order, "no free class"))
                continue
            del known[min(known, key=lambda c: known[c][:2])]
        _, number, passed = known.get(cls, (now, made, []))
        made += cls not in known
        known[cls] = (now, number, passed)
        n = 1 if settings.unit == "packets" else size
        if n <= allowed(passed, now, (rate, burst)):
            passed.append((now, n))
            left.append((order, now))
        else:
            dropped.append((order, "policed"))
    r = run("police", settings, offers)
    assert (r.left, r.dropped) == (left, dropped)
