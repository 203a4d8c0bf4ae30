"""SCHEDULE.md P2 (classes with a bucket) and P4 (police)."""

from __future__ import annotations

from schedule_harness import Run, run

from polysome.kinds.policy.base import Settings, WhenFull

SECOND = 10**9
ONE_BYTE_PER_NS = 8 * 10**9  # bit/s


def settings(classes: int = 2, idle: int = 1000, when_full: WhenFull = "drop", **more: int) -> Settings:
    return Settings(classes=classes, idle=idle, when_full=when_full, **more)  # type: ignore[arg-type]


def police(classes: int = 2, idle: int = 1000, when_full: WhenFull = "drop") -> Run:
    return Run("police", settings(classes, idle, when_full))


NOTHING = (0, 100)  # rate 0, burst 100: a class lets exactly one packet of 100 pass, ever


def test_P2_1_a_dropped_packet_uses_its_class() -> None:
    # Packets at 0, 999, 1998: the second is policed but keeps the class for 1000 ns more, so the third is policed too.
    r = police()
    for now in (0, 999, 1998):
        r.offer(now, args=NOTHING)
    assert r.left == [(0, 0)] and r.dropped == [(1, "policed"), (2, "policed")]


def test_P2_1_a_packet_that_leaves_uses_its_class() -> None:
    # 100 bytes at 0.1 byte/ns: the second leaves at 1000. Last use 1000, so at 1999 the bucket is still known (99.9
    # bytes have come: the third waits 1 ns), while at 3000, 1000 after its leaving, it is new: two of 50 leave at once.
    r = run(
        "shape",
        settings(buffer=1000),
        [
            {"now": now, "size": n, "args": (8 * 10**8, 100)}
            for now, n in ((0, 100), (0, 100), (1999, 100), (3000, 100))
        ],
    )
    assert r.left == [(0, 0), (1, 1000), (2, 2000), (3, 3000)]


def test_P2_2_a_class_is_forgotten_exactly_at_idle() -> None:
    r = police()
    r.offer(0, args=NOTHING)
    r.offer(999, "b", args=NOTHING)
    r.offer(1000, args=NOTHING)  # 1000 - 0 >= 1000: made anew, with a full bucket
    r.offer(1998, "b", args=NOTHING)  # 1998 - 999 < 1000
    assert r.left == [(0, 0), (1, 999), (2, 1000)] and r.dropped == [(3, "policed")]


def test_P2_2_a_class_that_holds_something_is_not_forgotten() -> None:
    # 100 bytes at 1 byte per 100 ns: packet 1 leaves at 10 000, packet 2, arriving at 9000, another 10 000 later.
    r = run("shape", settings(buffer=1000), [{"now": now, "args": (8 * 10**7, 100)} for now in (0, 0, 9000)])
    assert r.left == [(0, 0), (1, 10_000), (2, 20_000)]


def test_P2_3_without_a_free_class_a_packet_is_dropped_or_passes() -> None:
    for when_full in ("drop", "pass"):
        r = police(2, 1000, when_full)
        for cls in ("a", "b", "c", "c", "a"):
            r.offer(0, cls, args=NOTHING)
        passed = [(2, 0), (3, 0)] if when_full == "pass" else []
        no_class = [] if passed else [(2, "no free class"), (3, "no free class")]
        assert r.left == [(0, 0), (1, 0), *passed]
        assert r.dropped == [*no_class, (4, "policed")]
        r.offer(1000, "c", args=NOTHING)  # a and b are forgotten
        assert r.left[-1] == (5, 1000)


def test_P2_3_shape_passes_what_finds_no_class() -> None:
    r = Run("shape", settings(1, 1000, "pass", buffer=0))
    for cls in ("a", "b", "b"):
        r.offer(0, cls, args=NOTHING)
    assert r.left == [(0, 0), (1, 0), (2, 0)]


def test_P2_4_the_class_used_longest_ago_is_evicted() -> None:
    r = police(2, 1000, "evict")
    for now, cls in ((0, "a"), (1, "b"), (2, "a"), (3, "c")):  # a is used at 2 again, so c evicts b
        r.offer(now, cls, args=NOTHING)
    r.offer(4, "a", args=NOTHING)  # still known: policed
    r.offer(5, "b", args=NOTHING)  # made anew
    assert r.left == [(0, 0), (1, 1), (3, 3), (5, 5)] and r.dropped == [(2, "policed"), (4, "policed")]


def test_P2_4_among_equals_the_class_made_first_is_evicted() -> None:
    # a, then b are made at 0, and used in the order b, a, both at 1. c evicts a.
    r = police(2, 1000, "evict")
    for now, cls in ((0, "a"), (0, "b"), (1, "b"), (1, "a"), (1, "c"), (2, "b")):
        r.offer(now, cls, args=NOTHING)
    assert r.dropped == [(2, "policed"), (3, "policed"), (5, "policed")]


def test_P2_5_a_class_that_holds_something_is_not_evicted() -> None:
    # 1 byte/ns, burst 100. a and b hold a packet each until 100: at 0 c finds none to evict, at 100 it evicts a.
    r = Run("shape", settings(2, 1000, "evict", buffer=1000))
    for now, cls in ((0, "a"), (0, "a"), (0, "b"), (0, "b"), (0, "c"), (100, "c"), (100, "b"), (100, "a")):
        r.offer(now, cls, args=(ONE_BYTE_PER_NS, 100))
    # 5 is c; b's bucket is empty, so 6 waits until 200; 7 is a made anew, evicting c: its bucket is full.
    assert r.dropped == [(4, "no free class")]
    r.finish()
    assert r.left == [(0, 0), (2, 0), (1, 100), (3, 100), (5, 100), (7, 100), (6, 200)]


def test_P4_1_what_conforms_leaves_at_once() -> None:
    # Full: 250. At 0 two of 100 pass (50 left); at 49 there are 99: dropped; at 50 exactly 100.
    r = police()
    for now in (0, 0, 49, 50):
        r.offer(now, args=(ONE_BYTE_PER_NS, 250))
    assert r.left == [(0, 0), (1, 0), (3, 50)] and r.dropped == [(2, "policed")]


def test_P4_1_a_packet_rate_counts_packets() -> None:
    # 1 packet per ms, burst 2: at 0 two pass; the next at 1 000 000 ns, not a nanosecond before.
    r = Run("police", Settings(classes=1, idle=SECOND, when_full="drop", unit="packets"))
    for now in (0, 0, 0, 999_999, 1_000_000):
        r.offer(now, size=9000, args=(1000, 2))
    assert [order for order, _ in r.left] == [0, 1, 4]


def test_P4_2_a_policed_packet_takes_nothing() -> None:
    # 100 of 250 are taken. 200 are too many, but 150 still fit after it. 251 never would.
    r = police()
    for size in (100, 200, 150):
        r.offer(0, size=size, args=(ONE_BYTE_PER_NS, 250))
    r.offer(900, size=251, args=(ONE_BYTE_PER_NS, 250))
    assert r.left == [(0, 0), (2, 0)] and r.dropped == [(1, "policed"), (3, "policed")]


def test_P4_3_rate_and_burst_are_the_arriving_packets() -> None:
    r = police()
    r.offer(0, args=(ONE_BYTE_PER_NS, 100))  # the bucket is empty at 0
    r.offer(50, args=(ONE_BYTE_PER_NS, 100))  # 50 bytes: policed, and they stay counted from 0
    r.offer(50, args=(2 * ONE_BYTE_PER_NS, 100))  # 50 ns at 2 bytes/ns are 100
    r.offer(950, size=60, args=(ONE_BYTE_PER_NS, 50))  # 900 bytes came, but this burst keeps only 50
    r.offer(950, size=60, args=(ONE_BYTE_PER_NS, 60))
    assert [order for order, _ in r.left] == [0, 2, 4]


def test_P4_4_a_window_holds_at_most_burst_and_rate() -> None:
    # 7 Gbit/s: 7 bits a ns; burst 1000 bits; packets of 1000 bits (125 bytes). After one at 0, 142 ns bring 994 bits,
    # 143 bring 1001 (but 1000 at most): the ones offered every ns pass at 0, 143, 286 and 429: in 430 ns 4000 bits
    # of at most 1000 + 7 * 429 = 4003.
    r = police(1, 1000)
    for now in range(430):
        r.offer(now, size=125, args=(7 * 10**9, 125))
    assert [time for _, time in r.left] == [0, 143, 286, 429]
