"""What a switch compiler would reject, found on the typed program."""

from __future__ import annotations

from polysome.p4 import program as pr
from polysome.p4.checks.accesses import check_accesses
from polysome.p4.checks.gateways import check_gateways
from polysome.p4.checks.initialised import check_initialised
from polysome.p4.checks.mirrors import check_mirrors
from polysome.p4.checks.parsers import check_parser
from polysome.p4.checks.stateful import check_stateful
from polysome.p4.limits import ChipLimits
from polysome.syntax.diagnostics import Report


def check(program: pr.Program, chip: ChipLimits, report: Report) -> None:
    """Reports everything that is wrong for this chip; the parsers first, since the other checks follow their states."""
    before = report.count
    check_parser(program.ingress, chip.ingress_parser_depth, report)
    check_parser(program.egress, chip.egress_parser_depth, report)
    if report.count > before:
        return
    check_accesses(program, report)
    check_initialised(program, report)
    check_gateways(program, chip, report)
    check_stateful(program, chip, report)
    check_mirrors(program, chip, report)
