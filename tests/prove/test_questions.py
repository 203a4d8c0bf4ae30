"""What was asked is remembered: answers are z3's, whatever was added and taken back, and z3 is asked once."""

from __future__ import annotations

import random

import pytest

from polysome import smt
from polysome.prove.questions import Questions

X, Y = smt.BitVec("questions.x", 8), smt.BitVec("questions.y", 8)
TERMS = [smt.ULT(X, 10), smt.UGT(X, 5), X == Y, smt.Not(X == Y), smt.UGE(Y, 10), X + Y == 7, X & 1 == 0]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[smt.Answer]:
    """What z3 has answered."""
    found: list[smt.Answer] = []
    check = smt.Solver.check

    def counted(solver: smt.Solver, *assumed: smt.Term) -> smt.Answer:
        found.append(check(solver, *assumed))
        return found[-1]

    monkeypatch.setattr(smt.Solver, "check", counted)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_answers_and_models_are_those_of_what_was_added(seed: int) -> None:
    rng = random.Random(seed)
    questions, added = Questions(), [list[smt.Term]()]
    for _ in range(60):
        if rng.random() < 0.3:
            questions.push()
            added.append([])
        elif rng.random() < 0.3 and len(added) > 1:
            questions.pop()
            added.pop()
        elif rng.random() < 0.5:
            added[-1].append(rng.choice(TERMS))
            questions.add(added[-1][-1])
        solver = smt.Solver()
        every = [term for scope in added for term in scope]
        solver.add(*every)
        if rng.random() < 0.6:
            assert questions.check() == solver.check()
        if rng.random() < 0.4:
            model = questions.model()
            assert (model is not None) == (solver.check() == smt.sat)
            assert model is None or all(smt.is_true(model.eval(term, model_completion=True)) for term in every)


def test_a_question_is_asked_once(asked: list[smt.Answer]) -> None:
    fresh = smt.BitVec("questions.once", 8)
    for _ in range(3):
        questions = Questions(fresh == 1)
        questions.push()
        questions.add(smt.UGT(fresh, 1))
        assert questions.check() == smt.unsat
        questions.pop()
        assert questions.check() == smt.sat
    assert asked == [smt.unsat, smt.sat]
    other = Questions(fresh == 2)
    other.add(smt.UGT(fresh, 1))  # behind another condition it is another question
    assert other.check() == smt.sat and len(asked) == 3


def test_what_has_a_model_is_not_asked(asked: list[smt.Answer]) -> None:
    fresh = smt.BitVec("questions.met", 8)
    questions = Questions(fresh == 3)
    questions.met()
    assert questions.check() == smt.sat and not asked
    assert questions.model() is not None and len(asked) == 1


def test_a_model_is_not_that_of_what_was_taken_back() -> None:
    questions = Questions(smt.ULT(X, 100))
    for value in (7, 8, 7):
        questions.push()
        questions.add(smt.And(smt.UGE(X, value), smt.ULE(X, value)))
        assert questions.check() == smt.sat
        model = questions.model()
        assert model is not None and model.eval(X).as_long() == value
        questions.pop()


def test_what_takes_too_long_is_not_remembered() -> None:
    a, b = smt.BitVec("questions.a", 64), smt.BitVec("questions.b", 64)
    hard = (a * b == 0xD3C2_1E5F_9A87_6B4D, smt.UGT(a, 1), smt.UGT(b, 1), smt.ULT(a, 1 << 32), smt.ULT(b, 1 << 32))
    questions = Questions(*hard, patience=1)
    assert questions.check() == smt.unknown and questions.model() is None
    assert questions.possible is None
