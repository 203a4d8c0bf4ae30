"""How much of the switch's program the differential tests reach, and why they do not reach the rest.

`make pytest ARGS='-s tests/system/test_reached.py'` prints the figures.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from tests.system.reached import missing, of_example
from tests.testing.builtin.networks import EXAMPLES

from polysome.engines import ENGINES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

MOST = 0.02  # of the outcomes
UNSPLIT = ("bridge", "router6")  # their NFs read more than bytes of headers, so every packet goes whole
SPLIT = tuple(name for name in EXAMPLES if name not in UNSPLIT)
ALL_EDITED = ("forwarder", "load_balancer", "nat", "vxlan_gateway")
ALL_FILLED = ("forwarder", "load_balancer", "nat", "policer", "shaper", "slim_dpi", "vxlan_gateway")


class Why(NamedTuple):
    """`what`: a regular expression for whole titles (`Coverage.titles`). `examples`: where it says why."""

    what: str
    examples: tuple[str, ...]
    reason: str


UNREACHED = (
    Why(
        r"ingress, if \(hdr\.bridge\.way == \d+( \|\| hdr\.bridge\.way == \d+)*\): false( \(2\))?",
        SPLIT,
        "the last condition of a chain over all ways, where the packet went one of them",
    ),
    Why(
        r"ingress, table Ingress\.edits: NoAction by default",
        ALL_EDITED,
        "applied only to packets that went a way, and every way has an entry",
    ),
    Why(
        r"egress, table Egress\.filling: NoAction by default",
        ALL_FILLED,
        "applied only to fields frames, and every way has an entry: its fields are shorter than the least frame",
    ),
    Why(
        r"ingress, if \(md\.port\.role == ROLE_CONTROLLER\): true",
        SPLIT,
        "the simulated system's controller proves no queue pair; tests/switch/process/test_probes.py does",
    ),
    Why(
        r"ingress, if \(md\.there == 0\): true",
        SPLIT,
        "edits that come again when their packet has left: tests/system/test_slots_in_time.py",
    ),
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_not_reached_has_a_reason(name: str) -> None:
    """Transitions of parsers are each program's own; what has the same text in all is reached if it is in any."""
    coverage = of_example(name)
    total, unreached = len(coverage.counts), missing(coverage)
    own = f"{coverage.reached} of {total} outcomes by its own traffic"
    print(f"{name}: {own}; {len(unreached)} by none, {len(unreached) / total:.2%}")
    reasons = [why for why in UNREACHED if name in why.examples]
    unexplained = [title for title in unreached if not any(re.fullmatch(why.what, title) for why in reasons)]
    assert not unexplained, "\n".join(unexplained)
    stale = [why.what for why in reasons if not any(re.fullmatch(why.what, title) for title in unreached)]
    assert not stale, f"reached now, or not there any more: {stale}"
    assert len(unreached) <= MOST * total
