"""The P4 program of the switch, for every example and both chips."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.backends.examples import EXAMPLES, program

from polysome.backends.system.library import limits
from polysome.backends.tofino.names import instance
from polysome.backends.tofino.program import Addresses, Sizes, tofino_program
from polysome.p4 import program as pr
from polysome.p4.load import load
from polysome.plan.design import default_design
from polysome.plan.frames import BRIDGE
from polysome.plan.ways import ways

NAMES = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
OF_THE_PAPER = ["forwarder", "load_balancer", "nat", "policer", "reframer"]
# Ribosome's own program: its Table 3, and the stages that the open compiler gives it (percent of all there is).
RIBOSOME = {"stages": 11, "sram": 7.84, "tcam": 1.14, "vliw": 13.82, "exact_xbar": 13.92, "ternary_xbar": 0.69}
SIZES = Sizes(
    slots=16384,
    queue_pairs=1024,
    buckets=1024,
    cells=65536,
    cell=2048,
    least=128,
    most=2040,
    edits_frame=60,
    timeout=16,
    most_reads=16,
    tries=8,
    nf_ports=4,
    server_ports=16,
)


@cache
def text(name: str, architecture: str = "tna") -> str:
    spec = program(name)
    return tofino_program(spec, ways(spec), SIZES, Addresses(0x020000000001, 0xC0A828FE, 68), architecture)


def test_the_load_balancers_switch(golden: Callable[[Path, str], None]) -> None:
    golden(Path(__file__).parents[1] / "golden" / "p4" / "load_balancer.txt", text("load_balancer"))


@pytest.mark.parametrize("name", NAMES)
def test_both_chips_get_the_same_program(name: str) -> None:
    one, two = text(name), text(name, "t2na")
    assert one.replace("#include <tna.p4>", "") == two.replace("#include <t2na.p4>", "")


def test_the_plan_knows_how_long_a_bridge_header_is() -> None:
    (body,) = re.findall(r"header bridge_h \{(.*?)\}", text("load_balancer"), re.DOTALL)
    assert sum(map(int, re.findall(r"bit<(\d+)>", body))) == 8 * BRIDGE


def test_headers_leave_in_the_order_of_the_wire() -> None:
    """Deparsers emit a struct's headers in its order, which must be the wire's on every way."""
    for name in NAMES:
        spec = program(name)
        (body,) = re.findall(r"struct ingress_headers_t \{(.*?)\}", text(name), re.DOTALL)
        place = {field: n for n, field in enumerate(re.findall(r"\w+ (\w+);", body))}
        for way in ways(spec):
            places = [place[instance(i, spec.parser)] for i in way.instances]
            assert places == sorted(places)


@pytest.mark.parametrize("name", NAMES)
def test_no_frame_has_a_header_extracted_twice(name: str) -> None:
    """A Tofino's parser cannot write a container again: the second header would be mixed with the first."""
    p4 = load("switch.p4", text(name), limits(default_design(program(name)).site.switch))
    for gress in (p4.ingress, p4.egress):
        states = {state.name: state for state in gress.parser.states}

        def twice(at: str, seen: frozenset[tuple[str, ...]], states: dict[str, pr.State] = states) -> list[str]:
            """States, one after the other, up to the one that extracts again."""
            if at not in states:
                return []
            extracted = [s.header.key for s in states[at].body if isinstance(s, pr.Extract)]
            if seen & set(extracted) or len(set(extracted)) < len(extracted):
                return [at]
            onward = (twice(to, seen | set(extracted)) for to in {case.state for case in states[at].cases})
            return next(([at, *found] for found in onward if found), [])

        assert not twice("start", frozenset())
