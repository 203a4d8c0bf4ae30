"""SCHEDULE.md P5 (shape)."""

from __future__ import annotations

from schedule_harness import run

from polysome.kinds.policy import POLICIES
from polysome.kinds.policy.base import LAST_TIME, Settings

ONE_BYTE_PER_NS = 8 * 10**9  # bit/s
THREE_BITS_PER_NS = 3 * 10**9
SETTINGS = Settings(classes=4, idle=10**12, buffer=10**6, when_full="drop")


def times(args: tuple[int, int], arrivals: list[tuple[int, int]], settings: Settings = SETTINGS) -> list[int]:
    """When packets of (arrival, size) leave; none may be dropped."""
    r = run("shape", settings, [{"now": now, "size": size, "args": args} for now, size in arrivals])
    assert not r.dropped and [order for order, _ in r.left] == list(range(len(arrivals)))
    return [time for _, time in r.left]


def test_P5_1_a_packet_waits_for_its_tokens() -> None:
    # 1000 bytes full. 600 leave at 0 (400 left), 600 more miss 200 (at 200, 0 left), 600 more at 800.
    # At 5000 the bucket is full again.
    assert times((ONE_BYTE_PER_NS, 1000), [(0, 600), (0, 600), (0, 600), (5000, 1000)]) == [0, 200, 800, 5000]


def test_P5_1_a_packet_waits_for_its_predecessor() -> None:
    # After 900 of 1000, 800 leave at 700 (0 left). The 14 that arrive at 10 had found 110 tokens, but wait until 714.
    assert times((ONE_BYTE_PER_NS, 1000), [(0, 900), (0, 800), (10, 14)]) == [0, 700, 714]


def test_P5_1_a_packet_never_leaves_before_its_predecessor() -> None:
    # After 1000 of 1000, 14 bytes at 125 bytes/ns leave at 1: 125 came, 111 stay. The next 100, at 1 byte/ns, find them
    # at 1; that at this rate 110 would have been there at 0 already does not let them overtake.
    rates = ((1000, ONE_BYTE_PER_NS), (14, 10**12), (100, ONE_BYTE_PER_NS))
    r = run("shape", SETTINGS, [{"now": 0, "size": size, "args": (rate, 1000)} for size, rate in rates])
    assert r.left == [(0, 0), (1, 1), (2, 1)]


def test_P5_1_classes_do_not_wait_for_each_other() -> None:
    args = (ONE_BYTE_PER_NS, 100)
    r = run("shape", SETTINGS, [{"now": 0, "cls": c, "args": args} for c in ("a", "a", "a", "b")])
    assert r.left == [(0, 0), (3, 0), (1, 100), (2, 200)]


def test_P5_2_the_time_is_settled_at_arrival() -> None:
    # Packet 1 is to leave at 100; that packet 2 has ten times the rate changes nothing for it. Packet 2 follows 10 ns
    # after it (100 bytes at 10 bytes/ns); packet 3, at half the rate of packet 1, 200 ns after that.
    rates = (ONE_BYTE_PER_NS, ONE_BYTE_PER_NS, 10 * ONE_BYTE_PER_NS, ONE_BYTE_PER_NS // 2)
    r = run("shape", SETTINGS, [{"now": 0, "args": (rate, 100)} for rate in rates])
    assert [time for _, time in r.left] == [0, 100, 110, 310]


def test_P5_3_rounding_does_not_add_up() -> None:
    # 800 bits at 3 a ns. Burst 200 bytes: two at once. Then 800/3 = 266.7: 267, when 801 bits are there, 1 stays;
    # 799/3 = 266.3: 267 more = 534, 2 stay; 798/3 = 266 more = 800. Three packets in exactly 2400/3 ns.
    assert times((THREE_BITS_PER_NS, 200), [(0, 100)] * 5) == [0, 0, 267, 534, 800]


def test_P5_3_only_what_exceeds_the_burst_is_lost() -> None:
    # The same with a burst of just one packet: of 801 bits 800 are kept, so the loss of 1 bit repeats.
    assert times((THREE_BITS_PER_NS, 100), [(0, 100)] * 4) == [0, 267, 534, 801]


def test_P5_4_a_packet_longer_than_the_burst_is_dropped() -> None:
    r = run("shape", SETTINGS, [{"now": 0, "size": size, "args": (ONE_BYTE_PER_NS, 100)} for size in (101, 100)])
    assert r.dropped == [(0, "longer than burst")] and r.left == [(1, 0)]


def test_P5_5_without_a_rate_nothing_waits() -> None:
    r = run("shape", SETTINGS, [{"now": 0, "args": (0, 150)}, {"now": 0, "args": (0, 150)}])
    assert r.left == [(0, 0)] and r.dropped == [(1, "rate too low")]


def test_P5_5_time_ends_at_64_bits() -> None:
    # At 1 bit/s a packet of 800 bits takes 800 s. It may leave at the last ns there is, but not after.
    last = LAST_TIME - 800 * 10**9
    for now, dropped in ((last, []), (last + 1, [(1, "rate too low")])):
        r = run("shape", SETTINGS, [{"now": now, "args": (1, 100)}] * 2)
        assert r.dropped == dropped and len(r.left) == 2 - len(dropped)


def test_P5_6_a_window_holds_at_most_burst_and_rate() -> None:
    # 7 bits a ns, burst and packets 1000 bits: 142.9 ns each, so 143; windows of k packets last 143 (k - 1) ns and may
    # hold 1000 + 7 * 143 (k - 1) = 1000 k + (k - 1) bits.
    assert times((7 * 10**9, 125), [(0, 125)] * 4) == [0, 143, 286, 429]


def test_P5_7_the_bound_is_met_exactly_by_a_full_queue() -> None:
    # Burst 1000, rate 1 byte/ns, queue 500: after 1000 at 0 (bucket empty), 5 of 100 fill the queue; the last leaves at
    # 500 = ceil(500 * 8e9 / 8e9). The sixth is dropped.
    settings = Settings(classes=1, idle=10**12, buffer=10**6, queue=500, when_full="drop")
    args = (ONE_BYTE_PER_NS, 1000)
    r = run("shape", settings, [{"now": 0, "size": n, "args": args} for n in (1000, 100, 100, 100, 100, 100, 14)])
    assert max(r.waits()) == 500 and r.dropped == [(6, "queue full")]
    assert POLICIES["shape"].hold_bound(settings, args) == (
        500,
        "queue * 8 / rate: as long as the tokens for a full queue take to come",
    )


def test_P5_7_the_bound_counts_the_loss_of_rounding() -> None:
    # P5.3's second vector: a queue of 300 holds three packets; ceil(2400/3) = 800, but the last leaves at 801. Packets
    # that can lose are longer than 800 - 3 bits: at most 2400 // 797 = 3 of them.
    settings = Settings(classes=1, idle=10**12, buffer=300, when_full="drop")
    args = (THREE_BITS_PER_NS, 100)
    r = run("shape", settings, [{"now": 0, "args": args}] * 4)
    assert max(r.waits()) == 801
    assert POLICIES["shape"].hold_bound(settings, args) == (
        803,
        "buffer * 8 / rate: as long as the tokens for a full buffer take to come "
        "(and 3 ns of rounding, for packets as long as the burst)",
    )


def test_P5_7_a_packet_rate_is_bounded_by_the_shortest_packets() -> None:
    # A queue of 140 bytes holds at most 10 packets (of 14), each 1 ms after the other.
    settings = Settings(classes=1, idle=10**12, buffer=140, when_full="drop", unit="packets")
    r = run("shape", settings, [{"now": 0, "size": 14, "args": (1000, 2)}] * 13)
    assert max(r.waits()) == 10_000_000 and r.dropped == [(12, "buffer full")]
    assert POLICIES["shape"].hold_bound(settings, (1000, 2))[0] == 10_000_000


def test_P5_7_without_a_constant_rate_there_is_no_bound() -> None:
    assert POLICIES["shape"].hold_bound(SETTINGS, None)[0] is None
    assert POLICIES["shape"].hold_bound(SETTINGS, (0, 100))[0] is None
