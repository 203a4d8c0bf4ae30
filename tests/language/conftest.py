"""What the tests of the language share: one way through the front end and the analyses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from polysome.analysis.all import analyse
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Diagnostic, Report, SpecError, render

Diagnose = Callable[[Path], tuple[list[Diagnostic], str]]


@pytest.fixture
def diagnose() -> Diagnose:
    """`diagnose(path)`: what a user is told about the spec, and how it is shown."""

    def run(path: Path) -> tuple[list[Diagnostic], str]:
        report = Report()
        try:
            analyse(check(path, report), report)
            found, sources = report.diagnostics, report.sources
        except SpecError as error:
            found, sources = [*error.diagnostics, *report.warnings], dict(error.sources)
        return found, "\n\n".join(render(d, sources) for d in found) + "\n"

    return run
