"""Every operator on numbers is what it is in Python; terms say what they are; misuse is an error, not a crash."""

from __future__ import annotations

import gc
import operator
import threading
import weakref
from collections.abc import Callable

import pytest

from polysome import smt
from polysome.smt.library import ENDED, MOST_ENDED, Misused, give_back

WIDTH = 4
ALL = range(1 << WIDTH)
MASK = len(ALL) - 1
WIDE = (1 << 100) + 3


def signed(value: int) -> int:
    return value - len(ALL) if value >> WIDTH - 1 else value


def division(a: int, b: int) -> int:
    return a // b if b else MASK


def remainder(a: int, b: int) -> int:
    return a % b if b else a


VALUES: dict[str, tuple[Callable[..., smt.Term], Callable[[int, int], int]]] = {
    "+": (operator.add, lambda a, b: a + b),
    "-": (operator.sub, lambda a, b: a - b),
    "*": (operator.mul, lambda a, b: a * b),
    "&": (operator.and_, operator.and_),
    "|": (operator.or_, operator.or_),
    "^": (operator.xor, operator.xor),
    "<<": (operator.lshift, lambda a, b: a << b),
    ">>": (operator.rshift, lambda a, b: signed(a) >> b),
    "LShR": (smt.LShR, lambda a, b: a >> b),
    "UDiv": (smt.UDiv, division),
    "URem": (smt.URem, remainder),
}
TRUTHS: dict[str, tuple[Callable[..., smt.Term], Callable[[int, int], bool]]] = {
    "==": (operator.eq, operator.eq),
    "!=": (operator.ne, operator.ne),
    "<": (operator.lt, lambda a, b: signed(a) < signed(b)),
    "<=": (operator.le, lambda a, b: signed(a) <= signed(b)),
    ">": (operator.gt, lambda a, b: signed(a) > signed(b)),
    ">=": (operator.ge, lambda a, b: signed(a) >= signed(b)),
    "ULT": (smt.ULT, operator.lt),
    "ULE": (smt.ULE, operator.le),
    "UGT": (smt.UGT, operator.gt),
    "UGE": (smt.UGE, operator.ge),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    made, wanted = VALUES[name]
    for a in ALL:
        for b in ALL:
            for other in (b, smt.BitVecVal(b, WIDTH)):
                found = smt.simplify(made(smt.BitVecVal(a, WIDTH), other))
                assert found.as_long() == wanted(a, b) & MASK, (a, b)


@pytest.mark.parametrize("name", TRUTHS)
def test_truths(name: str) -> None:
    made, wanted = TRUTHS[name]
    for a in ALL:
        for b in ALL:
            for other in (b, smt.BitVecVal(b, WIDTH)):
                found = smt.simplify(made(smt.BitVecVal(a, WIDTH), other))
                assert smt.is_true(found) == wanted(a, b), (a, b)
                assert smt.is_false(found) != wanted(a, b), (a, b)


def test_one_operand() -> None:
    for a in ALL:
        term = smt.BitVecVal(a, WIDTH)
        assert smt.simplify(-term).as_long() == -a & MASK
        assert smt.simplify(~term).as_long() == ~a & MASK
        assert smt.simplify(smt.ZeroExt(3, term)).as_long() == a
        assert smt.simplify(smt.SignExt(3, term)).as_long() == signed(a) & 0x7F
        assert smt.simplify(smt.Extract(2, 1, term)).as_long() == a >> 1 & 3
        assert smt.simplify(smt.Concat(term, term, smt.BitVecVal(1, 1))).as_long() == a << 5 | a << 1 | 1
        assert smt.simplify(smt.BV2Int(term) + 3 * smt.BV2Int(term)).as_long() == 4 * a
        assert smt.simplify((smt.BV2Int(term) + smt.IntVal(-20)) % 7).as_long() == (a - 20) % 7


def test_logic() -> None:
    for p in (False, True):
        for q in (False, True):
            one, other = smt.BoolVal(p), smt.BoolVal(q)
            assert smt.is_true(smt.simplify(smt.And(one, other))) == (p and q)
            assert smt.is_true(smt.simplify(smt.And(one, q))) == (p and q)
            assert smt.is_true(smt.simplify(smt.Or(one, other))) == (p or q)
            assert smt.is_true(smt.simplify(smt.Implies(one, other))) == (not p or q)
            assert smt.is_true(smt.simplify(smt.If(one, other, smt.Not(other)))) == (p == q)
    assert smt.is_true(smt.simplify(smt.And())) and smt.is_false(smt.simplify(smt.Or()))


def test_numbers_of_any_width() -> None:
    assert smt.BitVecVal(WIDE, 128).as_long() == WIDE
    assert smt.BitVecVal(-1, 128).as_long() == (1 << 128) - 1
    assert smt.BitVecVal(1 << 64, 64).as_long() == 0
    assert smt.is_true(smt.simplify(smt.BitVecVal(WIDE, 128) == WIDE))
    assert smt.is_true(smt.simplify(smt.BitVecVal(-1, 8) == -1))
    assert smt.IntVal(-WIDE).as_long() == -WIDE


def test_what_terms_are() -> None:
    x, y, p = smt.BitVec("x[1]", 8), smt.BitVec("y", 8), smt.Bool("p")
    assert (x.name, str(x), (x + 1).name, smt.BitVecVal(1, 8).name) == ("x[1]", "x[1]", "", "")
    assert (x.size(), smt.Concat(x, y).size(), p.size()) == (8, 16, 0)
    assert smt.is_symbol(x) and smt.is_symbol(p) and not smt.is_symbol(x + y) and not smt.is_symbol(smt.BoolVal(True))
    assert smt.is_bv(x) and not smt.is_bv(p) and smt.is_bool(p) and smt.is_bool(x == y)
    assert smt.is_bv_value(smt.BitVecVal(1, 8)) and not smt.is_bv_value(x) and not smt.is_bv_value(smt.IntVal(1))
    assert smt.is_int_value(smt.IntVal(1)) and not smt.is_int_value(smt.BitVecVal(1, 8))
    assert smt.is_eq(x == y) and smt.is_not(smt.Not(p)) and smt.is_and(smt.And(p, p)) and smt.is_or(smt.Or(p, p))
    for term, kind in (
        (smt.Concat(x, y), smt.CONCAT),
        (smt.Extract(3, 0, x), smt.EXTRACT),
        (smt.BV2Int(x), smt.BV2INT),
        (smt.BV2Int(x) + 1, smt.ADD),
        (2 * smt.BV2Int(x), smt.MUL),
        (smt.BV2Int(x) % 2, smt.MOD),
    ):
        assert [smt.is_app_of(term, k) for k in (kind, smt.BV2INT)] == [True, kind == smt.BV2INT]
    assert [smt.is_int_value(part) for part in (2 * smt.BV2Int(x)).children()] == [True, False]  # as it is written
    assert [smt.is_int_value(part) for part in (smt.BV2Int(x) * 2).children()] == [False, True]
    assert [smt.Extract(6, 2, x).parameter(k) for k in (0, 1)] == [6, 2]
    assert smt.BitVecVal(1, 8).children() == [] and [c.name for c in (x + y).children()] == ["x[1]", "y"]
    assert (x + y).with_children([y, x]).eq(y + x) and not (x + y).eq(y + x)
    assert x in [y, x] and x not in [y] and len({x, smt.BitVec("x[1]", 8)}) == 1
    with pytest.raises(TypeError, match="in a model only"):
        bool(smt.ULT(x, y))


def test_substitution_is_at_once() -> None:
    x, y = smt.BitVec("x", 8), smt.BitVec("y", 8)
    assert smt.substitute(x - y, (x, y), (y, x)).eq(y - x)


def test_unknown_functions() -> None:
    x, y = smt.BitVec("x", 8), smt.BitVec("y", 8)
    solver = smt.Solver()
    solver.add(x == y, smt.uninterpreted("f 8", [x], 64) != smt.uninterpreted("f 8", [y], 64))
    assert solver.check() == smt.unsat
    solver = smt.Solver()
    solver.add(x == y, smt.uninterpreted("f 8", [x], 64) != smt.uninterpreted("g 8", [y], 64))
    assert solver.check() == smt.sat


@pytest.mark.parametrize("logic", ["", "QF_BV"])
def test_questions(logic: str) -> None:
    x, solver = smt.BitVec("x", 8), smt.Solver(logic)
    solver.patience(10_000)
    solver.add(smt.ULT(x, 5))
    solver.push()
    solver.add(smt.UGT(x, 3))
    assert solver.num_scopes() == 1 and solver.check() == smt.sat
    model = solver.model()
    assert model.eval(x).as_long() == 4 and model.eval(x + 1, model_completion=True).as_long() == 5
    free = smt.BitVec("free", 8)
    assert not smt.is_bv_value(model.eval(free)) and model.eval(free, model_completion=True).as_long() == 0
    assert solver.check(x == 4) == smt.sat and solver.check(x == 3) == smt.unsat
    solver.pop()
    assert solver.num_scopes() == 0 and solver.check(x == 3) == smt.sat and solver.check(x == 5) == smt.unsat
    model.update_value(free, smt.BitVecVal(9, 8))
    assert model.eval(free).as_long() == 9


def test_misuse_is_an_error() -> None:
    x, y, p = smt.BitVec("x", 8), smt.BitVec("y", 9), smt.Bool("p")
    for wrong in (
        lambda: x + y,
        lambda: x == y,
        lambda: smt.And(p, x),
        lambda: smt.Extract(8, 0, x),
        lambda: smt.If(x, x, x),
        lambda: smt.Concat(x, p),
    ):
        with pytest.raises(Misused):
            wrong()
    assert smt.simplify(x == x).eq(smt.BoolVal(True))  # it goes on


def test_terms_do_not_outlive_their_use() -> None:
    term = smt.BitVec("x", 8) + 77
    here, number = weakref.ref(term), term.get_id()
    child = term.arg(0)
    del term
    gc.collect()
    assert here() is None and child.name == "x" and child.get_id() != number


def test_what_ends_while_z3_works_waits_for_it() -> None:
    """z3 knows no threads, and Python ends what is in a circle in any of them: while z3 answers, it crashed."""

    for make in (lambda: smt.BitVec("ends", 8) + 1, smt.Solver, solved):
        circle: list[object] = [make()]
        circle.append(circle)
        give_back()
        del circle
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()
        assert ENDED
    used = smt.Solver()
    assert not ENDED and used.num_scopes() == 0


def solved() -> smt.Model:
    solver = smt.Solver()
    solver.check()
    return solver.model()


def test_terms_that_ended_do_not_pile_up() -> None:
    x = smt.BitVec("x", 8)
    for n in range(2 * MOST_ENDED):
        assert len(ENDED) <= MOST_ENDED + 1, n
        x + 1
