"""The built-in properties hold for the engine as it is, and each of them finds what is broken."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.testing.builtin.mutant import MUTANTS, Mutant
from tests.testing.builtin.networks import EXAMPLES, OWN, SCHEDULES, captured, example, executions, verdicts

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.record import Copy, Fate, Record
from polysome.engines.trace import Trace
from polysome.ir import program as ir
from polysome.testing.builtin import every
from polysome.testing.builtin.base import packets
from polysome.testing.builtin.invariants import invariants
from polysome.testing.execution import Execution, Failure, Property, execute

for broken_engines in sorted(Path(__file__).parent.glob("mutants_*.py")):
    import_module(f"tests.testing.builtin.{broken_engines.stem}")  # registers what it breaks

TRACES = 4
MOST_TRACES = 60
NAMES = {p.name: p for p in every()}
ELSEWHERE = {"batches", "engines agree", "faults"}  # of engines that are no interpreter


def test_each_has_a_name_and_says_what_it_promises() -> None:
    assert len(NAMES) == len(every())
    assert all(len(p.doc.split()) > 10 for p in every())


@pytest.mark.parametrize("network", ["store", "rewriting", *SCHEDULES, *OWN])
def test_they_hold(network: str) -> None:
    for execution in executions(network, TRACES):
        failed = {name: found.failure.said for name, found in verdicts(execution).items() if found.failure}
        assert not failed


@pytest.mark.parametrize("name", EXAMPLES)
def test_they_hold_for_the_examples(name: str) -> None:
    """On their own captures, with state as declared and with room for two entries."""
    whole = example(name)
    for spec in (whole, whole.small(2)):
        execution = execute(spec, captured(whole), ENGINES["interp"])
        failed = {n: found.failure.said for n, found in verdicts(execution).items() if found.failure}
        assert not failed


def test_each_tests_something() -> None:
    cases: Counter[str] = Counter()
    for network in ("store", "rewriting", "drr", *OWN):
        for execution in executions(network, 12 if network == "store" else 3):
            cases.update({name: found.cases for name, found in verdicts(execution).items()})
    assert {name for name in NAMES if not cases[name]} == ELSEWHERE


def test_those_of_other_engines_say_why_they_are_skipped() -> None:
    found = verdicts(executions("reframe", 1)[0])
    assert {name: found[name].skipped for name in ELSEWHERE} == {
        "batches": "the interpreter handles packets one by one",
        "engines agree": "other engines are compared with `interp`, as with `--engine native`",
        "faults": "only the engine `system` has faults on links, not `interp`",
    }


# ---------------------------------------------------------------- broken engines


def first_failure(p: Property, runs: Iterable[Execution]) -> Failure | None:
    return next((found for run in runs if (found := p.judge(run).failure) is not None), None)


def runs_of(network: str) -> Iterable[Execution]:
    for n in range(MOST_TRACES):
        yield executions(network, 1, first=n)[0]


@cache
def found_by_its_property(broken: Mutant) -> Failure | None:
    with pytest.MonkeyPatch.context() as patch:
        broken.apply(patch)
        return first_failure(NAMES[broken.property], runs_of(broken.network))


@pytest.mark.parametrize("broken", MUTANTS, ids=lambda m: m.name)
def test_what_is_broken_is_found(broken: Mutant) -> None:
    failure = found_by_its_property(broken)
    assert failure is not None
    said = "\n".join(failure.said)
    assert broken.text in said
    assert all(0 <= number < 100 for number in failure.packets)


def test_each_is_tried_with_two_broken_engines() -> None:
    tried = Counter(m.property for m in MUTANTS) + Counter(name for name, _ in OTHERS)
    assert {name for name in NAMES if tried[name] < 2} == set()


def test_what_they_say(golden: Callable[[Path, str], None]) -> None:
    """For a person who has never seen the project: read it."""
    lines = []
    for broken in sorted(MUTANTS, key=lambda m: list(NAMES).index(m.property)):
        failure = found_by_its_property(broken)
        assert failure is not None
        about = f" ({packets(failure.packets)})" if failure.packets else ""
        lines += [f"{broken.property}: {broken.apply.__name__.replace('_', ' ')}{about}"]
        lines += [f"    {line}" for line in failure.said] + [""]
    golden(Path(__file__).with_name("said.txt"), "\n".join(lines))


# ---------------------------------------------------------------- engines that are not here yet

Wrong = Callable[[Record, RunOptions], Record]


@dataclasses.dataclass(frozen=True)
class Pretended:
    """An engine that does what the interpreter does, and something wrong."""

    wrong: Wrong
    name: str = "pretended"
    slack: None = None

    def missing(self) -> str | None:
        return None

    def run(self, program: ir.Program, trace: Trace, options: RunOptions) -> Record:
        plain = dataclasses.replace(options, batch=None, cores=None, faults=frozenset())
        return self.wrong(ENGINES["interp"].run(program, trace, plain), options)


def changed(record: Record, change: Callable[[Fate], Fate]) -> Record:
    return dataclasses.replace(record, fates=tuple(map(change, record.fates)))


def nothing(record: Record, options: RunOptions) -> Record:
    return record


def corrupt(record: Record, options: RunOptions) -> Record:
    def flip(copy: Copy) -> Copy:
        return dataclasses.replace(copy, data=copy.data[:-1] + bytes([copy.data[-1] ^ 1]))

    return changed(record, lambda f: dataclasses.replace(f, copies=tuple(map(flip, f.copies))))


def doubled(record: Record, options: RunOptions) -> Record:
    return changed(record, lambda f: dataclasses.replace(f, copies=f.copies * 2))


def lost(record: Record, options: RunOptions) -> Record:
    return changed(record, lambda f: dataclasses.replace(f, copies=(), reason="lost") if f.number == 3 else f)


def late(record: Record, options: RunOptions) -> Record:
    def later(copy: Copy) -> Copy:
        return dataclasses.replace(copy, time=copy.time + 1)

    return changed(record, lambda f: dataclasses.replace(f, copies=tuple(map(later, f.copies))))


def dead(record: Record, options: RunOptions) -> Record:
    return dataclasses.replace(record, fates=record.fates[:2], crash="it fell over")


def only(when: Callable[[RunOptions], bool], wrong: Wrong) -> Wrong:
    return lambda record, options: wrong(record, options) if when(options) else record


OTHERS: list[tuple[str, Wrong]] = [
    ("batches", only(lambda o: o.batch == 32, lost)),
    ("batches", only(lambda o: o.batch == 32, corrupt)),
    ("batches", only(lambda o: o.batch == 32, late)),
    ("shards", only(lambda o: o.cores is not None, lost)),
    ("shards", only(lambda o: o.cores is not None, corrupt)),
    ("shards", only(lambda o: o.cores is not None, dead)),
    ("engines agree", late),
    ("engines agree", corrupt),
    ("faults", only(lambda o: "loss" in o.faults, corrupt)),
    ("faults", only(lambda o: "duplication" in o.faults, doubled)),
    ("faults", only(lambda o: "reordering" in o.faults, dead)),
]


def on(engine: Pretended, execution: Execution) -> Execution:
    return Execution(execution.spec, engine, execution.trace, execution.record)


@pytest.mark.parametrize(("name", "wrong"), OTHERS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(OTHERS)])
def test_other_engines_are_judged(name: str, wrong: Wrong, monkeypatch: pytest.MonkeyPatch) -> None:
    fine, broken = Pretended(nothing), Pretended(wrong)
    base = executions("reframe", 1)[0]
    # Judged is the interpreter's record; that of the engine that pretends, if it is compared with the interpreter's.
    mine = name != "engines agree"
    monkeypatch.setitem(ENGINES, "pretended", fine)
    good = NAMES[name].judge(on(fine, base) if mine else execute(base.spec, base.trace, fine))
    assert good.failure is None and good.cases > 0 and good.skipped is None
    monkeypatch.setitem(ENGINES, "pretended", broken)
    bad = NAMES[name].judge(on(broken, base) if mine else execute(base.spec, base.trace, broken))
    assert bad.failure is not None


def test_what_is_lost_under_faults_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Pretended(only(lambda o: bool(o.faults), lost))
    monkeypatch.setitem(ENGINES, "pretended", engine)
    assert NAMES["faults"].judge(on(engine, executions("reframe", 1)[0])).failure is None


def without(record: Record, number: int) -> Record:
    """No copy of this packet left, and the places of what left after it are one less each."""
    (gone,) = (c.place for f in record.fates if f.number == number for c in f.copies)

    def earlier(one: Any) -> Any:
        return dataclasses.replace(one, place=one.place - (one.place > gone))

    fates = changed(record, lambda f: dataclasses.replace(f, copies=tuple(map(earlier, f.copies)))).fates
    fates = tuple(dataclasses.replace(f, copies=()) if f.number == number else f for f in fates)
    return dataclasses.replace(record, fates=fates, emitted=tuple(map(earlier, record.emitted)), history=None)


def test_what_got_lost_inside_is_not_held() -> None:
    """A frame that is shorter than it claims is sent by the NF, and no packet leaves the switch."""
    base = executions("store", 1)[0]
    number = next(f.number for f in base.record.fates if len(f.copies) == 1 and f.at < base.record.fates[-1].at)
    held = without(base.record, number)
    lost = dataclasses.replace(held, lost={number: "shorter than it claims"})
    waits, fine = (Execution(base.spec, base.engine, base.trace, record) for record in (held, lost))
    for name in ("schedule bounds", "conservation"):
        failure = NAMES[name].judge(waits).failure
        assert failure is not None and failure.packets == (number,)
    assert [p.name for p in invariants() if p.judge(fine).failure is not None] == []


def test_without_a_history_state_is_skipped() -> None:
    base = executions("store", 1)[0]
    blind = Execution(base.spec, base.engine, base.trace, dataclasses.replace(base.record, history=None))
    found = {name: NAMES[name].judge(blind) for name in ("expiry", "pools", "token buckets", "conservation")}
    assert {name for name, judgement in found.items() if judgement.skipped} == {"expiry", "pools", "token buckets"}
    assert all(judgement.failure is None for judgement in found.values())
