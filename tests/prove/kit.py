"""Cases of examples and of small specs, with the P4's text as it is or changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tests.backends.examples import program

from polysome.analysis.layout import Carry
from polysome.backends.system.library import limits, p4_text
from polysome.backends.system.proof import case_of
from polysome.ir import program as ir
from polysome.p4.load import load
from polysome.plan.design import Design, design
from polysome.plan.split import fitting_site
from polysome.prove.case import Case
from polysome.prove.obligations import prove
from polysome.prove.result import Result, Status


def designed(spec: ir.Program, target: str = "tofino", carry: Carry = "fields") -> Design:
    return design(spec, fitting_site(spec, target, carry=carry), None, carry)


def example(name: str, target: str = "tofino", carry: Carry = "fields") -> Design:
    return designed(program(name), target, carry)


def edited(made: Design, *edits: tuple[str, str]) -> Case:
    """The case with each text, which stands there once or more, replaced by another."""
    text = p4_text(made)
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    return replace(case_of(made), p4=load("edited.p4", text, limits(made.site.switch)))


def failures(case: Case, seconds: float = 120.0) -> list[Result]:
    return [r for r in prove(case, seconds) if r.status != Status.proved]


Change = Callable[[str], str]
ROOT = Path(__file__).parents[2]
