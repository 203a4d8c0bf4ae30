"""Slots and cells of the emitted program over time: the clock's wrap, stamps a tick apart, rings that went round.

The program runs alone; edits come from an NF's port, cells from a server's. Every case is run on a chip whose stateful
ALUs compare exactly, and on one where they wrap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from tests.p4.soft import run
from tests.system import attacks as a
from tests.system.outcome import designed
from tests.system.test_rare_values import parkable

from polysome.backends.system.library import limits, p4_text
from polysome.backends.tofino.program import INGRESS_EVENTS
from polysome.engines import ENGINES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

TICK = 65_536  # ns
WRAP = 1 << 46  # ns: the clock of the registers begins anew
OUT, NF, SERVER = 1, 2, 3  # ports; their roles are the same numbers (targets/tofino/constants.p4.j2)
NUMBER = 77  # of the queue pair, at the server
SEQ = 5
_, DESIGN = designed("load_balancer")
SIZES = DESIGN.sizes
T = SIZES.timeout * TICK
Step = Callable[[], str]  # a line of the script, made when a test runs: the packet takes a run of the system


@cache
def packet() -> bytes:
    return parkable("load_balancer")[2]


def edits(at: int, seq: int = SEQ) -> Step:
    return lambda: f"in {NF} {at} {a.tagged(seq, 0, len(packet()), 1, data=bytes(10)).hex()}"


def cell(at: int, seq: int = SEQ) -> Step:
    return lambda: f"in {SERVER} {at} {a.response(NUMBER, 1, seq, packet()).hex()}"


def given(newest: int) -> Step:
    return lambda: f"write Ingress.counter 0 {newest}"


def events(wraps: bool, *steps: Step) -> dict[str, int]:
    """What ingress counted for the queue pair, by event, without those that did not happen."""
    bits = SIZES.queue_pairs.bit_length() - 1
    script = [
        *(f"port {port} metadata={port << 56}" for port in (OUT, NF, SERVER)),
        f"add Ingress.servers to_server 0 : {SERVER}",
        f"add Ingress.answers answered {SERVER} {NUMBER} : 0",
        f"add Ingress.verdicts send 1 : {OUT}",
        *(step() for step in (given(SEQ + 1), *steps)),
        *(f"counter Ingress.events {n << bits}" for n in range(len(INGRESS_EVENTS))),
    ]
    chip = replace(limits(DESIGN.site.switch), stateful_wraps=wraps)
    said = run(p4_text(DESIGN), "\n".join(script), chip)[-len(INGRESS_EVENTS) :]
    found = {name: int(line.split()[1]) for name, line in zip(INGRESS_EVENTS, said, strict=True)}
    return {name: count for name, count in found.items() if count}


LATE = 1 << 40
CASES = {
    "a packet takes its edits": ([edits(LATE), cell(LATE + 1000)], {"edits": 1, "merged": 1}),
    "its cell comes a tick before": ([edits(LATE), cell(LATE - TICK)], {"edits": 1, "merged": 1}),
    "a second cell finds nothing": (
        [edits(LATE), cell(LATE), cell(LATE)],
        {"edits": 1, "merged": 1, "foreign_cell": 1},
    ),
    "nor does one when the clock begins anew": (
        [edits(WRAP - TICK), cell(WRAP - TICK), cell(WRAP), cell(WRAP + T)],
        {"edits": 1, "merged": 1, "foreign_cell": 2},
    ),
    "a cell of seq 0 finds no slot that was never used, at the clock's first tick": (
        [given(3), cell(0, 0), cell(WRAP, 0)],
        {"foreign_cell": 2},
    ),
    "edits wait over the wrap": ([edits(WRAP - TICK), cell(WRAP + TICK)], {"edits": 1, "merged": 1}),
    "edits wait for T": ([edits(LATE), cell(LATE + T)], {"edits": 1, "merged": 1}),
    "and no longer": ([edits(LATE), cell(LATE + T + TICK)], {"edits": 1, "foreign_cell": 1}),
    "repeated edits are refused while they wait": ([edits(LATE), edits(LATE + T)], {"edits": 1, "repeated_edits": 1}),
    "also a tick before": ([edits(LATE), edits(LATE - TICK)], {"edits": 1, "repeated_edits": 1}),
    "and when the packet has left": (
        [edits(LATE), cell(LATE), edits(LATE + 2 * T)],
        {"edits": 1, "merged": 1, "repeated_edits": 1},
    ),
    "after T the slot is free, whatever seq it has": ([edits(LATE), edits(LATE + T + TICK)], {"edits": 2}),
    "another packet waits for the slot": (
        [given(SEQ + SIZES.slots), edits(LATE), edits(LATE, SEQ + SIZES.slots)],
        {"edits": 1, "retry": 1},
    ),
    "a tick before, too": (
        [given(SEQ + SIZES.slots), edits(LATE), edits(LATE - TICK, SEQ + SIZES.slots)],
        {"edits": 1, "retry": 1},
    ),
    "and gets it when the clock began anew": (
        [given(SEQ + SIZES.slots), edits(WRAP - TICK), edits(WRAP + TICK, SEQ + SIZES.slots)],
        {"edits": 2},
    ),
    "its owner's edits are not taken by the other": (
        [given(SEQ + SIZES.slots), edits(LATE), cell(LATE, SEQ + SIZES.slots)],
        {"edits": 1, "foreign_cell": 1},
    ),
    "the last of the ring is read": (
        [given(SEQ + SIZES.cells - 1), edits(LATE), cell(LATE)],
        {"edits": 1, "merged": 1},
    ),
    "what left the ring is not": ([given(SEQ + SIZES.cells), edits(LATE)], {"old_edits": 1}),
    "nor what leaves it while it is read": (
        [edits(LATE), given(SEQ + SIZES.cells), cell(LATE)],
        {"edits": 1, "foreign_cell": 1},
    ),
    "what is not given yet is no packet's": ([given(SEQ - 1), edits(LATE)], {"old_edits": 1}),
    "a seq of before the numbers began anew is in the ring": (
        [given(3), edits(LATE, 0x3FFFFFFE), cell(LATE, 0x3FFFFFFE)],
        {"edits": 1, "merged": 1},
    ),
}


@pytest.mark.parametrize("wraps", [False, True], ids=["exact", "wraps"])
@pytest.mark.parametrize("case", CASES)
def test_over_time(case: str, wraps: bool) -> None:
    steps, wanted = CASES[case]
    assert events(wraps, *steps) == wanted
