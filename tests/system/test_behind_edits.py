"""What stands behind the edits of a frame goes nowhere: a READ is as long as it says, or is none (rule 1)."""

from __future__ import annotations

import pytest
from tests.p4.soft import run
from tests.system import attacks as a
from tests.system.outcome import designed
from tests.system.test_rare_values import parkable

from polysome.backends.system.library import limits, p4_text
from polysome.backends.tofino.program import EGRESS_EVENTS
from polysome.engines import ENGINES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"
NF, SERVER, AGAIN = 2, 3, 4  # ports; their roles are the same numbers (targets/tofino/constants.p4.j2)
FOR_SLOT, FOR_READ = 0x40, 0x80  # why edits come again
REQUEST = 70  # bytes of a READ before its ICRC, which the port appends
LATE = 1 << 40  # ns
_, DESIGN = designed(NAME)
LONGEST = 9_000


def alone(port: int, frame: bytes) -> tuple[list[bytes], int]:
    """The program by itself: what leaves to the server, and how many edits egress counts as too long."""
    event = EGRESS_EVENTS.index("long") << DESIGN.sizes.queue_pairs.bit_length() - 1
    script = [
        *(f"port {port} metadata={port << 56}" for port in (NF, SERVER, AGAIN)),
        f"add Ingress.servers to_server 0 : {SERVER}",
        "write Ingress.counter 0 100",
        f"in {port} {LATE} {frame.hex()}",
        f"run {LATE + 1_000_000}",
        f"counter Egress.events {event}",
    ]
    *said, long = run(p4_text(DESIGN), "\n".join(script), limits(DESIGN.site.switch))
    return [bytes.fromhex(line.split()[3]) for line in said if line.startswith("out ")], int(long.split()[1])


@pytest.mark.parametrize("behind", [0, 1, 2, 3, 4, 60, LONGEST])
@pytest.mark.parametrize("again", ["", "for its slot", "for its READ"])
def test_a_read_comes_of_edits_that_end_their_frame(again: str, behind: int) -> None:
    """Also of edits that had to wait, which begin with why: two bytes that egress counts, and nobody may use."""
    frame = a.tagged(5, 0, len(parkable(NAME)[2]), 1, data=bytes(10)) + b"\xee" * behind
    port = AGAIN if again else NF
    for tries in range(1, DESIGN.sizes.tries) if again else [0]:
        why = bytes([FOR_READ if again.endswith("READ") else FOR_SLOT, tries]) if again else b""
        sent, long = alone(port, why + frame)
        assert [len(one) for one in sent] == ([] if behind else [REQUEST])
        assert long == (behind > 0)
