"""The packet that a proof shows for each way is one that the switch splits, and all engines agree about it."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.system.outcome import SYSTEM
from tests.testing.builtin.networks import EXAMPLES, example

from polysome.backends.system.proof import case_of
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Trace
from polysome.plan.design import default_design
from polysome.prove.split import converse
from polysome.prove.traffic import traffic
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.values import EPOCH
from polysome.testing.traffic.world import World

STEP = 1_000_000  # ns between packets

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing())),
]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_way_has_a_packet_that_is_split(name: str, counted: Counter[str]) -> None:
    spec = example(name)
    found = list(converse(traffic(case_of(default_design(spec.program)))))
    packets = [r.packet for r in found if r.packet is not None]
    assert len(packets) == len(found)
    config = World(spec.program, Choices(b""), spec.config).config
    trace = Trace(config, tuple(Arrival(r.port, EPOCH + n * STEP, p) for n, (r, p) in enumerate(zip(found, packets))))  # noqa: B905
    counted.clear()
    assert SYSTEM.run(spec.program, trace, RunOptions()).crash is None
    assert counted["parked"] == len(found)
