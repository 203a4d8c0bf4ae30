"""Every code of configuration errors: files that must fail, and exactly what is then said.

A case is a folder `fail/CODE…`: `NAME.csv` fills NAME, `*.toml` are given in order, then `events.jsonl`. Its spec is
`spec.nf`, or else `fail/common.nf`; `expected.txt` is what is shown (`pytest --update-golden` writes it).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from polysome import config
from polysome.config.events import load_events
from polysome.config.load import load_config
from polysome.kinds import state
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report, SpecError, render

FAIL = Path(__file__).parent / "fail"
CASES = sorted(path.name for path in FAIL.iterdir() if path.is_dir())


def failure() -> SpecError:
    """What is wrong with the case in the current folder."""
    spec = Path("spec.nf") if Path("spec.nf").exists() else Path("../common.nf")
    report = Report()
    program = check(spec, report)
    paths = [path for path in sorted(Path().iterdir()) if path.suffix in (".csv", ".toml")]
    files = [f"{path.stem}={path}" if path.suffix == ".csv" else str(path) for path in paths]
    with pytest.raises(SpecError) as caught:
        load_config(program, files, report)
        load_events(program, "events.jsonl", report)
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_case(case: str, monkeypatch: pytest.MonkeyPatch, golden: Callable[[Path, str], None]) -> None:
    monkeypatch.chdir(FAIL / case)  # so that messages name short paths
    error = failure()
    assert case.split("_")[0] in {d.code for d in error.diagnostics}
    assert all(d.span is not None and d.why and d.mend for d in error.diagnostics)
    golden(FAIL / case / "expected.txt", "\n\n".join(render(d, error.sources) for d in error.diagnostics) + "\n")


def test_every_code_has_a_case() -> None:
    sources = [*Path(config.__file__).parent.glob("*.py"), *Path(state.__file__).parent.glob("*/rows.py")]
    codes = {code for source in sources for code in re.findall(r'"(E1\d{3})"', source.read_text(encoding="utf-8"))}
    assert codes and codes == {case.split("_")[0] for case in CASES}
