"""Packets that an NF is for: of each port and parse class some that it sends on.

A config by which none of them gets through serves nobody; that is how an NF tells (runtime/host/nf_control.hpp).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

from polysome.config.tables import Tables
from polysome.interp.machine import Machine, Nowhere
from polysome.testing import traffic
from polysome.testing.spec import Spec

OF_EACH = 2  # of one port and class
MOST = 64
LONGEST = 512  # bytes
TRACES = 40
SEED = 1


def samples(spec: Spec, config: Mapping[str, Any]) -> list[tuple[int, bytes]]:
    """(port, packet), one after the other. Deterministic; empty if no generated packet is sent with this config."""
    found: list[tuple[int, bytes]] = []
    having: Counter[tuple[int, tuple[int, ...]]] = Counter()
    machine = Machine(spec.program, Tables(spec.program, dict(config)), Nowhere())
    traces = traffic.seeded(dataclasses.replace(spec, config=config), SEED, count=TRACES)
    for time, arrival in enumerate((a for trace in traces for a in trace.arrivals), 10**9):
        key = arrival.port, tuple(machine.parse(arrival.port, arrival.data).path)
        if len(arrival.data) > LONGEST or having[key] == OF_EACH:
            continue
        before = machine.counters.sent + machine.held
        machine.arrive(arrival.port, time, arrival.data)
        if machine.counters.sent + machine.held > before:
            having[key] += 1
            found.append((arrival.port, arrival.data))
        if len(found) == MOST:
            break
    return found
