"""`token_bucket`: an immutable value and pure functions on it (STATE.md, section 4).

A bucket is (tokens, last): how many units it held at the time `last` (ns), right after the last take that succeeded. A
unit is 10^-9 bit for a bucket of bytes and 10^-9 packet for one of packets, so a rate per second is units per ns and
nothing is ever rounded. `n` and `burst` are bytes or packets, `rate` is bit/s or packets/s; all may differ from call to
call, and each call uses its own for the whole time since `last`. `scale` is SCALE[unit].

The committed bucket of RFC 2697, section 3, in exact arithmetic.
"""

from __future__ import annotations

Bucket = tuple[int, int]

SCALE = {"bytes": 8 * 10**9, "packets": 10**9}  # by ir.types.Bucket.unit
MOST = 2**128 - 1
FULL: Bucket = (MOST, 0)  # the initial value: full, whatever the burst will be


def refill(bucket: Bucket, now: int, rate: int, burst: int, scale: int) -> Bucket:
    """The bucket as of `now`: min(burst·scale, tokens + (now - last)·rate), the sum saturating in 128 bits."""
    tokens, last = bucket
    return min(burst * scale, min(MOST, tokens + (now - last) * rate)), now


def has(bucket: Bucket, now: int, n: int, rate: int, burst: int, scale: int) -> bool:
    """Are there `n` bytes or packets in it? Changes nothing."""
    return refill(bucket, now, rate, burst, scale)[0] >= n * scale


def take(bucket: Bucket, now: int, n: int, rate: int, burst: int, scale: int) -> tuple[bool, Bucket]:
    """Takes `n` if they are there. If not, the bucket stays exactly as it was."""
    tokens, _ = refill(bucket, now, rate, burst, scale)
    if tokens < n * scale:
        return False, bucket
    return True, (tokens - n * scale, now)


def ready_at(bucket: Bucket, now: int, n: int, rate: int, burst: int, scale: int) -> int | None:
    """The first ns, not before `now` and the bucket's own time, at which it has `n`; None if it never will."""
    start = max(now, bucket[1])
    missing = n * scale - refill(bucket, start, rate, burst, scale)[0]
    if missing <= 0:
        return start
    if n > burst or rate == 0:
        return None
    return start - (-missing // rate)


def fill(bucket: Bucket, now: int, rate: int, burst: int, scale: int) -> int:
    """Whole bytes or packets in it, rounded down, for display."""
    return refill(bucket, now, rate, burst, scale)[0] // scale
