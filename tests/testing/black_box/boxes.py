"""Programs to hold to specs, the specs, and how tests start them."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import polysome.testing as pt

HERE = Path(__file__).parent
MS = 10**6

CABLE = """
use net.ethernet;
parser frames { state start { extract ethernet; } }
nf cable {
  port a, b;
  on packet from a { send b; }
  on packet from b { send a; }
}
"""
# What comes from b answers a frame from a that is at most 300 ms old.
MEMORY = """
use net.ethernet;
parser frames { state start { extract ethernet; } }
nf memory {
  port a, b;
  relevant ethernet.{src, dst} else drop "no header";
  state { asked: set<mac> { capacity 64; idle 300ms; when full evict oldest; } }
  on packet from a { asked.add(ethernet.src); send b; }
  on packet from b { require ethernet.dst in asked else drop "nobody asked"; send a; }
}
"""


@cache
def need_box() -> None:
    """Skips the test unless black boxes run here."""
    if (lacking := pt.BlackBox(["true"]).missing()) is not None:
        pytest.skip(lacking)


def box(what: str, **options: Any) -> pt.BlackBox:
    """The program of `nfs.py` that does so; its command says whose it is."""
    command = [sys.executable, "-IS", str(HERE / "nfs.py"), what, "{a}", "{b}", mark(os.getpid())]
    return pt.BlackBox(command, **{"longest_gap": 0.0, **options})


def spec_of(folder: Path, text: str) -> pt.Spec:
    path = folder / "spec.nf"
    path.write_text(text, encoding="utf-8")
    return pt.load(path)


def frame(source: int = 1, destination: int = 2, size: int = 60) -> bytes:
    """Of an EtherType for experiments, from and to stations of these numbers."""
    head = bytes((2, 0, 0, 0, 1, destination, 2, 0, 0, 0, 1, source)) + b"\x88\xb5"
    return head + bytes(n % 251 for n in range(size - len(head)))


def trace(*packets: tuple[int, int, bytes]) -> pt.Trace:
    """Of (port, milliseconds, frame)."""
    return pt.Trace({}, tuple(pt.Arrival(port, 10**18 + time * MS, data) for port, time, data in packets))


def mark(tester: int) -> str:
    return f"tested-by-{tester}"


def running(tester: int) -> list[int]:
    """The programs that a process tests, and what they started: other tests may have some at the same time."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0") if entry.isdigit() else []
        except OSError:
            continue
        if mark(tester).encode() in words:
            found.append(int(entry))
    return found
