"""The mutants themselves, what is called the same, and a few that the prover must refuse."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache

import pytest
from tests.prove.mutants.changes import Mutant, mutants
from tests.prove.mutants.judge import Judged, Verdict, judge
from tests.prove.mutants.report import Line, let_through, reason, table
from tests.prove.mutants.same import same
from tests.prove.mutants.sample import case, chosen, sample

NAME = "shaper"
KINDS = {
    *("row value", "row mask", "row left out", "row twice", "row order", "target", "extract", "advance", "constant"),
    *("condition", "comparison", "statement", "order", "emit", "item", "entry", "default", "operator", "slice"),
    *("place", "validity", "count", "checksum", "parameters", "header"),
}
REGIONS = {
    f"{g} {part}"
    for g in ("ingress", "egress")
    for part in ("parser", "control", "deparser", "tables", "actions", "registers")
}


@lru_cache(maxsize=1)
def every() -> tuple[Mutant, ...]:
    return tuple(mutants(case(NAME).p4))


def first(region: str, kind: str, words: str = "") -> Mutant:
    return next(m for m in every() if (m.region, m.kind) == (region, kind) and words in m.words)


def test_every_kind_of_change_in_every_region() -> None:
    assert {m.kind for m in every()} == KINDS
    assert {m.region for m in every()} == REGIONS
    again = [str(m) for m in mutants(case(NAME).p4)]
    assert again == [str(m) for m in every()]
    assert len(set(again)) > 0.9 * len(again)  # a name says what and where, but for twins


def test_a_mutant_differs_in_one_place() -> None:
    program = case(NAME).p4
    for mutant in every():
        changed = [
            name
            for name in ("ingress", "egress", "actions", "tables", "register_actions")
            if getattr(mutant.program, name) is not getattr(program, name)
        ]
        assert len(changed) == 1, mutant
        gress = mutant.region.split()[0]
        whole = {"tables": "tables", "actions": "actions", "registers": "register_actions"}
        assert changed == [whole.get(mutant.region.split()[1], gress)]
    parts = [m for m in every() if m.region == "ingress parser"][::17]
    for mutant in parts:
        mine, theirs = program.ingress.parser.states, mutant.program.ingress.parser.states
        assert sum(a != b for a, b in zip(mine, theirs, strict=True)) == 1, mutant


def test_the_sample_has_something_of_all() -> None:
    picked = sample(NAME, 60, 1, [NAME])
    assert [str(m) for m in picked] == [str(m) for m in sample(NAME, 60, 1, [NAME])]
    assert [str(m) for m in picked] != [str(m) for m in sample(NAME, 60, 2, [NAME])]
    assert len(picked) == 60 and max(Counter((m.region, m.kind) for m in picked).values()) == 1
    assert sum(len(sample(NAME, 10, 1, names)) for names in (["nat", NAME], [NAME, "nat"], [NAME, "nat", "acl"])) == 13
    import random

    assert len(chosen(every(), 10**6, random.Random(0))) == len(every())


@pytest.mark.slow
def test_what_nobody_sees_is_the_same() -> None:
    program = case(NAME).p4
    assert same(program, replace(program, ingress=replace(program.ingress)))
    for mutant in (
        first("ingress parser", "row twice"),
        first("ingress control", "count", "left out"),
        first("egress deparser", "order", "emit hdr.zeros_16: exchanged with emit hdr.zeros"),
    ):
        assert same(program, mutant.program), mutant


@pytest.mark.slow
def test_what_somebody_sees_is_not() -> None:
    program = case(NAME).p4
    for mutant in (
        first("ingress parser", "row left out", "ipv4"),
        first("ingress parser", "constant"),
        first("egress deparser", "item"),
        first("egress actions", "parameters"),
    ):
        assert not same(program, mutant.program), mutant


@pytest.mark.slow
def test_the_prover_refuses_what_is_wrong_and_passes_what_is_the_same() -> None:
    of = case(NAME)
    kinds = ("row value", "row mask", "row left out")
    found = [judge(of, first("ingress parser", kind, "state parse_ipv4")).verdict for kind in kinds]
    assert set(found) <= {Verdict.refuted, Verdict.rejected} and Verdict.refuted in found
    assert judge(of, first("ingress control", "count", "left out")).verdict == Verdict.same


def test_walks_that_do_not_end_are_no_proof() -> None:
    parser = case(NAME).p4.ingress.parser
    ring = next(s for s in parser.states if not s.values and s.cases)
    around = replace(ring, body=(), cases=(replace(ring.cases[0], state=ring.name),))
    states = tuple(around if s is ring else s for s in parser.states)
    program = replace(case(NAME).p4, ingress=replace(case(NAME).p4.ingress, parser=replace(parser, states=states)))
    assert judge(case(NAME), Mutant("ingress parser", "target", "round", program), 1).verdict in (
        Verdict.rejected,
        Verdict.undecided,
        Verdict.failed,
    )


def test_the_report() -> None:
    lines = [
        Line("nat", "ingress parser", "target", "a: to b", Judged(Verdict.refuted, "forward: x"), None),
        Line("nat", "ingress parser", "target", "a: to c", Judged(Verdict.passed), None),
        Line("nat", "egress tables", "entry", "t: 1", Judged(Verdict.passed), "nobody reads it"),
    ]
    assert table(lines).splitlines() == [
        "passed    nat, ingress parser: a: to c",
        "passed    nat, egress tables: t: 1 (nobody reads it)",
        "egress tables      1 passed",
        "ingress parser     1 passed, 1 refuted",
        "all                2 passed, 1 refuted",
    ]
    assert let_through(lines) == [lines[1]]
    assert reason("nat", "no such region: nothing") is None
