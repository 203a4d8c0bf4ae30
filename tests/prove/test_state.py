"""What the switch remembers is right at all times: faults in register actions, and around them, are refused."""

from __future__ import annotations

import pytest
from tests.prove.kit import edited, example

from polysome.prove.result import Result, Status
from polysome.prove.state import runs
from polysome.prove.state.memory import Memory, bounds
from polysome.prove.state.state import state
from polysome.prove.state.steps import Does, steps
from polysome.prove.traffic import traffic

NAME = "load_balancer"
ACK = "            } else if (md.kind == KIND_ACK) {\n                next_psn();\n"
MORE_PSN = "psn = value;\n            value = value + 1;"
RESYNC = "        hdr.bridge.copy = COPY_RESYNC;\n        ig_tm_md.ucast_egress_port = port;\n"
GIVE_UP = "give_up = {\n        void apply(inout reads_t value) {\n            value.count = 0;"
GIVES_UP = "            (KIND_SEQUENCE_NAK): all_given_up();\n"
BEGINS = "            (KIND_SEQUENCE_NAK): begins_anew();\n"
BACKUP_DOWN = "                backup_down.execute(hdr.bridge.queue_pair[7:0]);\n"
# Each fault with the words of what it breaks.
SLOTS = {
    "edits wait too long": (("since > TIMEOUT |", "since > TIMEOUT + 1 |"), "a slot is given away"),
    "a slot is not free when the clock begins anew": (
        (" || md.now - slot.since < -SKEW", ""),
        "a slot is given away",
    ),
    "a tick of skew frees a slot": (("slot.since < -SKEW", "slot.since < 0"), "put into a slot"),
    "edits of any number": (("TIMEOUT && slot.seq == (int<32>)hdr.bridge.seq", "TIMEOUT"), "freed by another"),
    "a slot is not freed": (("                slot.since = FREE;\n", ""), "not taken by it"),
    "a packet stays behind": (("                taken = 1;\n", ""), "does not leave"),
    "a free slot is one of a time": (("const int<32> FREE = 0;", "const int<32> FREE = 1;"), "a slot is given away"),
    "a packet may leave twice": (("there = ~value;\n            value = 1;", "there = ~value;"), "may leave again"),
    "cells of others count": (("if (md.taken == 1 && md.in_the_ring == 1)", "if (md.taken == 1)"), "not its own"),
    "how old a packet is, by a sum": (("age = value - hdr", "age = value + hdr"), "packets before"),
    "number 0 is one": (("            0: accept;\n            0 &&& 0xc0", "            0 &&& 0xc0"), "number 0"),
    "all ones is a number": (("if (value >= LAST_SEQ)", "if (value > LAST_SEQ)"), "number 0, or all ones"),
    "edits do not wait for others": (("                compare_seq();\n", ""), "another packet's in their slot"),
    "repeated edits are put": (("KIND_EDITS && md.there == 1 && md.has", "KIND_EDITS && md.has"), "put into"),
}
PAIRS = {
    "one READ too many": (("value.count < MOST_READS", "value.count <= MOST_READS"), "one too many"),
    "a response is no end of a rest": (
        ("            value.rests = 0;\n        }\n    };\n    // Behind", "        }\n    };\n    // Behind"),
        "at rest that is not",
    ),
    "READs are counted for ever": (("                value.rests = value.rests + 1;", ""), "counted for ever"),
    "READs that a NAK gave up are counted": ((GIVES_UP, ""), "counted as one"),
    "one READ is counted behind a NAK": ((GIVE_UP, GIVE_UP.replace("0;", "1;")), "a NAK gave up"),
    "an acknowledgement gives READs up": (("(KIND_SWEEP): goes_on", "(KIND_ACK): begins_anew"), "up that are answered"),
    "a NAK begins no epoch": ((BEGINS, ""), "given up"),
    "egress does not hear of a new epoch": (("            (COPY_RESYNC): epoch_begins();\n", ""), "let out"),
    "READs of any epoch are let out": (("(md.given_up == 1)", "(md.given_up == 2)"), "given up is let out"),
    "edits do not know their epoch": (("            (KIND_EDITS): goes_on();\n", ""), "given up"),
    "a look that resynchronises knows no epoch": (("            (KIND_SWEEP): goes_on();\n", ""), "egress"),
    "silence begins too late": (("0) {\n                value = 1;", "0) {\n                value = 2;"), "looks"),
    "an acknowledgement is not heard": (("            (KIND_ACK): has_answered();\n", ""), "is not heard"),
    "a PSN is left out": ((MORE_PSN, MORE_PSN.replace("+ 1", "+ 2")), "PSN"),
    "half of a queue pair goes down": ((BACKUP_DOWN, ""), "goes down"),
    "only one queue pair is looked at": (("queue_pair = hdr.generator.packet;", "queue_pair = 0;"), "not its own"),
    "a RESYNC goes nowhere": ((RESYNC, RESYNC.partition("ig_tm_md")[0]), "another pipe"),
    "who is silent is not said": (("        hdr.down.queue_pair = hdr.bridge.queue_pair;\n", ""), "stays up"),
    "it is not said what goes round": (("        hdr.retry.what = RETRY_DOWN;\n", ""), "stays up"),
    "a NAK is taken for the last answer": ((ACK, ACK.replace("KIND_ACK", "KIND_SEQUENCE_NAK")), "go on"),
}  # fmt: skip


SHORT = 4  # frames of a run that is looked for where none is asked for: longer ones take a minute to find
LONGER = {"how old a packet is, by a sum": 5}  # says what is wrong by such a run only


def broken(edit: tuple[str, str]) -> Result:
    """The first that is not proved."""
    case = edited(example(NAME), edit)
    return next(r for r in state(traffic(case)) if r.status != Status.proved)


@pytest.mark.parametrize("fault", ["edits of any number", *(pytest.param(f, marks=pytest.mark.slow) for f in SLOTS)])
def test_a_packet_has_its_own_edits_and_leaves_once(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST", LONGER.get(fault, SHORT))
    edit, why = SLOTS[fault]
    assert why in broken(edit).why


@pytest.mark.slow
@pytest.mark.parametrize("fault", PAIRS)
def test_a_queue_pair_goes_on_in_step(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST", SHORT)
    edit, why = PAIRS[fault]
    assert why in broken(edit).why


def test_a_run_shows_why() -> None:
    found = broken(SLOTS["edits of any number"][0])
    assert found.status == Status.refuted
    assert found.why.count("; then a frame from") == 1 and "a memory server" in found.why


def test_steps_are_made_by_frames_of_all_ports() -> None:
    seen = traffic(edited(example(NAME)))
    found = steps(seen)
    done = {(step.role, step.does) for step in found}
    assert {(1, Does.parks), (2, Does.reads), (3, Does.leaves), (4, Does.reads), (6, Does.parks)} <= done
    assert {(5, Does.sets_psn), (5, Does.goes_round), (3, Does.sets_psn)} <= done
    memory = Memory(seen.case.p4, found)
    told = [words for words, _ in bounds(memory)]
    assert any(words.endswith("since is 0, or a time") for words in told)
    assert any(words.endswith("count is at most 16") for words in told)
