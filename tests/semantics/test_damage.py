"""Damaged packets: flipped bits, cut and lengthened frames, lying lengths.

Nothing may end the interpreter; the accounts and the checksums hold as for whole ones.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.semantics.corpus import EXAMPLES, Noting, Run, config, plain
from tests.semantics.test_corpus import assert_checksums

from polysome.captures.read import open_capture
from polysome.engines.feed import Turns

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 6


def damaged(frame: bytes, rng: random.Random) -> bytes:
    """The frame with one kind of damage, often in its headers."""
    data = bytearray(frame)
    match rng.randrange(7):
        case 0:
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(min(len(data), 80))] ^= 1 << rng.randrange(8)
        case 1:
            return bytes(data[: rng.randrange(len(data) + 1)])
        case 2:
            return bytes(data) + rng.randbytes(rng.randrange(1, 40))
        case 3:
            data[rng.randrange(min(len(data), 60))] = rng.choice((0, 1, 4, 6, 17, 0x45, 0x4F, 0xFF))
        case 4:
            at = rng.choice((2, 12, 16, 18, 20, 38))
            data[at : at + 2] = rng.choice((0, 1, 7, 8, 20, 40, len(data), 65535)).to_bytes(2, "big")
        case 5:
            at = rng.randrange(min(len(data), 70))
            return bytes(data[:at] + rng.randbytes(rng.choice((1, 2, 4, 8))) + data[at:])
        case _:
            at = rng.randrange(min(len(data), 70))
            return bytes(data[:at] + data[at + rng.choice((1, 2, 4, 8, 14, 20)) :])
    return bytes(data)


@pytest.mark.parametrize("example", EXAMPLES)
def test_damaged_packets_are_accounted_for(example: str) -> None:
    captures = sorted((ROOT / "examples").glob("*/*.pcap"))
    rng = random.Random(example)
    setting = plain(example)
    run = Run(f"{example} on damaged packets", setting, config(example, setting.program))
    machine = Noting(run)
    turns = Turns(machine)
    time = 0
    for capture in captures:
        frames = [c.data for c in open_capture(capture)][:60]
        for frame in frames * (ROUNDS if capture.parent.name == example else 1):
            data = damaged(frame, rng)
            time += rng.choice((0, 1, 10**6, 10**9))
            run.arrivals.append((turns.port(data), time, data))
            machine.arrive(*run.arrivals[-1])
    machine.finish()
    c = machine.counters
    assert c.packets_in == len(run.arrivals) == c.sent + sum(c.dropped.values()) + machine.held
    assert_checksums(run)
