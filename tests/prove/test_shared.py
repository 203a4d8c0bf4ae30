"""What is walked once for all programs with the same code is not taken for programs with other code."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.prove.kit import edited, example

from polysome.backends.system.library import limits, p4_program, p4_text
from polysome.p4 import program as pr
from polysome.p4.load import load
from polysome.prove.p4.code import Code, code
from polysome.prove.p4.pipe import passes
from polysome.prove.window import Frame, Window


def codes(program: pr.Program) -> tuple[Code, Code]:
    return code(program, program.ingress), code(program, program.egress)


@pytest.fixture(scope="module")
def program() -> pr.Program:
    return p4_program(example("load_balancer"))


def test_where_it_stands_is_no_matter(program: pr.Program) -> None:
    made = example("load_balancer")
    moved = load("elsewhere.p4", f"// A line more.\n{p4_text(made)}", limits(made.site.switch))
    assert moved.ingress.control != program.ingress.control
    assert codes(moved) == codes(program)


@pytest.mark.parametrize(
    ("text", "other", "ingress", "egress"),
    [
        ("SWITCH_IP: accept;", "SWITCH_IP: to_a_station;", True, False),
        ("md.event = EVENT_PARKED;", "md.event = EVENT_WHOLE;", True, False),
        ("value.count = value.count - 1;", "value.count = value.count - 2;", True, False),
        ("(KIND_SWEEP): look_for_rest();", "(KIND_ACK): look_for_rest();", True, False),
        (
            "Register<reads_t, queue_pair_t>(QUEUE_PAIRS) reads;",
            "Register<reads_t, queue_pair_t>(1) reads;",
            True,
            False,
        ),
        ("hdr.pad.count = 4;", "hdr.pad.count = 5;", False, True),
        ("hdr.bth.partition = 0xffff;", "hdr.bth.partition = 0x7fff;", False, True),
        ("const bit<16> ROCE_PORT = 4791;", "const bit<16> ROCE_PORT = 4792;", True, True),
    ],
)
def test_other_code_is_other_code(program: pr.Program, text: str, other: str, ingress: bool, egress: bool) -> None:
    one, two = codes(edited(example("load_balancer"), (text, other)).p4), codes(program)
    assert (one[0] != two[0], one[1] != two[1]) == (ingress, egress)


def test_a_gress_may_stand_in_several_programs(program: pr.Program) -> None:
    """Its actions, tables and registers are the program's: what was found of one is not what is asked of another."""
    name, action = next((n, a) for n, a in program.actions.items() if n.endswith("Egress.nf"))
    other = replace(program, actions={**program.actions, name: replace(action, body=())})
    assert other.egress is program.egress
    assert code(other, other.egress) != code(program, program.egress)
    window = Window(Frame("bridged"))
    mine = passes(program, program.egress, window, name="shared.")
    assert mine is passes(program, program.egress, window, name="shared.")
    assert mine is not passes(other, other.egress, window, name="shared.")
