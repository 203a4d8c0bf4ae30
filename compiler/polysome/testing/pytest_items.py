"""Specs and their properties as pytest's collectors and items."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from polysome.engines.options import Unsupported
from polysome.syntax.diagnostics import SpecError, render
from polysome.testing.campaign import Outcome, Result, properties, run
from polysome.testing.counterexample import loads, report
from polysome.testing.execution import Property
from polysome.testing.plan import Plan, Sizes
from polysome.testing.spec import Spec, load


class SpecFile(pytest.File):
    """A spec; its campaign is run once."""

    @cached_property
    def spec(self) -> Spec:
        return load(self.path)

    @cached_property
    def result(self) -> Result | Unsupported:
        option = self.config.getoption
        plan = Plan(
            engine=option("--polysome-engine"),
            sizes=Sizes(option("--sizes")),
            seed=option("--polysome-seed"),
            seconds=option("--polysome-seconds"),
            traces=option("--polysome-traces"),
            only=tuple(item.name for item in self.session.items if item.parent is self),
        )
        try:
            return run(self.spec, plan)
        except Unsupported as lacking:
            return lacking

    def collect(self) -> Iterator[SpecItem]:
        if not _declares_nf(self.path):
            return
        try:
            spec = self.spec
        except SpecError as error:
            texts = [render(d, error.sources) for d in error.diagnostics]
            raise self.CollectError("\n\n".join(texts)) from None
        for p in properties(spec):
            yield SpecItem.from_parent(self, name=p.name, judged=p)


class SpecItem(pytest.Item):
    """One property of one spec."""

    def __init__(self, *, judged: Property, **kw: Any) -> None:
        super().__init__(**kw)
        self.judged = judged

    def runtest(self) -> None:
        assert isinstance(self.parent, SpecFile)
        result = self.parent.result
        if isinstance(result, Unsupported):
            pytest.skip(str(result))
        outcome = result.outcomes[self.name]
        if outcome.skipped is not None:
            pytest.skip(outcome.skipped)
        if not outcome.holds:
            raise Broken(outcome)
        if outcome.untested:
            pytest.skip("untested: no trace met its conditions")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if not isinstance(excinfo.value, Broken):
            return super().repr_failure(excinfo, style)
        assert isinstance(self.parent, SpecFile)
        found = [loads(f.counterexample, self.parent.spec) for f in excinfo.value.outcome.findings]
        return "\n\n".join("\n".join(report(one)) for one in found)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """File and line (from 0) of the property; of the NF for built-in ones and those of a library."""
        assert isinstance(self.parent, SpecFile)
        program = self.parent.spec.program
        span = next((p.span for p in program.properties if p.name == self.name), program.span)
        if span.file != program.file:
            span = program.span
        return self.path, program.sources[span.file].position(span.start)[0] - 1, self.name


class Broken(Exception):
    """A property does not hold."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.name)
        self.outcome = outcome


def _declares_nf(path: Path) -> bool:
    """Does the file hold an NF, and not only declarations for others? A damaged one does, so that it is reported."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return any(line.lstrip().startswith("nf ") for line in text.splitlines())
