"""READs that a sequence NAK leaves without an answer: none stays counted, none is let out behind it (rule 6)."""

from __future__ import annotations

import pytest
from tests.p4.soft import run
from tests.system import attacks as a
from tests.system.outcome import balanced, designed, ran, right, traffic
from tests.system.test_rare_values import parkable

from polysome.backends.system.library import limits, p4_text
from polysome.backends.tofino.program import EGRESS_EVENTS
from polysome.engines import ENGINES

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]

NAME = "load_balancer"
NF, SERVER = 2, 3  # ports; their roles are the same numbers (targets/tofino/constants.p4.j2)
NUMBER = 77  # of the queue pair, at the server
SLOW = 1_000_000  # bit/s: a READ is on its way for a good half of a millisecond
LATE = 1 << 40  # ns
PSN, OPCODE = slice(51, 54), 42  # in a request
_, DESIGN = designed(NAME)


def edits(at: int, seq: int) -> str:
    return f"in {NF} {at} {a.tagged(seq, 0, len(parkable(NAME)[2]), 1, data=bytes(10)).hex()}"


def nak(at: int, psn: int) -> str:
    return f"in {SERVER} {at} {a.answer(NUMBER, psn, a.SEQUENCE_NAK).hex()}"


def alone(*steps: str) -> tuple[list[bytes], int, list[int]]:
    """The program by itself: requests that left, READs that were given up in egress; the registers at the end."""
    event = EGRESS_EVENTS.index("given_up") << DESIGN.sizes.queue_pairs.bit_length() - 1
    script = [
        *(f"port {port} metadata={port << 56} rate={SLOW}" for port in (NF, SERVER)),
        f"add Ingress.servers to_server 0 : {SERVER}",
        f"add Ingress.answers answered {SERVER} {NUMBER} : 0",
        "write Ingress.counter 0 100",
        *steps,
        f"counter Egress.events {event}",
        "read Ingress.reads 0 count",
        "read Ingress.epochs 0",
        "read Egress.epochs 0",
    ]
    *said, given_up, reads, ingress, egress = run(p4_text(DESIGN), "\n".join(script), limits(DESIGN.site.switch))
    sent = [bytes.fromhex(line.split()[3]) for line in said if line.startswith(f"out {SERVER} ")]
    return sent, int(given_up.split()[1]), [int(line.split()[1]) for line in (reads, ingress, egress)]


@pytest.mark.parametrize("epoch", [0, 254, 255])
def test_reads_that_wait_when_a_nak_comes_are_not_let_out(epoch: int) -> None:
    """One is on the wire, two wait behind it; the NAK overtakes them. The next edits are read from its PSN on."""
    begin = [f"write {control}.epochs 0 {epoch}" for control in ("Ingress", "Egress")]
    waiting = [edits(LATE + n, 10 + n) for n in range(3)]
    after = [edits(LATE + 3000, 20), f"run {LATE + 10_000_000}"]
    sent, given_up, registers = alone(*begin, *waiting, nak(LATE + 2000, 500), *after)
    assert [int.from_bytes(data[PSN], "big") for data in sent] == [0, 500]
    assert all(data[OPCODE] == a.READ_REQUEST for data in sent)
    assert given_up == 2 and registers == [1, (epoch + 1) % 256, (epoch + 1) % 256]


def test_without_a_nak_all_are_let_out() -> None:
    sent, given_up, registers = alone(*(edits(LATE + n, 10 + n) for n in range(3)), f"run {LATE + 10_000_000}")
    assert [int.from_bytes(data[PSN], "big") for data in sent] == [0, 1, 2]
    assert given_up == 0 and registers == [3, 0, 0]


@pytest.mark.parametrize("gap", [2000, 5000])
def test_naks_take_no_place_of_later_reads(gap: int) -> None:
    """Packets come without a rest, and links are away for a few microseconds again and again.

    Each time the packets of a round trip are lost. If what was out stayed counted, edits would soon find 16 READs out.
    """
    spec, _ = designed(NAME)
    away = ",".join(f"down@{300 * n}us..{300 * n + 3}us" for n in range(1, 60))
    outcome = ran(NAME, traffic(spec, 18_000_000 // gap, 3, gap=gap), f"server0:{away};server1:{away}", 3)
    right(outcome)
    balanced(outcome)
    assert outcome.events["resync"] >= 20
    assert "retry" not in outcome.events and "edits_given_up" not in outcome.events
