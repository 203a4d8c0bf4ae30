"""What becomes of a spec's mutants: each of the verdicts, and that they do not depend on who tries."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from polysome.engines.record import Made
from polysome.engines.trace import Trace
from polysome.testing.execution import execute
from polysome.testing.mutants import Found, Mutants, SpecFails, Verdict, on_processes
from polysome.testing.mutants.difference import alike, differs
from polysome.testing.mutants.text import as_json, example, head, summary
from polysome.testing.mutants.trial import Bench, Trial
from polysome.testing.plan import Plan
from polysome.testing.spec import Spec

from ..counterexample.kit import INTERP
from .kit import GATE, compiled, one, written

PLAN = Plan(seed=1, seconds=600, traces=24, only=("shut",))


def tried(spec: Spec, plan: Plan = PLAN, workers: int = 2) -> Mutants:
    return on_processes(spec, plan, workers, lambda *_: None)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    return written(tmp_path_factory.mktemp("gate"), GATE)


@pytest.fixture(scope="module")
def found(spec: Spec) -> Mutants:
    return tried(spec)


def of(found: Mutants, spec: Spec, old: str, new: str) -> Found:
    return found.found[one(spec, old, new).number - 1]


def test_a_fault_that_a_property_forbids_is_noticed(found: Mutants, spec: Spec) -> None:
    seen = of(found, spec, "flow.reversed in open", "not (flow.reversed in open)")
    assert seen.verdict is Verdict.noticed and seen.property == "shut" and 0 < seen.traces <= 24


def test_a_fault_that_shows_and_breaks_nothing_comes_with_the_smallest_trace(found: Mutants, spec: Spec) -> None:
    missed = of(found, spec, "idle 5s", "idle 10s")
    assert missed.verdict is Verdict.unnoticed and missed.property is None
    again, told = example(spec, missed)
    assert len(again.trace.arrivals) == 2 and again.trace.arrivals[1].time - again.trace.arrivals[0].time >= 5 * 10**9
    assert "without the fault: dropped" in "\n".join(told) and "with the fault:    sent by port a" in "\n".join(told)


def test_where_no_packet_gets_there_is_no_telling(found: Mutants, spec: Spec) -> None:
    assert of(found, spec, 'drop "never"', "send a").verdict is Verdict.unreached


def test_what_leaves_the_same_is_equal(found: Mutants, spec: Spec) -> None:
    """A condition that is false in any case: it was evaluated, and no trace told it apart."""
    equal = of(found, spec, "f.sport == 70 and", "f.sport == 69 and")
    assert equal.verdict is Verdict.equal and equal.traces == 24


def test_the_compiler_refuses_some(found: Mutants) -> None:
    by = {v: found.of(v) for v in Verdict}
    assert len(by[Verdict.refused]) == 2 and not by[Verdict.undecided]
    assert sum(map(len, by.values())) == len(found.found)
    assert all(f.traces == 0 for f in by[Verdict.refused])


def test_the_compiler_proves_some_equal(tmp_path: Path) -> None:
    """A branch that the compiler leaves out anyway; and two faults that are one."""
    text = GATE.replace("  fn never", "  schedule { class flow; fifo; }\n  fn never").replace("== 70 and", "== 0 and")
    few = tried(written(tmp_path, text), dataclasses.replace(PLAN, traces=1))
    by = {v: [f.mutant.text for f in few.of(v)] for v in Verdict}
    assert any("schedule {  fifo; }" in t for t in by[Verdict.proved]), by[Verdict.proved]
    assert not by[Verdict.undecided]


def test_of_two_faults_that_are_one_the_second_is_not_tried(tmp_path: Path) -> None:
    """An `else` that is not there, and one in which nothing is done."""
    text = GATE.replace("    open.add(flow);", "    if tcp { open.add(flow); } else { open.add(flow.canonical); }")
    few = tried(written(tmp_path, text), dataclasses.replace(PLAN, traces=1))
    twins = [f.mutant.text for f in few.of(Verdict.twin)]
    assert len(twins) == 1 and ("else {  }" in twins[0] or "if tcp { open.add(flow); }\n" in twins[0])


def test_the_score_counts_what_may_differ(found: Mutants) -> None:
    noticed, missed = len(found.of(Verdict.noticed)), len(found.of(Verdict.unnoticed, Verdict.unreached))
    assert found.score == noticed / (noticed + missed) and 0 < found.score < 1
    assert Mutants((), 0.0).score is None


@pytest.mark.slow
def test_one_worker_finds_what_several_do(spec: Spec) -> None:
    few = dataclasses.replace(PLAN, traces=3)
    one, two = ([(f.verdict, f.traces) for f in tried(spec, few, workers).found] for workers in (1, 2))
    assert one == two


def test_without_time_nothing_is_tried(spec: Spec) -> None:
    nothing = tried(spec, Plan(seed=1, seconds=0.0))
    assert {f.verdict for f in nothing.found} == {Verdict.undecided} and nothing.score is None


def test_a_spec_that_fails_itself_has_no_mutants_that_say_anything(tmp_path: Path) -> None:
    wrong = GATE.replace('require flow.reversed in open else drop "shut"; ', "")
    with pytest.raises(SpecFails, match=r"^shut$"):
        tried(written(tmp_path, wrong), Plan(seed=1, seconds=600, traces=60))


def test_traces_of_the_mutant_follow_those_of_the_spec(spec: Spec) -> None:
    """Its traffic is made of its own numbers: until 24 all mutants get the same, then every fourth is its own."""
    bench = Bench(spec, PLAN)
    number = one(spec, "idle 5s", "idle 10s").number
    for _ in range(2):
        trial = bench.look(Trial(number), 61, lambda: False)
        assert trial.traces == 61 and len(bench._runs) == 60  # number 60 is its own


def test_alike_also_asks_for_state_and_differs_only_for_what_leaves(spec: Spec) -> None:
    quiet = compiled(spec, one(spec, "    open.add(flow);", "    "))
    trace = next(t for t in (r.execution.trace for r in runs(spec)) if any(a.port == 0 for a in t.arrivals))
    first = Trace(trace.config, tuple(a for a in trace.arrivals if a.port == 0))
    mine, theirs = (execute(s, first, INTERP).record for s in (spec, quiet))
    assert alike(mine, mine) and not alike(mine, theirs) and differs(mine, theirs) is None


def test_what_is_emitted_shows_too(spec: Spec) -> None:
    record = runs(spec)[0].execution.record  # type: ignore[attr-defined]
    one = Made(0, 5, b"one", 0, None, None)
    with_one, other = (dataclasses.replace(record, emitted=(m,)) for m in (one, dataclasses.replace(one, data=b"two")))
    assert differs(with_one, with_one) is None
    for changed in (other, dataclasses.replace(record, emitted=(dataclasses.replace(one, port=1),))):
        failure = differs(with_one, changed)
        assert failure is not None and failure.said[0] == "another packet is emitted"
    for fewer, more in ((record, with_one), (with_one, record)):
        failure = differs(fewer, more)
        assert failure is not None and "packets are emitted with the fault" in failure.said[0]


def test_only_all_are_a_hundred_percent(found: Mutants) -> None:
    noticed, missed = found.of(Verdict.noticed)[0], found.of(Verdict.unnoticed)[0]
    for others, said in (((missed,), "1999 of 2000 that differ were noticed (99.9 %)"), ((), "1999 of 1999")):
        last = summary(Mutants((noticed,) * 1999 + others, 1.0))[-1]
        assert said in last and ("(100 %)" in last) == (not others)


def runs(spec: Spec) -> list[object]:
    bench = Bench(spec, PLAN)
    return [bench._run(n) for n in range(12)]


def test_the_report_has_heads_counts_and_a_score(found: Mutants, spec: Spec) -> None:
    lines = summary(found)
    assert lines[0].split()[:2] == ["noticed", str(len(found.of(Verdict.noticed)))] and "by shut (" in lines[0]
    assert lines[-1].startswith("score: ") and "100 %" not in lines[-1]
    missed = of(found, spec, "idle 5s", "idle 10s")
    assert head(missed)[0] == f"not noticed: gate.nf:5, constant (mutant {missed.mutant.number})"
    assert head(missed)[1].startswith("  - state { open") and "idle 10s" in head(missed)[2]
    data = as_json(spec, found, {missed.mutant.number: "x.pcapng"})
    assert data["counts"]["noticed"] == len(found.of(Verdict.noticed)) and len(data["mutants"]) == len(found.found)
    assert data["mutants"][missed.mutant.number - 1]["capture"] == "x.pcapng"
