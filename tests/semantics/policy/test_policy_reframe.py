"""SCHEDULE.md P6 (reframe)."""

from __future__ import annotations

from schedule_harness import Run, run

from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Settings


def test_P6_1_the_window_starts_with_the_first_packet() -> None:
    # First packet at 10, so all of the first buffer goes at 110, also the one of 109; at 110 a new one starts.
    r = Run("reframe", Settings(window=100, count=99))
    for now in (10, 109, 110):
        r.offer(now)
    assert r.policy.next_due() == 210
    r.finish()
    assert r.left == [(0, 110), (1, 110), (2, 210)]


def test_P6_1_the_nth_packet_empties_the_buffer_at_once() -> None:
    r = Run("reframe", Settings(window=100, count=3))
    for now in (0, 5, 7):
        r.offer(now, port=now)
    assert r.left == [(0, 7), (1, 7), (2, 7)] and r.policy.next_due() is None
    r.offer(50)
    assert r.policy.next_due() == 150  # the window starts anew


def test_P6_1_a_window_of_0_groups_nothing() -> None:
    # The buffer is due at the arrival itself, and what is due at 5 happens before the next packet of 5.
    r = run("reframe", Settings(window=0, count=9), [{"now": 5, "cls": c} for c in "aba"])
    assert r.left == [(0, 5), (1, 5), (2, 5)]


def test_P6_2_classes_by_first_packet_and_in_them_by_arrival() -> None:
    r = run("reframe", Settings(window=100, count=99), [{"now": t, "cls": c} for t, c in enumerate("bacabc")])
    # b: 0, 4; a: 1, 3; c: 2, 5.
    assert r.left == [(order, 100) for order in (0, 4, 1, 3, 2, 5)]


def test_P6_3_held_for_at_most_the_window() -> None:
    settings = Settings(window=100, count=3)
    r = run("reframe", settings, [{"now": now} for now in (0, 1, 2, 3)])
    assert r.waits() == [2, 1, 0, 100]
    assert POLICIES["reframe"].hold_bound(settings, ())[0] == 100
