"""One meaning for each operator and cast: folding, properties, terms, the interpreter, C++, and the split system."""

from __future__ import annotations

from typing import Any

import pytest
from tests.language.operator_cases import WIDTHS, Case, boundaries, every, frame, pairs, result, spec_text

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Trace
from polysome.ir import program as ir
from polysome.ir.fold import Undefined, evaluate
from polysome.ir.operators import ARITHMETIC, COMPARISONS
from polysome.ir.walk import walk
from polysome.testing.judge.operators import Code, Operators
from polysome.testing.spec import Spec, load

STEP = 10_000  # ns between packets


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> Spec:
    path = tmp_path_factory.mktemp("operators") / "operators.nf"
    path.write_text(spec_text(), encoding="utf-8")
    return load(path)


@pytest.fixture(scope="module")
def typed(spec: Spec) -> dict[Case, tuple[ir.Expr, dict[str, int]]]:
    """Each case as the front end has it, with the slots of `a` and `b`."""
    found: dict[Case, tuple[ir.Expr, dict[str, int]]] = {}
    tests = [node for node in walk(spec.program.packet_handlers) if isinstance(node, ir.If)]
    bodies = iter([test.then for test in tests if len(test.then) == 1 and isinstance(test.then[0], ir.FieldWrite)])
    for of_width in every():
        for case in of_width:
            write = next(bodies)[0]
            assert isinstance(write, ir.FieldWrite)
            slots = {node.name: node.slot for node in walk(write) if isinstance(node, ir.Local)}
            found[case] = write.value, slots
    assert next(bodies, None) is None
    return found


def every_pair() -> list[tuple[Case, int, int]]:
    return [(case, a, b) for of_width in every() for case in of_width for a, b in pairs(case)]


def test_no_operator_is_left_out() -> None:
    written = {symbol for of_width in every() for case in of_width for symbol in case.text.split()}
    assert {*ARITHMETIC, *COMPARISONS, "++"} <= written
    assert all({0, 1, (1 << w) - 1} <= set(boundaries(w)) for w in WIDTHS)


def test_folding(typed: dict[Case, tuple[ir.Expr, dict[str, int]]]) -> None:
    def read(e: ir.Expr) -> Any:
        raise AssertionError(e)

    for case, a, b in every_pair():
        e, slots = typed[case]
        local = {slot: {"a": a, "b": b}[name] for name, slot in slots.items()}
        try:
            found = evaluate(e, read, {}, local)
        except Undefined:
            found = None
        assert found == case.means(a, b), (case, a, b)


class _Judge(Operators):
    def value(self, e: ir.Expr) -> Code:
        return Code(e.name, False) if isinstance(e, ir.Local) else super().value(e)


def test_properties(spec: Spec, typed: dict[Case, tuple[ir.Expr, dict[str, int]]]) -> None:
    judge = _Judge(spec.program, {})
    code = {case: eval(f"lambda a, b: {judge.value(e).text}", {}) for case, (e, _) in typed.items()}
    for case, a, b in every_pair():
        assert code[case](a, b) == case.means(a, b), (case, a, b)


def test_terms(spec: Spec, typed: dict[Case, tuple[ir.Expr, dict[str, int]]]) -> None:
    pytest.importorskip("z3")
    from polysome import smt
    from polysome.symbolic.expressions import Expressions
    from polysome.symbolic.values import bits

    for case, (e, slots) in typed.items():
        for a, b in pairs(case):
            wanted = case.means(a, b)
            if wanted is None:
                continue  # a trap, which who asks has ruled out
            terms = Expressions(spec.program, None)  # type: ignore[arg-type]
            terms.locals = {slot: bits({"a": a, "b": b}[name], case.width) for name, slot in slots.items()}
            assert smt.simplify(terms.value(e)).as_long() == wanted, (case, a, b)


SLOW = [pytest.param(engine, marks=pytest.mark.slow) for engine in ("native", "system")]


@pytest.mark.parametrize("engine", ["interp", *SLOW])
def test_engines(spec: Spec, engine: str) -> None:
    """Whole: parsed, computed, written, sent; in the split system by the NF's C++ for fields and the P4."""
    runs = ENGINES[engine]
    if (missing := runs.missing()) is not None:
        pytest.skip(str(missing))
    asked = [
        (frame(place, op, a, b), case, (a, b))
        for place, of_width in enumerate(every())
        for op, case in enumerate(of_width)
        for a, b in pairs(case)
    ]
    arrivals = tuple(Arrival(0, STEP * n, data) for n, (data, _, _) in enumerate(asked))
    record = runs.run(spec.program, Trace({}, arrivals), RunOptions())
    assert record.crash is None
    for fate, (_, case, of) in zip(record.fates, asked, strict=True):
        wanted = case.means(*of)
        if wanted is None:
            assert not fate.sent and "division by zero" in str(fate.reason), (case, of)
        else:
            assert fate.sent and result(fate.copies[0].data) == wanted, (case, of)
