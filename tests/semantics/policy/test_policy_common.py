"""SCHEDULE.md P1, and what the checker is told about each policy."""

from __future__ import annotations

import pytest
from schedule_harness import Run, run

from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import Item, Settings

SHAPE = Settings(classes=8, idle=10**9, buffer=1000, when_full="drop")
SERVED = Settings(serve=10**9, buffer=1000, when_full="drop")  # 8 ns a byte
ONE_BYTE_PER_NS = 8 * 10**9  # bit/s


def test_P1_1_copies_to_several_ports_are_packets_of_their_own() -> None:
    r = Run("fifo", SERVED)
    for port in (0, 1):  # both ports are free: each sends its copy at once
        r.offer(5, port=port)
    assert r.left == [(0, 5), (1, 5)]


def test_P1_1_copies_share_their_class_and_number() -> None:
    # Burst 200 at 1000 bytes/ns: the first two copies leave at 0, the other two, missing their 100 bytes, at 1.
    left = []
    policy = POLICIES["shape"].make(SHAPE, lambda item, time: left.append((item.port, time)), lambda item, reason: None)
    for port in (3, 2, 1, 0):
        policy.offer(Item(None, port, 100, "a", 7, (1000 * ONE_BYTE_PER_NS, 200)), 0)
    policy.run_due()
    assert left == [(3, 0), (2, 0), (1, 1), (0, 1)]


@pytest.mark.parametrize(
    ("kind", "settings", "args"),
    [("priority", SERVED, [(1,), (9,)]), ("deadline", SERVED, [(900,), (1,)]), ("drr", SERVED, [(1,), (9,)])],
)
def test_P1_2_a_class_keeps_its_order_whatever_its_values(
    kind: str, settings: Settings, args: list[tuple[int]]
) -> None:
    # One packet is being sent (0 to 800); of the two of class b behind it the second is the more urgent.
    r = run(kind, settings, [{"now": 0, "args": (1,)}, *({"now": 1, "cls": "b", "args": a} for a in args)])
    assert [order for order, _ in r.left] == [0, 1, 2]


def test_P1_3_what_is_due_goes_before_a_packet_arriving_then() -> None:
    # 100 bytes take 800 ns. Packets 1 and 2 fill the buffer of 200; 1 leaves at 800, so 3, arriving at 800, has room.
    r = Run("fifo", Settings(serve=10**9, buffer=200, when_full="drop"))
    for now in (0, 0, 0):
        r.offer(now)
    r.offer(799)
    r.offer(800)
    assert r.left == [(0, 0), (1, 800)] and r.dropped == [(3, "buffer full")] and r.policy.held() == 2


def test_P1_4_ties_leave_in_arrival_order() -> None:
    # 1 byte per ns, burst 100: in each class the second packet of 100 leaves 100 ns after the first, both at 100.
    r = run("shape", SHAPE, [{"now": 0, "cls": c, "args": (ONE_BYTE_PER_NS, 100)} for c in ("b", "a", "a", "b")])
    assert r.left == [(0, 0), (1, 0), (2, 100), (3, 100)]


def test_P1_4_one_run_lets_all_leave_that_is_due_then() -> None:
    # Two packets each are due at 100 (shape, as above), 800 (two ports) and 50 (reframe); for shape one more at 200.
    shape_args = {"args": (ONE_BYTE_PER_NS, 100)}
    for kind, settings, more, cls_or_port, due in (
        ("shape", SHAPE, shape_args, [("a", 0), ("b", 0)] * 2 + [("a", 0)], 100),
        ("fifo", SERVED, {}, [("a", 0), ("a", 1)] * 2, 800),
        ("reframe", Settings(window=50, count=9), {}, [("a", 0), ("a", 0)], 50),
    ):
        r = Run(kind, settings)
        for cls, port in cls_or_port:
            r.offer(0, cls, port=port, **more)  # type: ignore[arg-type]
        held = r.policy.held()
        assert r.policy.next_due() == due
        r.policy.run_due()
        assert held - r.policy.held() == 2 and [time for _, time in r.left[-2:]] == [due, due]


def test_P1_4_with_serve_the_ports_take_turns_in_port_order() -> None:
    # Ports 2 and 1 are both busy until 800; port 1 goes first though its packet came later.
    r = run("fifo", SERVED, [{"now": 0, "port": p} for p in (2, 1, 2, 1)])
    assert r.left == [(0, 0), (1, 0), (3, 800), (2, 800)]


def test_P1_5_every_packet_leaves_or_is_dropped_or_is_held() -> None:
    # Burst 100 at 1 byte/ns, buffer 250: one leaves, two are held (200), the fourth finds no room.
    settings = Settings(classes=1, idle=10**9, buffer=250, when_full="drop")
    r = Run("shape", settings)
    for _ in range(4):
        r.offer(0, args=(ONE_BYTE_PER_NS, 100))
    assert (r.left, r.dropped, r.policy.held()) == ([(0, 0)], [(3, "buffer full")], 2)


def test_P1_6_what_leaves_at_once_needs_no_room() -> None:
    unroomy = {"shape": Settings(classes=1, idle=1, buffer=0, when_full="drop")}
    unroomy["fifo"] = Settings(serve=1, buffer=0, when_full="drop")
    for kind, settings in unroomy.items():
        r = Run(kind, settings)
        r.offer(0, args=(1, 100))
        assert r.left == [(0, 0)] and r.policy.next_due() is None


def test_P1_7_limits_may_be_reached_but_not_exceeded() -> None:
    # Class a holds 100 + 100 = queue; one byte more is too much. Class b may add 100 = buffer; c finds it full.
    settings = Settings(serve=10**9, buffer=300, queue=200, when_full="drop")
    r = Run("fifo", settings)
    for cls in ("x", "a", "a", "a", "b", "c"):
        r.offer(0, cls)
    assert r.dropped == [(3, "queue full"), (5, "buffer full")]
    # The queue of a on another port is another one; then nothing is free any more, and `queue full` is named first.
    r = Run("fifo", settings)
    for cls, port in (("x", 0), ("x", 1), ("a", 0), ("a", 0), ("a", 1), ("a", 0)):
        r.offer(0, cls, port=port)
    assert r.dropped == [(5, "queue full")]


def test_P1_7_shape_has_queues_and_a_buffer_too() -> None:
    # 1 byte/ns, burst 100, queue 200, buffer 300. a: one leaves, two are held (200), the next exceeds the queue.
    # b: one leaves, one is held (300), the next exceeds the buffer. At 100 a's second and b's leave: room for one each.
    args = (ONE_BYTE_PER_NS, 100)
    r = Run("shape", Settings(classes=4, idle=10**9, buffer=300, queue=200, when_full="drop"))
    for cls in "aaaabbb":
        r.offer(0, cls, args=args)
    assert r.dropped == [(3, "queue full"), (6, "buffer full")] and r.policy.held() == 3
    for cls in "abab":
        r.offer(100, cls, args=args)
    assert r.dropped[2:] == [(9, "queue full"), (10, "buffer full")] and r.policy.held() == 3


def test_P1_7_when_full_does_not_concern_the_buffer() -> None:
    settings = Settings(classes=4, idle=10**9, buffer=100, when_full="pass")
    r = Run("shape", settings)
    for _ in range(3):
        r.offer(0, args=(ONE_BYTE_PER_NS, 100))
    assert r.dropped == [(2, "buffer full")]


@pytest.mark.parametrize(
    ("kind", "settings", "args", "bound"),
    [
        ("fifo", Settings(), (), 0),
        ("police", Settings(classes=1, idle=1, when_full="drop"), (1, 1), 0),
        # 1000 bytes at 1 Gbit/s take 8000 ns.
        ("shape", SHAPE, (10**9, 1500), 8000),
        ("shape", SHAPE, None, None),
        ("reframe", Settings(window=64_000, count=32), (), 64_000),
        # (1000 + 1514) bytes at 8 ns.
        ("fifo", SERVED, (), 20_112),
        ("priority", SERVED, (7,), 20_112),
        ("priority", SERVED, None, None),
        ("deadline", SERVED, (7,), 20_112),
        ("deadline", SERVED, None, None),
        ("drr", SERVED, None, None),
        # n = 2 - 1, visits = 1 of 1514: (1514 + 1000 + 1 * (1 * 1514 + 1514)) * 8.
        ("drr", Settings(serve=10**9, buffer=1000, classes=2, when_full="drop"), (1,), 44_336),
    ],
)
def test_P1_8_every_policy_states_its_bound(
    kind: str, settings: Settings, args: tuple[int, ...] | None, bound: int | None
) -> None:
    assert POLICIES[kind].problem(settings) is None
    ns, words = POLICIES[kind].hold_bound(settings, args, 1514)
    assert ns == bound and words.startswith("none: ") == (bound is None)


def test_P1_9_memory_is_buffer_and_records() -> None:
    # 640 bytes are 10 packets of 64: 640 + 10 * 48, and 3 classes of 64 + 13 bytes (104 bits).
    settings = Settings(classes=3, idle=1, buffer=640, when_full="drop")
    assert POLICIES["shape"].memory(settings) == 640 + 480 + 3 * 77
    assert POLICIES["police"].memory(settings, 32) == 3 * 68
    # Of a served port there are at most as many classes as packets.
    served = Settings(serve=1, buffer=640, when_full="drop")
    assert POLICIES["drr"].memory(served) == 640 + 480 + 10 * 77
    assert POLICIES["fifo"].memory(Settings()) == 0
    # 2 packets: 2 * (1514 + 48) and at most 2 classes.
    assert POLICIES["reframe"].memory(Settings(window=1, count=2)) == 2 * 1562 + 2 * 77


@pytest.mark.parametrize(
    ("kind", "settings", "problem"),
    [
        ("priority", Settings(), "`priority` needs `serve RATE`: it chooses what an output port sends next"),
        ("shape", SERVED, "`shape` takes no `serve`"),
        ("fifo", Settings(buffer=1), "`fifo` takes no `buffer` without `serve`"),
        ("fifo", Settings(serve=1, idle=1, buffer=1, when_full="drop"), "`fifo` takes no `idle`"),
        (
            "police",
            Settings(classes=1, idle=1),
            "`police` needs `when full`: say what a new class meets when all are taken",
        ),
        ("reframe", Settings(window=1), "`reframe` needs a count"),
        ("reframe", Settings(window=1, count=0), "`count` must be at least 1"),
        ("drr", Settings(serve=0, buffer=1, when_full="drop"), "`serve` must be at least 1"),
        ("drr", Settings(serve=1, buffer=1, when_full="evict"), "`when full evict` is not possible with `drr`"),
    ],
)
def test_problems_are_told_in_words(kind: str, settings: Settings, problem: str) -> None:
    assert POLICIES[kind].problem(settings) == problem


@pytest.mark.parametrize("kind", ["fifo", "police", "shape", "reframe", "priority"])
def test_running_a_policy_that_holds_nothing_does_nothing(kind: str) -> None:
    settings = {"shape": SHAPE, "priority": SERVED, "reframe": Settings(window=1, count=2)}.get(kind, Settings())
    if kind == "police":
        settings = Settings(classes=1, idle=1, when_full="drop")
    r = Run(kind, settings)
    r.policy.run_due()
    assert (r.policy.next_due(), r.policy.held(), r.left) == (None, 0, [])
