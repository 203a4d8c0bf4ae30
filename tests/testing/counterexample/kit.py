"""Small specs, frames and artificial properties for the tests of counterexamples."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from polysome.analysis.frames import repaired
from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Change, Trace
from polysome.testing.execution import Execution, Failure, Judgement, execute
from polysome.testing.spec import Spec, load

S = 10**9
INTERP = ENGINES["interp"]

LIMITER = """
use net.l4;

struct Plan { most: u32, uplink: port }

nf limiter {
  port left, right;
  config plans: map<ipv4, Plan>;
  config blocked: list<ipv4>;
  config usual: u32 = 7;

  state {
    seen: map<Flow, u32> { capacity 4; idle 5s; when full evict oldest; }
    total: u64;
  }
  schedule { class flow; fifo; }

  action count(most: u32) {
    let before = seen[flow] else { seen[flow] = 0; 0 };
    require before < most else drop "too many";
    seen[flow] = before + 1;
    total += 1;
  }

  on packet from left {
    require ipv4 else drop "not IPv4";
    require not (ipv4.src in blocked) else drop "blocked";
    let plan = plans[ipv4.src] else Plan { most: usual, uplink: right };
    count(plan.most);
    if ipv4.ttl > 1 { ipv4.ttl -= 1; } else { drop "expired"; }
    send plan.uplink;
  }
  on packet from right { send left; }
}
"""


@cache
def limiter() -> Spec:
    """The spec above, in a file of its own."""
    path = Path(tempfile.mkdtemp(prefix="polysome-counterexample-")) / "limiter.nf"
    path.write_text(LIMITER, encoding="utf-8")
    return load(path)


def udp(
    source: int = 1, target: int = 2, sport: int = 4000, dport: int = 80, payload: bytes = b"", ttl: int = 64
) -> bytes:
    """A frame from 192.168.0.`source` to 192.168.1.`target`."""
    ethernet = bytes.fromhex("0a0000000002 0a0000000001 0800")
    ip = bytes([0x45, 0, 0, 0, 0x12, 0x34, 0, 0, ttl, 17, 0, 0, 192, 168, 0, source, 192, 168, 1, target])
    return repaired(ethernet + ip + sport.to_bytes(2, "big") + dport.to_bytes(2, "big") + b"\0\0\x12\x34" + payload)


def trace(arrivals: list[Arrival], config: dict[str, Any] | None = None, changes: tuple[Change, ...] = ()) -> Trace:
    return Trace({"plans": {}, "blocked": (), "usual": 7} | (config or {}), tuple(arrivals), changes)


def run(made: Trace) -> Execution:
    return execute(limiter(), made, INTERP)


@dataclass(frozen=True)
class Artificial:
    """A property that fails where `broken` finds packets."""

    broken: Callable[[Execution], tuple[int, ...] | None]
    name: str = "artificial"
    doc: str = "Nothing of the kind happens."

    def judge(self, execution: Execution) -> Judgement:
        found = self.broken(execution)
        return Judgement(None if found is None else Failure(found, ("it happens",)), 1)
