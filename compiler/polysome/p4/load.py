"""The front end as a whole: P4 text to a checked, typed program."""

from __future__ import annotations

from polysome.p4.checks import check
from polysome.p4.elaborate import elaborate
from polysome.p4.limits import ChipLimits
from polysome.p4.parse import parse
from polysome.p4.program import Program
from polysome.syntax.diagnostics import Report


def load(name: str, text: str, chip: ChipLimits, report: Report | None = None) -> Program:
    """The program in `text`, a file that messages call `name`, checked for `chip`.

    Raises SpecError with everything that is wrong. O(size of the text).
    """
    report = report if report is not None else Report()
    tree = parse(name, text, report)
    program = elaborate(name, tree, report) if tree is not None else None
    if program is not None:
        if program.arch != chip.arch:
            report.add(
                "E1211",
                f"the program is for {program.arch}, and {chip.name} has {chip.arch}",
                tree.items[0].span if tree is not None else None,
                why="Metadata and externs differ between Tofino 1 and Tofino 2.",
                mend=f"Include <{chip.arch}.p4>, or choose another target.",
            )
        else:
            check(program, chip, report)
    report.stop_on_errors()
    assert program is not None
    return program
