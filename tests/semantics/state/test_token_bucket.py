"""Section 4 of STATE.md: token buckets. Vectors are computed by hand."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from polysome.kinds.state.token_bucket import FULL, SCALE, fill, has, ready_at, refill, take

BYTES, PACKETS = SCALE["bytes"], SCALE["packets"]
MBPS10 = 10**7
RATES = st.one_of(st.integers(0, 10**11), st.integers(0, 2**64 - 1))


def test_S4_1_units() -> None:
    # a byte is 8 bits of 10^9 tokens; 8 Gbit/s fill a byte per ns
    assert BYTES == 8_000_000_000 and PACKETS == 1_000_000_000
    assert refill((0, 0), 1, 8 * 10**9, 100, BYTES) == (BYTES, 1)
    assert refill((0, 0), 10**9, 3, 100, PACKETS) == (3 * PACKETS, 10**9)  # 3 packets/s for a second


def test_S4_2_refill() -> None:
    # 10 Mbps, burst 1500 B = 1500·8·10^9 = 12·10^12
    assert refill((0, 5), 5, MBPS10, 1500, BYTES) == (0, 5)
    assert refill((0, 5), 1_000_005, MBPS10, 1500, BYTES) == (10**13, 1_000_005)  # 10^6·10^7
    assert refill((0, 5), 1_200_005, MBPS10, 1500, BYTES) == (12 * 10**12, 1_200_005)  # exactly full
    assert refill((0, 5), 9_000_005, MBPS10, 1500, BYTES) == (12 * 10**12, 9_000_005)
    assert refill((2**128 - 5, 0), 6, 1, 2**64 - 1, BYTES)[0] == (2**64 - 1) * 8 * 10**9


def test_S4_3_a_bucket_starts_full() -> None:
    assert FULL == (2**128 - 1, 0)
    for now in (0, 1, 2**64 - 1):
        for burst in (0, 1500, 2**64 - 1):
            assert fill(FULL, now, 2**64 - 1, burst, BYTES) == burst
            assert has(FULL, now, burst, 0, burst, BYTES) and (
                burst == 2**64 - 1 or not has(FULL, now, burst + 1, 0, burst, BYTES)
            )


def test_S4_4_take_and_has() -> None:
    done, bucket = take(FULL, 5, 1500, MBPS10, 1500, BYTES)
    assert done and bucket == (0, 5)
    assert not has(bucket, 1_000_005, 1251, MBPS10, 1500, BYTES)  # 10^13 / (8·10^9) = 1250
    assert has(bucket, 1_000_005, 1250, MBPS10, 1500, BYTES)
    assert not has(bucket, 1_000_004, 1250, MBPS10, 1500, BYTES)
    assert take(bucket, 1_000_005, 1250, MBPS10, 1500, BYTES) == (True, (0, 1_000_005))
    assert take(bucket, 1_000_005, 1000, MBPS10, 1500, BYTES) == (True, (2 * 10**12, 1_000_005))
    assert take((0, 3), 9, 0, 0, 0, PACKETS) == (True, (0, 9))


def test_S4_5_a_take_that_fails_changes_nothing() -> None:
    bucket = (7, 5)
    assert take(bucket, 1_000_005, 1251, MBPS10, 1500, BYTES) == (False, bucket)


def test_S4_7_each_call_uses_its_own_rate_for_all_the_time_since_last() -> None:
    bucket = (0, 0)
    assert take(bucket, 50, 1, 10**7, 9, PACKETS) == (False, bucket)  # 50·10^7 < 10^9
    assert take(bucket, 100, 1, 10**7, 9, PACKETS) == (True, (0, 100))  # 100·10^7
    assert take(bucket, 100, 2, 2 * 10**7, 9, PACKETS) == (True, (0, 100))  # twice the rate, for all 100 ns
    assert take(bucket, 100, 2, 2 * 10**7, 1, PACKETS) == (False, bucket)  # the burst of now


def test_S4_8_what_is_shown_is_rounded_down() -> None:
    assert fill((2 * BYTES - 1, 0), 0, 0, 9, BYTES) == 1
    assert fill((2 * BYTES, 0), 0, 0, 9, BYTES) == 2


def test_S4_9_when_it_is_there() -> None:
    bucket = (0, 5)
    assert ready_at(bucket, 5, 1250, MBPS10, 1500, BYTES) == 1_000_005  # 10^13 / 10^7 = 10^6 ns
    assert ready_at(bucket, 900_000, 1250, MBPS10, 1500, BYTES) == 1_000_005
    assert ready_at(bucket, 1_000_006, 1250, MBPS10, 1500, BYTES) == 1_000_006
    assert ready_at(bucket, 0, 0, MBPS10, 1500, BYTES) == 5  # not before its own time
    assert ready_at((0, 0), 0, 1, 3, 9, PACKETS) == 333_333_334  # 10^9 / 3, rounded up
    assert ready_at(bucket, 5, 1501, MBPS10, 1500, BYTES) is None and ready_at(bucket, 5, 1, 0, 1500, BYTES) is None


@given(st.integers(0, 10**12), st.integers(0, 10**6), st.integers(0, 2000), RATES, st.integers(0, 2000))
def test_S4_9_it_is_there_then_and_not_before(tokens: int, now: int, n: int, rate: int, burst: int) -> None:
    bucket = (min(tokens, burst * BYTES), 1000)
    ready = ready_at(bucket, now, n, rate, burst, BYTES)
    if ready is None:
        assert not has(bucket, 2**64 - 1, n, rate, burst, BYTES)
    else:
        assert ready >= max(now, 1000) and has(bucket, ready, n, rate, burst, BYTES)
        assert ready == max(now, 1000) or not has(bucket, ready - 1, n, rate, burst, BYTES)


TIMES = st.lists(st.one_of(st.integers(0, 10**10), st.integers(0, 2**64 - 1)), min_size=1, max_size=12).map(sorted)
BURSTS = st.one_of(st.integers(0, 10**5), st.integers(0, 2**64 - 1))


@given(RATES, BURSTS, TIMES, st.data(), st.sampled_from([BYTES, PACKETS]))
def test_S4_6_storing_a_refilled_bucket_makes_no_difference_at_constant_rate(
    rate: int, burst: int, times: list[int], data: st.DataObject, scale: int
) -> None:
    stored = kept = FULL
    for now in times:
        stored = refill(stored, now, rate, burst, scale)
        n = data.draw(st.integers(0, burst + 1))
        took, kept = take(kept, now, n, rate, burst, scale)
        took_too, stored = take(stored, now, n, rate, burst, scale)
        assert took == took_too
        assert refill(kept, now, rate, burst, scale) == refill(stored, now, rate, burst, scale)


@given(RATES, BURSTS, TIMES, st.data(), st.sampled_from([(BYTES, 8), (PACKETS, 1)]))
def test_S4_2_the_bucket_is_exact(
    rate: int, burst: int, times: list[int], data: st.DataObject, unit: tuple[int, int]
) -> None:
    scale, per_unit = unit
    level, at, bucket = Fraction(burst), 0, FULL  # bytes or packets, as rationals
    for now in times:
        level = min(Fraction(burst), level + Fraction((now - at) * rate, 10**9 * per_unit))
        at = now
        n = data.draw(st.integers(0, burst + 1))
        assert has(bucket, now, n, rate, burst, scale) == (level >= n)
        took, bucket = take(bucket, now, n, rate, burst, scale)
        assert took == (level >= n)
        level -= n if took else 0
        assert fill(bucket, now, rate, burst, scale) == level.__floor__()


@given(st.lists(st.tuples(st.integers(0, 10**9), RATES, BURSTS, st.booleans()), max_size=12), BURSTS)
def test_S4_5_polling_never_matters_at_any_rates(calls: list[tuple[int, int, int, bool]], n: int) -> None:
    now, polled, quiet = 0, FULL, FULL
    for wait, rate, burst, poll in calls:
        now += wait
        if poll:
            _, polled = take(polled, now, burst + 1, rate, burst, BYTES)  # more than it can hold: fails
            has(polled, now, n, rate, burst, BYTES)
        else:
            took, polled = take(polled, now, n, rate, burst, BYTES)
            assert (took, polled) == take(quiet, now, n, rate, burst, BYTES)
            _, quiet = take(quiet, now, n, rate, burst, BYTES)
