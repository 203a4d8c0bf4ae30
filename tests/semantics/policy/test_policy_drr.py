"""SCHEDULE.md P10 (deficit round robin)."""

from __future__ import annotations

from schedule_harness import Run, run

from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Settings
from polysome.kinds.policy.drr import quantum

SERVED = Settings(serve=10**9, buffer=10**6, when_full="drop")  # 8 ns a byte
Offer = tuple[str, int, int]  # class, size, weight


def order(*offers: Offer) -> list[int]:
    """The order in which packets that wait from 0 on leave, behind one (not counted) that is being sent."""
    blocker = {"now": 0, "cls": "blocker", "args": (1,)}
    r = run("drr", SERVED, [blocker, *({"now": 0, "cls": c, "size": n, "args": (w,)} for c, n, w in offers)])
    assert not r.dropped
    return [number - 1 for number, _ in r.left[1:]]


def test_P10_1_classes_join_the_round_at_its_end() -> None:
    # b joins first, then a; a visit has room for one packet of 1514.
    assert order(("b", 1514, 1), ("a", 1514, 1), ("b", 1514, 1), ("a", 1514, 1)) == [0, 1, 2, 3]
    assert order(("b", 1514, 1), ("b", 1514, 1), ("a", 1514, 1), ("a", 1514, 1)) == [0, 2, 1, 3]


def test_P10_1_a_packet_that_finds_the_port_free_is_not_in_the_round() -> None:
    # a is sent at once. b, then a wait. Had a been in the round since 0, it would come first.
    offers = [{"now": 0, "cls": c, "size": 1514, "args": (1,)} for c in "aba"]
    assert [number for number, _ in run("drr", SERVED, offers).left] == [0, 1, 2]


def test_P10_2_a_visit_adds_1514_per_weight_of_its_first_packet() -> None:
    # a's first packet has weight 2: 3028 bytes, two packets; then b's visit, then a's, with weight 1.
    a = [("a", 1514, w) for w in (2, 1, 1, 1)]
    assert order(*a, ("b", 1514, 1), ("b", 1514, 1)) == [0, 1, 4, 2, 5, 3]


def test_P10_3_a_visit_lasts_as_long_as_the_deficit() -> None:
    # 15 packets of 100 fit 1514, with 14 left: the 16th waits for b. A last one of 14 would just have fitted.
    assert order(*[("a", 100, 1)] * 16, ("b", 100, 1)) == [*range(15), 16, 15]
    assert order(*[("a", 100, 1)] * 15, ("a", 14, 1), ("b", 100, 1)) == list(range(17))


def test_P10_3_a_visit_goes_on_for_packets_that_come_during_it() -> None:
    # a's first packet leaves at 800, its second, there already, at 1600. A third, of 1000, is in the same visit.
    r = Run("drr", SERVED)
    for now, cls in ((0, "x"), (0, "a"), (0, "a"), (0, "b"), (1000, "a")):
        r.offer(now, cls, args=(1,))
    r.finish()
    assert [number for number, _ in r.left] == [0, 1, 2, 4, 3]


def test_P10_4_the_deficit_is_kept_while_packets_wait() -> None:
    # Packets of 1000. Visits of a: 1514, one packet, 514 left; 2028, two packets, 28 left; 1542, one. b the same.
    a, b = [("a", 1000, 1)] * 4, [("b", 1000, 1)] * 4
    assert order(*a, *b) == [0, 4, 1, 2, 5, 6, 3, 7]


def test_P10_4_a_long_packet_takes_several_visits_at_one_instant() -> None:
    # 9000 bytes need six visits (6 * 1514 = 9084); alone in the round they all happen at 800.
    r = run("drr", SERVED, [{"now": 0, "args": (1,)}, {"now": 0, "size": 9000, "args": (1,)}])
    assert r.left == [(0, 0), (1, 800)]
    # Beside b's packets of 1514 it comes after five of them.
    assert order(("a", 9000, 1), *[("b", 1514, 1)] * 7) == [1, 2, 3, 4, 5, 0, 6, 7]


def test_P10_5_a_class_that_empties_loses_its_deficit() -> None:
    # a's only packet of 100 leaves at 800: 1414 are lost. Its next two, of 1000, arrive while it is being sent,
    # behind b: after b (1514) at 1600 a has 1514 again, enough for one; c comes between them.
    r = Run("drr", SERVED)
    arrivals = ((0, "x", 100), (0, "a", 100), (0, "b", 1514), (900, "a", 1000), (900, "a", 1000), (900, "c", 1000))
    for now, cls, size in arrivals:
        r.offer(now, cls, size, args=(1,))
    r.finish()
    assert [number for number, _ in r.left] == [0, 1, 2, 3, 5, 4]


def test_P10_6_weights_have_limits() -> None:
    assert quantum(0) == quantum(1) == 1514
    assert quantum(2**64 - 1) == quantum(2**32 - 1) == 1514 * (2**32 - 1)


def test_P10_7_the_bound_holds_for_the_worst_case() -> None:
    # Two classes, buffer 3028: a's two packets (1514) wait behind one being sent and behind b's. In the end: x 1514,
    # b 1514, a, b (arriving as soon as there is room), a: the last leaves after 4 * 1514 * 8 = 48 448.
    # Bound: L = 1514, q = 3028, 1 other, 2 visits: (1514 + 3028 + 1 * (2 * 1514 + 1514)) * 8 = 72 672.
    settings = Settings(serve=10**9, buffer=3 * 1514, queue=3028, classes=2, when_full="drop")
    r = Run("drr", settings)
    for now, cls in ((0, "x"), (0, "b"), (0, "a"), (0, "a"), (12_112, "b"), (24_224, "b"), (36_336, "b")):
        r.offer(now, cls, 1514, args=(1,))
    r.finish()
    assert not r.dropped and [(n, t) for n, t in r.left if r.items[n][0].cls == "a"] == [(2, 24_224), (3, 48_448)]
    ns, words = POLICIES["drr"].hold_bound(settings, (1,), 1514)
    assert ns == 72_672 and words.startswith("(queue + longest packet + (classes - 1) * (queue rounded up")
    # Without limits of its own: n = 4542 / 14 = 324 others, q = 4542 = 3 visits: (1514 + 4542 + 324 * 4 * 1514) * 8.
    bare = Settings(serve=10**9, buffer=3 * 1514, when_full="drop")
    assert POLICIES["drr"].hold_bound(bare, (1,), 1514)[0] == (1514 + 4542 + 324 * 4 * 1514) * 8
    assert POLICIES["drr"].hold_bound(bare, None)[0] is None
