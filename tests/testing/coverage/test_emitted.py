"""What runs reach of the switch's program: by frames at ports of any role, by traces, by a campaign."""

from __future__ import annotations

import re

import pytest
from tests.testing.builtin.networks import captured, example

from polysome.engines import ENGINES
from polysome.p4.coverage import Coverage
from polysome.testing.coverage.emitted import Emitted, Sent, campaign
from polysome_protocol import Role

START = "ingress parser, state start: "

pytestmark = [
    pytest.mark.skipif(ENGINES["system"].missing() is not None, reason=str(ENGINES["system"].missing())),
    pytest.mark.slow,
]


def reached(coverage: Coverage, prefix: str = "") -> set[str]:
    titles = zip(coverage.titles, coverage.counts, strict=True)
    return {title.removeprefix(prefix) for title, n in titles if n and title.startswith(prefix)}


def test_frames_come_in_by_a_port_of_their_role() -> None:
    """The packet generator's sends besides."""
    emitted = Emitted(example("load_balancer"))
    expected = {
        Role.plain: "default: forward",
        Role.traffic: "ROLE_TRAFFIC: traffic",
        Role.nf: "ROLE_NF: nf",
        Role.server: "ROLE_SERVER: server",
        Role.recirculation: "ROLE_RECIRCULATION: recirculated",
        Role.generator: "ROLE_GENERATOR: generator",
        Role.controller: "ROLE_CONTROLLER: controller",
    }
    for role, title in expected.items():
        found = reached(emitted.send([Sent(role, bytes(100))]), START)
        assert title in found and found <= {title, expected[Role.generator]}


def test_runs_add_up() -> None:
    emitted = Emitted(example("load_balancer"))
    alone = emitted.send([Sent(Role.nf, bytes(60))])
    assert emitted.coverage.counts == alone.counts
    emitted.run(captured(emitted.spec))
    once = emitted.coverage
    assert reached(alone) < reached(once) and "ingress, if (md.kind == KIND_RESPONSE): true" in reached(once)
    emitted.run(captured(emitted.spec))
    twice = zip(alone.counts, once.counts, emitted.coverage.counts, strict=True)
    assert all(second - first == first - before for before, first, second in twice)


def test_frames_for_transitions_take_all_of_a_parser_that_has_no_impossible_one() -> None:
    emitted = Emitted(example("load_balancer"))
    found = emitted.send(emitted.transitions())
    assert not [found.titles[o.number] for o in found.missing if o.point.block == "ingress parser"]


def test_a_campaign_reports_what_it_reached() -> None:
    found = campaign(example("load_balancer"), 1.0, 1)
    lines = found.lines()
    assert lines[0].startswith(f"reached {found.reached} of {len(found.counts)} outcomes in the switch's program")
    assert found.reached / len(found.counts) > 0.8
    places = [line for line in lines if re.match(r" +\d+  ", line)]
    assert len(places) == len(found.missing) > 0
    number, title = re.fullmatch(r" *(\d+)  (.*)", places[0]).groups()  # type: ignore[union-attr]
    assert title == found.titles[found.missing[0].number]
    assert title.rpartition("(")[2].partition(")")[0] in found.text.splitlines()[int(number) - 1]
