"""pytest collects specs: each property an item, at its line, with its counterexample when it fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.testing.campaign.gates import RIGHT, WRONG

ROOT = Path(__file__).resolve().parents[2]
TRACES = 40


def pytest_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own; the plugin is there because Polysome is installed.

    Traces are counted and not timed, so that a busy machine tests as much as an idle one.
    """
    count = ("--polysome-seconds", "250", "--polysome-traces", str(TRACES))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *count, *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "compiler"), "COLUMNS": "120"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_properties_are_items_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "gate.nf").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "library.nf").write_text("/// Declarations only.\nconst ONE: u8 = 1;\n", encoding="utf-8")
    listed = pytest_in(tmp_path, "--collect-only", "-q").stdout
    assert "gate.nf::shut" in listed and "gate.nf::non-interference" in listed and "library.nf" not in listed


@pytest.mark.slow
def test_right_ones_pass_and_wrong_ones_show_their_counterexample(tmp_path: Path) -> None:
    (tmp_path / "right.nf").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "wrong.nf").write_text(WRONG, encoding="utf-8")
    done = pytest_in(tmp_path, "-k", "shut or conservation or faults or never", "--sizes", "small", "-v", "-ra")
    assert done.returncode == 1
    assert "right.nf::shut PASSED" in done.stdout and "wrong.nf::shut FAILED" in done.stdout
    assert "right.nf::faults SKIPPED" in done.stdout and "has faults on links, not" in done.stdout
    assert "right.nf::never_tested SKIPPED (untested" in done.stdout
    assert "packet 1" in done.stdout and "expected: q.flow.reversed in q.before.open" in done.stdout
    line = next(n for n, text in enumerate(WRONG.splitlines(), 1) if "property shut" in text)
    assert re.search(rf"wrong\.nf:{line}\b", done.stdout)


@pytest.mark.slow
def test_it_works_under_xdist(tmp_path: Path) -> None:
    (tmp_path / "right.nf").write_text(RIGHT, encoding="utf-8")
    done = pytest_in(tmp_path, "-n", "2", "--dist", "loadfile", "-k", "shut or conservation")
    assert done.returncode == 0 and "2 passed" in done.stdout


def test_errors_of_a_spec_are_its_own(tmp_path: Path) -> None:
    text = "use net.l4;\nnf broken {\n  port a;\n  on packet { send b; }\n}\n"
    (tmp_path / "broken.nf").write_text(text, encoding="utf-8")
    done = pytest_in(tmp_path)
    assert done.returncode == 2
    assert "error[E0" in done.stdout and "broken.nf:4" in done.stdout and "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("option", "given", "expected"),
    [
        ("--polysome-engine", "abacus", "there is no engine `abacus`"),
        ("--polysome-traces", "0", "`0` is no count: a number of 1 or more"),
        ("--polysome-traces", "-1", "`-1` is no count"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path: Path, option: str, given: str, expected: str) -> None:
    (tmp_path / "gate.nf").write_text(RIGHT, encoding="utf-8")
    done = pytest_in(tmp_path, f"{option}={given}")
    assert done.returncode == 4 and expected in done.stderr
