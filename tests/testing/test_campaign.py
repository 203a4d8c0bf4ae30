"""Campaigns: what they find, remember, and share between workers."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis.database import InMemoryExampleDatabase

from polysome.engines.options import Unsupported
from polysome.testing import campaign
from polysome.testing.campaign import Outcome, Result, due, names, properties, run
from polysome.testing.counterexample import loads
from polysome.testing.plan import Plan, Sizes
from polysome.testing.spec import Spec, load
from polysome.testing.workers import Task, on_processes, on_ray

RIGHT = """
use net.l4;
nf gate {
  port a, b;
  state { open: set<Flow> { capacity 9; idle 5s; when full evict oldest; } }
  on packet from a { open.add(flow); send b; }
  on packet from b { require flow.reversed in open else drop "shut"; send a; }
  property shut { for q in trace where q.sent and q.in_port == b expect q.flow.reversed in q.before.open; }
  property never_tested { for p in trace where p.len == 3B and p.in.ipv4 expect p.held; }
}
"""
WRONG = RIGHT.replace('require flow.reversed in open else drop "shut"; ', "")
PLAN = Plan(seed=1, seconds=60, traces=40, only=("shut", "never_tested", "conservation", "faults"))


def spec(folder: Path, text: str) -> Spec:
    path = folder / "gate.nf"
    path.write_text(text, encoding="utf-8")
    return load(path)


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
    assert outcome.packets == 1 and outcome.counterexample is not None
    again = loads(outcome.counterexample, wrong)
    assert len(again.trace.arrivals) == 1 and again.property == "shut"


def test_equal_seeds_give_equal_campaigns(tmp_path: Path) -> None:
    one, two = (run(spec(tmp_path, WRONG), PLAN) for _ in range(2))
    assert one.outcomes["shut"].counterexample == two.outcomes["shut"].counterexample
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
    found = [run(gauge, plan).outcomes["below"].packets for plan in plans]
    monkeypatch.setattr(campaign, "SHORT", 1 << 30)
    alone = [run(gauge, plan).outcomes["below"].packets for plan in plans]
    assert max(found) <= 6 < max(alone)
    assert all(a <= b for a, b in zip(found, alone, strict=True))


def test_it_can_stop_at_the_first_failure(tmp_path: Path) -> None:
    assert run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, first=True)).traces < 40


def test_what_failed_once_is_tried_first_and_forgotten_when_mended(tmp_path: Path) -> None:
    database = InMemoryExampleDatabase()
    run(spec(tmp_path, WRONG), PLAN, database)
    again = run(spec(tmp_path, WRONG), dataclasses.replace(PLAN, traces=0), database)
    assert again.outcomes["shut"].remembered and again.outcomes["shut"].packets == 1
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


def test_results_of_workers_add_up() -> None:
    one = Result({"p": Outcome("p", cases=2, traces=1)}, traces=3, packets=30, dropped={"x": 1})
    two = Result({"p": Outcome("p", cases=1, counterexample=b"c", packets=4)}, traces=2, packets=9, dropped={"x": 2})
    one.add(two)
    one.add(Result({"p": Outcome("p", counterexample=b"larger", packets=5)}))
    assert (one.traces, one.packets, one.dropped) == (5, 39, {"x": 3})
    assert one.outcomes["p"].cases == 3 and one.outcomes["p"].counterexample == b"c"


@pytest.mark.slow
def test_processes_share_a_database(tmp_path: Path) -> None:
    spec(tmp_path, WRONG)
    task = Task(tmp_path / "gate.nf", (), (), PLAN, tmp_path / "found")
    result = on_processes(task, 2)
    assert result.traces == 80 and [o.name for o in result.failed] == ["shut"]
    assert any(p.is_file() for p in (tmp_path / "found").rglob("*"))
    assert (
        on_processes(dataclasses.replace(task, plan=dataclasses.replace(PLAN, traces=0)), 1).outcomes["shut"].remembered
    )


@pytest.mark.slow
def test_ray_runs_the_same_tasks(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'polysome[ray]'")
    spec(tmp_path, WRONG)
    result = on_ray(Task(tmp_path / "gate.nf", (), (), PLAN, tmp_path / "found"))
    assert [o.name for o in result.failed] == ["shut"]


def test_without_ray_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(Unsupported, match="pip install"):
        on_ray(Task(tmp_path / "gate.nf", (), (), PLAN, None))
