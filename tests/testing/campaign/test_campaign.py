"""Campaigns: what they find, remember, and share between workers."""

from __future__ import annotations

import dataclasses
import time
from itertools import islice, pairwise
from pathlib import Path

import pytest
from hypothesis.database import InMemoryExampleDatabase
from tests.testing.campaign.gates import PLAN, RIGHT, WRONG, spec

from polysome.testing.campaign import (
    Campaign,
    Here,
    Processes,
    due,
    names,
    properties,
    run,
    share,
    stream,
    traces,
)
from polysome.testing.campaign.results import Result
from polysome.testing.campaign.share import Share, perform
from polysome.testing.campaign.traces import SHARE
from polysome.testing.counterexample import loads
from polysome.testing.plan import Plan, Sizes


def test_a_right_spec_holds_and_what_was_not_tested_is_said(tmp_path: Path) -> None:
    result = run(spec(tmp_path, RIGHT), PLAN)
    assert result.traces == 40 and result.packets > 12 and not result.failed
    shut = result.outcomes["shut"]
    assert shut.holds and shut.cases > 0 and not shut.untested
    assert [o.name for o in result.untested] == ["never_tested"] and not result.vacuous
    assert result.outcomes["faults"].skipped is not None and not result.outcomes["faults"].untested


def test_a_campaign_that_tested_nothing_is_told_from_one_that_found_nothing(tmp_path: Path) -> None:
    few = dataclasses.replace(PLAN, traces=2)
    assert run(spec(tmp_path, RIGHT), dataclasses.replace(few, only=("never_tested", "faults"))).vacuous
    assert not run(spec(tmp_path, RIGHT), dataclasses.replace(few, only=("never_tested", "conservation"))).vacuous
    assert not run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, only=("shut",))).vacuous


def test_a_wrong_spec_fails_with_the_smallest_trace(tmp_path: Path) -> None:
    wrong = spec(tmp_path, WRONG)
    result = run(wrong, PLAN)
    assert [o.name for o in result.failed] == ["shut"]
    outcome = result.outcomes["shut"]
    (found,) = outcome.findings
    assert found.packets == 1
    again = loads(found.counterexample, wrong)
    assert len(again.trace.arrivals) == 1 and again.property == "shut"


def test_equal_seeds_give_equal_campaigns(tmp_path: Path) -> None:
    one, two = (run(spec(tmp_path, WRONG), PLAN) for _ in range(2))
    assert one.outcomes["shut"].findings[0].counterexample == two.outcomes["shut"].findings[0].counterexample
    assert one.packets == two.packets and one.dropped == two.dropped
    assert run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, seed=2)).packets != one.packets


def test_what_runs_traces_again_is_judged_on_the_first_ones_and_then_on_one_in_five(tmp_path: Path) -> None:
    result = run(spec(tmp_path, RIGHT), dataclasses.replace(PLAN, only=("conservation", "determinism")))
    assert result.outcomes["conservation"].traces == 40
    reruns = next(p for p in properties(spec(tmp_path, RIGHT)) if p.name == "determinism")
    judged = [n for n in range(40) if due(reruns, 1, n)]
    assert judged[:4] == [0, 1, 2, 4] and all(b - a == 5 for a, b in pairwise(judged[3:]))
    assert result.outcomes["determinism"].traces == len(judged)
    again = {n for place in range(5) for n in range(3, 40) if due(reruns, place, n)}
    assert again == set(range(3, 40))  # properties take turns


MANY = """
use net.l4;
nf gauge {
  port a, b;
  state { octets: bytes; }
  on packet from a { octets += len; send b; }
  on packet from b { send a; }
  property below { for p in trace expect p.after.octets <= 4000B; }
}
"""


def test_of_a_counterexample_with_many_packets_a_smaller_one_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shrinking makes no packet longer, so that of many short ones many are left."""
    gauge = spec(tmp_path, MANY)
    ample = Plan(seconds=600, traces=60, only=("below",), first=True, shrinking=600)  # no time limit is met
    plans = [dataclasses.replace(ample, seed=seed) for seed in (0, 7)]
    found = [run(gauge, plan).outcomes["below"].findings[0].packets for plan in plans]
    monkeypatch.setattr(share, "SHORT", 1 << 30)
    alone = [run(gauge, plan).outcomes["below"].findings[0].packets for plan in plans]
    assert max(found) <= 6 < max(alone)
    assert all(a <= b for a, b in zip(found, alone, strict=True))


def test_it_can_stop_at_the_first_failure(tmp_path: Path) -> None:
    assert run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, first=True)).traces < 40


def test_what_failed_once_is_tried_first_and_forgotten_when_mended(tmp_path: Path) -> None:
    database = InMemoryExampleDatabase()
    run(spec(tmp_path, WRONG), PLAN, database)
    again = run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, traces=0), database)
    assert [(f.remembered, f.packets) for f in again.outcomes["shut"].findings] == [(True, 1)]
    assert not run(spec(tmp_path, RIGHT), dataclasses.replace(PLAN, traces=0), database).failed
    assert not run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, traces=0), database).failed


def test_damaged_examples_are_forgotten(tmp_path: Path) -> None:
    database = InMemoryExampleDatabase()
    database.save(b"gate/shut", b"{ no json")
    assert not run(spec(tmp_path, RIGHT), dataclasses.replace(PLAN, traces=1), database).failed
    assert not list(database.fetch(b"gate/shut"))


def test_state_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    full = RIGHT.replace(
        "property shut {", "property room { for p in trace expect p.after.open.len <= 3; }\n property shut {"
    )
    many = dataclasses.replace(PLAN, only=("room",), traces=40)
    assert not run(spec(tmp_path, full), dataclasses.replace(many, sizes=Sizes.small)).failed
    assert run(spec(tmp_path, full), dataclasses.replace(many, sizes=Sizes.declared)).failed


def test_an_unknown_property_is_refused(tmp_path: Path) -> None:
    right = spec(tmp_path, RIGHT)
    with pytest.raises(LookupError):
        run(right, dataclasses.replace(PLAN, only=("shud",)))
    assert names(right)[:2] == ["shut", "never_tested"]


@pytest.mark.slow
def test_shares_are_the_same_whoever_does_them(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    plan = Plan(seed=3, seconds=600, traces=2 * SHARE + 7)
    counts: list[int] = []
    here = Campaign(gate, plan).run(Here(gate), lambda result: counts.append(result.traces))
    two = Campaign(gate, plan).run(Processes(gate, 2))
    assert counts == [SHARE, 2 * SHARE, 2 * SHARE + 7]
    assert (two.traces, two.packets, two.dropped) == (here.traces, here.packets, here.dropped)
    cases = [{name: (o.cases, o.traces) for name, o in result.outcomes.items()} for result in (here, two)]
    assert cases[0] == cases[1]


def test_a_share_goes_on_where_the_one_before_it_ended(tmp_path: Path) -> None:
    """Boundary packets go on; random traces are others."""
    gate = spec(tmp_path, RIGHT)
    first, second = (list(traces.share(gate, PLAN, number, SHARE)) for number in range(2))
    together = list(islice(stream(gate, PLAN), 2 * SHARE))
    assert [trace for _, trace in together] == [trace for _, trace in (*first, *second)]
    assert [size is gate for size, _ in first[:6]] == [False, False, True] * 2
    seen = {trace.arrivals for _, trace in first}
    assert sum(trace.arrivals in seen for _, trace in second) < SHARE // 4
    assert len(list(traces.share(gate, PLAN, 0, 9))) == 9


def test_traces_of_later_shares_have_the_numbers_of_the_whole_campaign(tmp_path: Path) -> None:
    """Which of them are run again depends on it."""
    gate = spec(tmp_path, RIGHT)
    plan = dataclasses.replace(PLAN, traces=None, only=("determinism",))
    (reruns,) = (p for p in properties(gate) if p.name == "determinism")
    first, second = ([due(reruns, 0, n) for n in range(at, at + SHARE)].count(True) for at in (0, SHARE))
    judged = [perform(gate, Share(plan, n, SHARE, 600)).outcomes["determinism"].traces for n in (0, 1)]
    assert first != second and judged == [first, second]


def test_time_that_is_over_ends_a_share(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    assert perform(gate, Share(PLAN, 0, SHARE, seconds=0.0)).traces == 1
    assert run(gate, dataclasses.replace(PLAN, traces=None, seconds=0.0)).traces == 1


def test_long_campaigns_solve_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`shut` is reached by no random packet: only a solver knows the right number."""
    magic = RIGHT.replace(
        "open.add(flow); send b;", 'if flow.sport == 0xbeef and flow.dport == 4242 { drop "magic"; } send b;'
    )
    gate = spec(tmp_path, magic)
    asked: list[Share] = []
    crew = Here(gate)
    monkeypatch.setattr(crew, "submit", lambda share: (asked.append(share), Here.submit(crew, share)))

    def enough(result: Result) -> None:
        if [share.solves for share in asked[-3:-2]] == [True] or len(asked) > 6:
            raise KeyboardInterrupt

    long = Campaign(gate, dataclasses.replace(PLAN, traces=None, seconds=160.0))
    monkeypatch.setattr(long, "_started", time.monotonic() - 41)  # solving is due, and lasts until all is reached
    result = long.run(crew, enough)
    assert [share.solves for share in asked].count(True) == 1 and result.interrupted
    assert result.dropped.get("magic", 0) > 0
