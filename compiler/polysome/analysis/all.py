"""The analyses that can find fault, in one call."""

from __future__ import annotations

from polysome.analysis.contract import check_contract
from polysome.analysis.effects import effects
from polysome.analysis.layout import WIRE, layout
from polysome.analysis.warnings import warn
from polysome.ir import program as ir
from polysome.syntax.diagnostics import Report
from polysome.syntax.spans import Span


def analyse(program: ir.Program, report: Report) -> None:
    """Report what is wrong with a checked program, and what is suspicious."""
    check_contract(program, report)
    _class_numbers(program, report)
    warn(program, effects(program), report)


def _class_numbers(program: ir.Program, report: Report) -> None:
    """E0811: more kinds of packets than the tag's 8 bits can name."""
    numbers = layout(program).numbers
    if numbers <= WIRE.class_numbers:
        return
    named = program.contract.span if program.contract is not None else None
    start = program.span.start
    report.add(
        "E0811",
        f"this NF tells {numbers} kinds of packets apart; {WIRE.class_numbers} is the most",
        named or Span(program.span.file, start, start + len("nf")),
        why="A frame to the NF names its kind of packet, the layout of its fields, in 8 bits.",
        mend="Say with `relevant … else` which packets the NF is for, test fewer headers, or use a smaller parser.",
    )
