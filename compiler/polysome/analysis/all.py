"""The analyses that can find fault, in one call."""

from __future__ import annotations

from polysome.analysis.contract import check_contract
from polysome.ir import program as ir
from polysome.syntax.diagnostics import Report


def analyse(program: ir.Program, report: Report) -> None:
    """Report what is wrong with a checked program, and what is suspicious."""
    check_contract(program, report)
