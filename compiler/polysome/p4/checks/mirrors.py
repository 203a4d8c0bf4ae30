"""Mirroring: under a test of the mirror type, with a header that fits."""

from __future__ import annotations

from collections.abc import Iterable

from polysome.p4 import program as pr
from polysome.p4.limits import ChipLimits
from polysome.p4.types import width
from polysome.syntax.diagnostics import Report


def check_mirrors(program: pr.Program, chip: ChipLimits, report: Report) -> None:
    for gress in (program.ingress, program.egress):
        _block(gress.deparser, False, chip, report)


def _block(body: Iterable[pr.Stmt], chosen: bool, chip: ChipLimits, report: Report) -> None:
    for s in body:
        match s:
            case pr.If():
                _block(s.yes, chosen or _tests_type(s.condition), chip, report)
                _block(s.no, chosen, chip, report)
            case pr.EmitMirror():
                _mirror(s, chosen, chip, report)
            case _:
                pass


def _tests_type(e: pr.Expr) -> bool:
    if isinstance(e, pr.Binary) and e.op == "&&":
        return _tests_type(e.left) or _tests_type(e.right)
    return (
        isinstance(e, pr.Binary)
        and e.op == "=="
        and isinstance(e.left, pr.Place)
        and e.left.key == ("dprsr", "mirror_type")
        and isinstance(e.right, pr.Const)
        and e.right.value != 0
    )


def _mirror(s: pr.EmitMirror, chosen: bool, chip: ChipLimits, report: Report) -> None:
    if not chosen:
        report.add(
            "E1208",
            "a mirror copy that no mirror type asks for",
            s.span,
            why="The chip finds the fields of a mirror header by `mirror_type`, which is 0 for no copy.",
            mend="Put it under `if (dprsr.mirror_type == N)`, N from 1.",
        )
    for item in s.items:
        if isinstance(item, pr.Const) and item.value != 0:
            report.add(
                "E1208",
                f"a mirror header with the constant {item.value}",
                item.span,
                why="The deparser copies fields into a mirror header; of constants it has only 0.",
                mend="Set metadata to it, and list those.",
            )
    bits = sum(width(item.type) for item in s.items)
    if bits > chip.mirror_header * 8:
        report.add(
            "E1208",
            f"a mirror header of {bits // 8} bytes",
            s.span,
            why=f"{chip.name} puts at most {chip.mirror_header} bytes before a mirror copy.",
            mend="Send fewer fields; egress can look the others up.",
        )
