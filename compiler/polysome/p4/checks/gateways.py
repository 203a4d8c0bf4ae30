"""Conditions: a gateway compares a field with a constant."""

from __future__ import annotations

from polysome.p4 import program as pr
from polysome.p4.limits import ChipLimits
from polysome.p4.types import width
from polysome.p4.walk import expressions, statements
from polysome.syntax.diagnostics import Report

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def check_gateways(program: pr.Program, chip: ChipLimits, report: Report) -> None:
    for gress in (program.ingress, program.egress):
        for s in statements(program, (*gress.control, *gress.deparser)):
            if isinstance(s, pr.If):
                _condition(s.condition, chip, report)
            in_alu = {id(e) for e in _in_stateful(program, s)}
            for e in expressions(program, s):
                if isinstance(e, pr.Conditional) and id(e) not in in_alu:
                    _condition(e.condition, chip, report)


def _in_stateful(program: pr.Program, s: pr.Stmt) -> list[pr.Expr]:
    """Conditions of register actions are another check's."""
    found: list[pr.Expr] = []
    for e in pr.reads(s):
        for part in pr.subexpressions(e):
            if isinstance(part, pr.Execute):
                for inner in statements(program, program.register_actions[part.action].body):
                    found += expressions(program, inner)
    return found


def _condition(e: pr.Expr, chip: ChipLimits, report: Report) -> None:
    match e:
        case pr.Unary():
            _condition(e.value, chip, report)
        case pr.Binary() if e.op in ("&&", "||"):
            _condition(e.left, chip, report)
            _condition(e.right, chip, report)
        case pr.Binary() if e.op in _COMPARISONS:
            _comparison(e, chip, report)
        case pr.Valid() | pr.Hit() | pr.Const() | pr.Place():
            pass
        case _:
            _too_complex(e, report)


def _comparison(e: pr.Binary, chip: ChipLimits, report: Report) -> None:
    if isinstance(e.left, pr.Const) and isinstance(e.right, pr.Const):
        return
    field, constant = (e.right, e.left) if isinstance(e.left, pr.Const) else (e.left, e.right)
    if not isinstance(constant, pr.Const):
        report.add(
            "E1209",
            "a condition compares two fields",
            e.span,
            why="A gateway compares fields with constants only.",
            mend="Subtract them (`|-|`) or `^` them into metadata in a statement of its own, then test that for 0.",
        )
        return
    if not _is_field(field):
        _too_complex(field, report)
    elif width(field.type) > chip.gateway_bits:
        report.add(
            "E1209",
            f"a condition compares {width(field.type)} bits",
            e.span,
            why=f"A gateway of {chip.name} takes {chip.gateway_bits} bits.",
            mend="Match the field in a table with constant entries, or compare a slice.",
        )


def _is_field(e: pr.Expr) -> bool:
    """A field, a slice of one, or one under a constant mask."""
    match e:
        case pr.Place():
            return True
        case pr.Slice() | pr.Cast():
            return _is_field(e.value)
        case pr.Binary() if e.op == "&":
            return isinstance(e.right, pr.Const) and _is_field(e.left)
        case _:
            return False


def _too_complex(e: pr.Expr, report: Report) -> None:
    report.add(
        "E1209",
        "a condition computes something",
        e.span,
        why="A gateway has no adder: it compares fields with constants.",
        mend="Compute it into metadata in a statement of its own, then compare that with a constant.",
    )
