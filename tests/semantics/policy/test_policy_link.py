"""SCHEDULE.md P3 (fifo), P7 (serve), P8 (priority) and P9 (deadline)."""

from __future__ import annotations

from schedule_harness import Run, run

from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import LAST_TIME, Settings

SERVED = Settings(serve=10**9, buffer=1000, when_full="drop")  # 8 ns a byte; a packet of 100 bytes takes 800


def test_P3_1_without_serve_every_packet_leaves_at_its_arrival() -> None:
    r = Run("fifo", Settings())
    for now, cls in ((0, "a"), (0, "b"), (7, "a")):
        r.offer(now, cls)
    assert r.left == [(0, 0), (1, 0), (2, 7)] and r.policy.held() == 0


def test_P3_2_a_port_sends_in_arrival_order() -> None:
    r = run(
        "fifo", SERVED, [{"now": t, "cls": c, "size": n} for t, c, n in ((0, "a", 100), (1, "b", 50), (2, "a", 50))]
    )
    assert r.left == [(0, 0), (1, 800), (2, 1200)]
    # The bound: behind a packet of 100 the buffer fills with 1000 bytes; the last of 50 leaves at (100 + 950) * 8.
    r = run("fifo", SERVED, [{"now": 0, "size": n} for n in (100, *[50] * 20, 14)])
    assert max(r.waits()) == 8400 and r.dropped == [(21, "buffer full")]
    assert POLICIES["fifo"].hold_bound(SERVED, (), 100)[0] == 8800


def test_P7_1_a_port_finishes_what_it_sends() -> None:
    # The more urgent packet that comes 1 ns after the first has begun waits for all of it.
    r = run("priority", SERVED, [{"now": 0, "cls": "a", "args": (0,)}, {"now": 1, "cls": "b", "args": (9,)}])
    assert r.left == [(0, 0), (1, 800)]


def test_P7_2_a_free_port_sends_at_once() -> None:
    # Free at 800: not at 799, but at 800. Another port has its own sender.
    for now, leaves in ((799, 800), (800, 800), (801, 801)):
        assert run("fifo", SERVED, [{"now": 0}, {"now": now}]).left == [(0, 0), (1, leaves)]
    assert run("fifo", SERVED, [{"now": 0}, {"now": 1, "port": 1}]).left == [(0, 0), (1, 1)]


def test_P7_3_a_port_never_waits_while_something_waits() -> None:
    r = run("priority", SERVED, [{"now": 0, "args": (n,), "cls": n} for n in (5, 1, 2, 3)])
    assert r.left == [(0, 0), (3, 800), (2, 1600), (1, 2400)]


def test_P7_4_rounding_does_not_add_up() -> None:
    # 800 bits at 3 bits a ns: exact ends at 266.67, 533.33, 800. So 267, 534, 800, not 267, 534, 801.
    settings = Settings(serve=3 * 10**9, buffer=1000, when_full="drop")
    assert [time for _, time in run("fifo", settings, [{"now": 0}] * 4).left] == [0, 267, 534, 800]
    # A packet that finds the port free starts at its arrival, 267, not at the exact end before it, 266.67:
    # it ends at 267 + 266.67 = 533.67, rounded up 534; the next at 267 + 533.33 = 800.33: 801.
    left = run("fifo", settings, [{"now": now} for now in (0, 267, 267, 267)]).left
    assert [time for _, time in left] == [0, 267, 534, 801]


def test_P7_4_several_packets_may_leave_in_one_nanosecond() -> None:
    # 1 Tbit/s: 14 bytes take 0.112 ns. Ends at 0.112, 0.224, ... 0.896, 1.008: eight of them are rounded up to 1.
    settings = Settings(serve=10**12, buffer=1000, when_full="drop")
    left = run("fifo", settings, [{"now": 0, "size": 14}] * 11).left
    assert [time for _, time in left] == [0, *[1] * 8, 2, 2]


def test_P7_5_classes_limits_what_waits() -> None:
    # x is sent, a and b wait; c is one too many, a second a is not. On port 1, z is
    # sent, but a there is a pair of its own.
    r = Run("drr", Settings(serve=10**9, buffer=1000, classes=2, when_full="drop"))
    for cls, port in (("x", 0), ("a", 0), ("b", 0), ("c", 0), ("a", 0), ("z", 1), ("a", 1)):
        r.offer(0, cls, args=(1,), port=port)
    assert r.dropped == [(3, "no free class"), (6, "no free class")]
    # Order a, a, b (one visit of a has 1514 bytes for both). At 1600 a's second leaves, so a is gone and c has room.
    r.offer(1599, "c", args=(1,))
    r.offer(1600, "c", args=(1,))
    assert r.dropped[2:] == [(7, "no free class")] and r.policy.held() == 2


def test_P8_1_the_largest_goes_first_and_equals_by_arrival() -> None:
    values = [0, 3, 2**64 - 1, 3, 7]
    r = run("priority", SERVED, [{"now": 0, "cls": i, "args": (v,)} for i, v in enumerate(values)])
    assert [order for order, _ in r.left] == [0, 2, 4, 1, 3]


def test_P8_2_only_the_first_of_a_class_competes() -> None:
    # a waits with 1, 9; b with 5. b goes first, then a's 1, then its 9.
    offers = (("x", 0), ("a", 1), ("a", 9), ("b", 5))
    r = run("priority", SERVED, [{"now": 0, "cls": c, "args": (v,)} for c, v in offers])
    assert [order for order, _ in r.left] == [0, 3, 1, 2]


def test_P8_3_a_small_priority_may_wait_for_ever() -> None:
    # Every 800 ns a packet of priority 1 comes: the one of priority 0 is not sent before they end.
    offers = [{"now": 0, "cls": "a", "args": (0,)}, {"now": 0, "cls": "a", "args": (0,)}]
    offers += [{"now": 800 * k, "cls": "b", "args": (1,)} for k in range(20)]
    r = run("priority", SERVED, offers)
    assert r.left[-1] == (1, 800 * 21)
    assert POLICIES["priority"].hold_bound(SERVED, None)[0] is None
    assert POLICIES["priority"].hold_bound(SERVED, (1,)) == POLICIES["fifo"].hold_bound(SERVED, ())


def test_P9_1_the_earliest_deadline_goes_first() -> None:
    # Deadlines: 1000 + 0, 300 + 500 = 800, 700 + 100 = 800: at 800 packets 2, then 3 (an equal, later), then 1.
    offers = ((0, "x", 0), (0, "a", 1000), (300, "b", 500), (700, "c", 100))
    r = run("deadline", SERVED, [{"now": t, "cls": c, "args": (d,)} for t, c, d in offers])
    assert [order for order, _ in r.left] == [0, 2, 3, 1]


def test_P9_1_deadlines_end_with_time() -> None:
    # Both lie beyond 64 bits, the second by less: they are equal, so arrival decides.
    r = run(
        "deadline", SERVED, [{"now": 9, "cls": d, "args": (d,)} for d in (0, LAST_TIME, LAST_TIME - 5, LAST_TIME - 10)]
    )
    assert [order for order, _ in r.left] == [0, 3, 1, 2]


def test_P9_2_a_late_packet_is_sent_all_the_same() -> None:
    r = run("deadline", SERVED, [{"now": 0, "args": (0,)}, {"now": 0, "args": (0,)}])
    assert r.left == [(0, 0), (1, 800)]


def test_P9_3_only_a_constant_deadline_is_bounded() -> None:
    assert POLICIES["deadline"].hold_bound(SERVED, None)[0] is None
    assert POLICIES["deadline"].hold_bound(SERVED, (5,)) == POLICIES["fifo"].hold_bound(SERVED, ())
    # With one duration the earliest deadline is the earliest arrival.
    r = run(
        "deadline", SERVED, [{"now": t, "cls": c, "args": (5,)} for t, c in ((0, "x"), (1, "b"), (2, "a"), (3, "b"))]
    )
    assert [order for order, _ in r.left] == [0, 1, 2, 3]
