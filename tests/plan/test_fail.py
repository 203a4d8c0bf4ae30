"""Every way a site file or a plan can be wrong: a site, and a spec, that must fail, and exactly what is then said.

A case is a folder `fail/CODE…` with `site.toml`. Its spec is `spec.nf`, or else `fail/common.nf`, or `fail/bundle.nf`
for a site with `[config]`; `expected.txt` is what is shown (`pytest --update-golden` writes it).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.plan.helpers import told

import polysome.plan.split
from polysome.syntax.diagnostics import render

FAIL = Path(__file__).parent / "fail"
CASES = sorted(path.name for path in FAIL.iterdir() if path.is_dir())
LONGEST_LINE = 300


@pytest.mark.parametrize("case", CASES)
def test_case(case: str, monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]) -> None:
    monkeypatch.chdir(FAIL / case)  # so that messages name short paths
    found, sources = told(_spec(), "site.toml")
    shown = "\n\n".join(render(d, sources) for d in found) + "\n"
    assert [d.code for d in found] == [case[:5]], shown
    for d in found:
        assert d.span is not None and d.why.endswith((".", "?")) and d.mend.endswith((".", "?"))
        assert all(len(text) <= LONGEST_LINE for text in (d.message, d.label, d.why, d.mend))
    golden(FAIL / case / "expected.txt", shown)


def _spec() -> Path:
    config = "[config]" in Path("site.toml").read_text(encoding="utf-8")
    return Path("spec.nf") if Path("spec.nf").exists() else Path("..") / ("bundle.nf" if config else "common.nf")


def test_the_site_that_the_cases_break_is_right() -> None:
    found, _ = told(FAIL / "common.nf", str(FAIL / "good.toml"))
    assert found == []


def test_the_site_of_a_bundle_is_right(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text((FAIL / "bundle.toml").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "blocked.csv").write_text("value\n10.0.0.1\n", encoding="utf-8")
    found, _ = told(FAIL / "bundle.nf", str(tmp_path / "site.toml"))
    assert found == []


def test_every_code_has_a_case() -> None:
    sources = Path(polysome.plan.split.__file__).parent.rglob("*.py")
    codes = {code for source in sources for code in re.findall(r'"(E1[34]\d{2})"', source.read_text(encoding="utf-8"))}
    cases = {case[:5] for case in CASES if case[:3] in ("E13", "E14")}
    assert codes and codes == cases
