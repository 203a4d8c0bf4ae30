"""Paths of a parser leave nothing out and exclude each other; conditions that are taken apart say what they said."""

from __future__ import annotations

from itertools import combinations

from tests.prove.kit import example

from polysome import smt
from polysome.backends.system.library import p4_program
from polysome.prove.case import TRAFFIC, port_metadata
from polysome.prove.merge import conjuncts
from polysome.prove.p4.parser import paths
from polysome.prove.result import NOTHING
from polysome.prove.window import Frame, Window


def test_cases_that_stand_together_and_lead_to_one_state_are_one_path() -> None:
    program = p4_program(example("load_balancer"))
    metadata = port_metadata(program, TRAFFIC)
    found = list(paths(program, program.ingress, Window(Frame()), metadata=metadata))
    conditions = [smt.And(*path.conditions) for path in found]
    assert NOTHING.prove((), smt.Or(*conditions))
    assert all(NOTHING.prove(pair) for pair in combinations(conditions, 2))
    steps = [tuple((step.state, step.case) for step in path.steps) for path in found if not path.error]
    for state in program.ingress.parser.states:
        for n, (one, other) in enumerate(zip(state.cases, state.cases[1:], strict=False)):
            alike = one.state == other.state
            assert not alike or not any((state.name, n + 1) in walked for walked in steps), (state.name, n)


def test_what_conditions_say_is_kept() -> None:
    p, q, r, s = (smt.Bool(name) for name in "pqrs")
    whole = smt.And(p, smt.Not(smt.Or(smt.Not(q), r)), smt.Not(smt.Not(smt.And(s, smt.Or(p, q)))))
    parts = list(conjuncts([whole, smt.simplify(whole)]))
    assert NOTHING.prove((), smt.And(*parts) == whole)
    assert {str(part) for part in parts} >= {"p", "q", "s", str(smt.Not(r))}
    assert not any(smt.is_and(part) for part in parts)
