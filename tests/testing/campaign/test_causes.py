"""Failures are told apart by what the spec did; the same cause is told once."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis.database import InMemoryExampleDatabase
from tests.testing.campaign.gates import PLAN, RIGHT, TWICE, WRONG, spec
from tests.testing.test_wire import FRAMES

from polysome.engines import ENGINES
from polysome.engines.trace import Arrival, Trace
from polysome.resources import MEANING
from polysome.testing.campaign import Cause, Finding, Outcome, Result, run
from polysome.testing.campaign.causes import cause
from polysome.testing.campaign.results import WAYS
from polysome.testing.campaign.share import Share, perform
from polysome.testing.counterexample import loads
from polysome.testing.execution import Failure, execute

MUCH = dataclasses.replace(PLAN, only=("shut", "never_tested"), traces=120)


def test_two_wrong_statements_are_two_causes(tmp_path: Path) -> None:
    gate = spec(tmp_path, TWICE)
    found = run(gate, MUCH).outcomes["shut"].findings
    assert sorted(f.cause.decided for f in found) == [("gate.nf:7",), ("gate.nf:8",)]
    assert {f.cause.expected for f in found} == {"gate.nf:9"} and {f.packets for f in found} == {1}
    protocols = {f.cause.decided: loads(f.counterexample, gate).trace.arrivals[0].data[23:24] for f in found}
    assert protocols["gate.nf:7",] == b"\6" != protocols["gate.nf:8",]


def test_one_wrong_statement_is_one_cause_however_often_it_is_found(tmp_path: Path) -> None:
    result = run(spec(tmp_path, WRONG), MUCH)
    assert result.traces == 120 and [f.cause.decided for f in result.outcomes["shut"].findings] == [("gate.nf:7",)]


def test_the_database_keeps_one_trace_for_each_cause(tmp_path: Path) -> None:
    database = InMemoryExampleDatabase()
    for seed in range(3):
        run(spec(tmp_path, TWICE), dataclasses.replace(MUCH, seed=seed), database)
    assert len(set(database.fetch(b"gate/shut"))) == 2
    again = run(spec(tmp_path, TWICE), dataclasses.replace(MUCH, traces=0), database)
    assert [f.remembered for f in again.outcomes["shut"].findings] == [True, True]
    mended = run(spec(tmp_path, WRONG), dataclasses.replace(MUCH, traces=0), database)
    assert len(mended.outcomes["shut"].findings) == 1 == len(set(database.fetch(b"gate/shut")))


def test_a_cause_that_is_known_is_not_looked_into(tmp_path: Path) -> None:
    gate, plan = spec(tmp_path, TWICE), dataclasses.replace(MUCH, only=("shut", "conservation"))
    both = run(gate, plan).outcomes["shut"].findings
    share = Share(plan, 0, 120, 600, known=frozenset({("shut", both[0].cause)}))
    (found,) = perform(gate, share).outcomes["shut"].findings
    assert found.cause == both[1].cause


@pytest.mark.parametrize(("others", "looks"), [(2 * WAYS - 1, True), (2 * WAYS, False)])
def test_when_many_causes_are_known_nothing_more_is_looked_for(tmp_path: Path, others: int, looks: bool) -> None:
    plan = dataclasses.replace(MUCH, only=("shut", "conservation"), traces=40)
    known = frozenset(("shut", Cause("x:1", (f"x:{n}",))) for n in range(others))
    outcome = perform(spec(tmp_path, WRONG), Share(plan, 0, 40, 600, known=known)).outcomes["shut"]
    assert (outcome.cases > 0) == looks == bool(outcome.findings)


def test_when_enough_ways_are_found_the_property_rests(tmp_path: Path) -> None:
    """A statement for each length modulo 32 is wrong."""
    wrong = "\n".join(f"if ((len as u16) & 31) == {n} {{ send a; }}" for n in range(31))
    gate = spec(tmp_path, WRONG.replace("from b { send a; }", f"from b {{ {wrong}\n send a; }}"))
    result = run(gate, MUCH)
    assert result.traces == 120 and len(result.outcomes["shut"].findings) == WAYS
    assert WAYS <= len(result.known) < 2 * WAYS


def test_of_one_cause_the_smaller_trace_stays() -> None:
    here, there = Cause("x:1", ("x:2",)), Cause("x:1", ("x:3",))
    outcome = Outcome("p")
    assert outcome.add(Finding(here, b"large", 4, after=1.0)) is not None
    assert outcome.add(Finding(here, b"equal", 4, after=2.0)) is None
    assert outcome.add(Finding(there, b"other", 9)) is not None
    assert outcome.add(Finding(here, b"small", 3, after=3.0)) is not None
    assert [(f.counterexample, f.after) for f in outcome.findings] == [(b"small", 1.0), (b"other", 0.0)]


def test_of_many_causes_the_first_few_are_told() -> None:
    outcome = Outcome("p")
    added = [outcome.add(Finding(Cause("x:1", (f"x:{n}",)), b"", 2)) for n in range(WAYS + 1)]
    assert [f is not None for f in added] == [True] * WAYS + [False] and len(outcome.findings) == WAYS
    assert outcome.add(Finding(Cause("x:1", ("x:0",)), b"smaller", 1)) is not None


def test_there_is_nothing_left_to_look_for_when_all_fail_or_cannot_be_tested() -> None:
    here = Cause("x:1", ())
    result = Result({"p": Outcome("p"), "q": Outcome("q", skipped="why")})
    assert not result.settled() and not result.settled([("q", here)]) and result.settled([("p", here)])
    result.outcomes["p"].add(Finding(here, b"", 1))
    assert result.settled()


def test_shares_add_up() -> None:
    one = Result({"p": Outcome("p", cases=2, traces=1)}, traces=3, packets=30, dropped={"x": 1})
    found = Outcome("p", cases=1, skipped="why", findings=[Finding(Cause("", ()), b"c", 4)])
    one.add(Result({"p": found}, traces=2, packets=9, dropped={"x": 2, "y": 1}, known={("p", Cause("", ()))}))
    one.add(Result({"p": Outcome("p", findings=[Finding(Cause("", ()), b"larger", 5)])}))
    assert (one.traces, one.packets, one.dropped) == (5, 39, {"x": 3, "y": 1})
    assert one.outcomes["p"].cases == 3 and [f.counterexample for f in one.outcomes["p"].findings] == [b"c"]
    assert one.known == {("p", Cause("", ()))} and one.outcomes["p"].skipped == "why"
    assert Result.from_json(one.to_json()) == one


UDP_ONLY = """
use net.l4;
nf gate {
  port a, b;
  relevant udp.sport else drop "no UDP";
  on packet from a { send b; }
  on packet from b {
    if udp.sport == 999 { send a; }
    drop "other";
  }
}
"""


def test_what_decided_is_told_of_each_packet_once(tmp_path: Path) -> None:
    gate = spec(tmp_path, UDP_ONLY)
    udp, tcp = FRAMES["udp"][0], FRAMES["tcp"][0]
    frames = [(0, udp), (0, udp), (0, tcp), (1, udp), (0, b"\0" * 10)]
    trace = Trace({}, tuple(Arrival(port, n * 1000, data) for n, (port, data) in enumerate(frames)))
    execution = execute(gate, trace, ENGINES[MEANING].around(None))

    def told(*packets: int) -> tuple[str, ...]:
        return cause(execution, Failure(packets, ())).decided

    assert told(0) == told(0, 1) == ("gate.nf:6",)
    assert told(3) == ("gate.nf:8",) and told(3, 0) == ("gate.nf:6", "gate.nf:8")
    assert told(2) == told(4) == ('"no UDP"',) and told() == ()


def test_a_crash_is_a_cause_of_its_own(tmp_path: Path) -> None:
    gate = spec(tmp_path, RIGHT)
    execution = execute(gate, Trace({}, (Arrival(0, 0, FRAMES["udp"][0]),)), ENGINES[MEANING].around(None))
    crashed = dataclasses.replace(execution.record, fates=(), crash="KeyError: 'lost'")
    said = cause(dataclasses.replace(execution, record=crashed), Failure((), ()))
    assert said == Cause("", ("a crash (KeyError)",)) and "KeyError" in said.said()
