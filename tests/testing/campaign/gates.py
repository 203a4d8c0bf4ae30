"""Small NFs that campaigns are tried on."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from polysome.testing.plan import Plan
from polysome.testing.spec import Spec, load

RIGHT = """
use net.l4;
nf gate {
  port a, b;
  state { open: set<Flow> { capacity 9; idle 5s; when full evict oldest; } }
  on packet from a { open.add(flow); send b; }
  on packet from b { require flow.reversed in open else drop "shut"; send a; }
  property shut { for q in trace where q.sent and q.in_port == b expect q.flow.reversed in q.before.open; }
  property never_tested { for p in trace where p.len == 3B and p.in.ipv4 expect p.held; }
}
"""
WRONG = RIGHT.replace('require flow.reversed in open else drop "shut"; ', "")
TWICE = WRONG.replace(
    "on packet from b { send a; }", "on packet from b { if flow.protocol == 6 { send a; }\n    send a; }"
)
"""Wrong at two statements."""

PLAN = Plan(seed=1, seconds=60, traces=40, only=("shut", "never_tested", "conservation", "faults"))


def until(true: Callable[[], object], seconds: float = 60) -> None:
    """Waits for it, at most so long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it does not come true"
        time.sleep(0.01)


def spec(folder: Path, text: str) -> Spec:
    path = folder / "gate.nf"
    path.write_text(text, encoding="utf-8")
    return load(path)
