"""Specs, and traffic for them, for mutants of the native NF that no example can tell from the original."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count, islice
from typing import Any

OWN = ("store", "writing", "held", "shaping")
PACKETS = 120
GAPS = (0, 0, 0, 1, 300, 5_000, 39_999, 40_000, 40_001)

# A value of a pool is held by two entries, one of which ends before the other; a sketch counts more than it has
# registers.
HELD = """
use net.l4;
nf held {
  port a, b;
  state {
    free:  pool<u16> { from 1..6; }
    short: map<ipv4, u16 from free> { capacity 4; idle 5us; when full evict oldest; }
    long:  map<ipv4, u16 from free> { capacity 4; idle 20us; when full evict oldest; }
    seen:  hyperloglog<u64> { error 26%; }
    turn:  u64;
  }
  on packet from a {
    require ipv4 else drop "not IPv4";
    turn += 1;
    seen.add(turn);
    ipv4.dscp = seen.estimate() as bit<6>;
    let value = free.take() else drop "none free";
    short[ipv4.src] = value;
    long[ipv4.src] = value;
    ipv4.ttl = value as u8;
    send b;
  }
  on packet from b { send a; }
}
"""


def text(name: str) -> str:
    """The spec."""
    from tests.testing.builtin.networks import SCHEDULED, SCHEDULES, STORE, WRITING

    shaping = SCHEDULED.replace("POLICY", SCHEDULES["shape evict"])
    return {"store": STORE, "writing": WRITING, "held": HELD, "shaping": shaping}[name]


def traces(name: str, spec: Any, seed: int) -> Iterator[Any]:
    """Traces for it, for ever."""
    from tests.testing.builtin.networks import schedule_trace, store_trace

    match name:
        case "store":
            return (store_trace(seed + n) for n in count())
        case "held":
            return (replace(store_trace(seed + n), config={}, changes=()) for n in count())
        case "shaping":
            return (schedule_trace(seed + n) for n in count())
        case _:
            return _writing_traces(spec, random.Random(seed))


def _writing_traces(spec: Any, rng: random.Random) -> Iterator[Any]:
    """Frames with checksums of 0 and ffff, damaged ones, and config that changes at the time of a packet."""
    from tests.native.writing_specs import RealFrames
    from tests.testing.traffic.kit import machine

    from polysome.engines.trace import Arrival, Change, Trace
    from polysome.testing.traffic.build import lone_frame

    parse: Callable[[bytes], Any] = partial(machine(spec, {"limit": 7}).parse, 0)
    known = [lone_frame(spec, rng.randbytes(64), rng.randbytes(400)) for _ in range(400)]
    frames = iter(RealFrames(spec.program, parse, rng, [frame for frame in known if frame]))
    while True:
        time, arrivals = 10**18, []
        for frame in islice(frames, PACKETS):
            time += rng.choice(GAPS)
            arrivals.append(Arrival(0, time, frame))
        change = Change(rng.choice(arrivals).time, {"limit": rng.randrange(1 << 16)})
        yield Trace({"limit": 7}, tuple(arrivals), (change,))
