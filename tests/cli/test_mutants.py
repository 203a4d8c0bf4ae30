"""`polysome test --mutants` on the command line: what it prints, what it writes, with which code it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.testing.mutants.kit import GATE
from typer.testing import CliRunner

from polysome.captures.read import open_capture
from polysome.cli.main import app

runner = CliRunner()
FEW = ("--mutants", "--traces", "16", "--seconds", "600", "--seed", "1")
STRICT = """
use net.l4;
nf strict {
  port a, b;
  on packet from a { send b; }
  on packet from b { drop "one way"; }
  property one_way {
    for p in trace expect (p.in_port == a and p.sent and p.out_port == b or p.in_port == b and p.reason == "one way");
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.nf").write_text(GATE, encoding="utf-8")
    (tmp_path / "strict.nf").write_text(STRICT, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Any:
    return runner.invoke(app, ["test", *arguments])


def test_what_is_not_noticed_is_shown_with_a_trace(folder: Path) -> None:
    done = run("gate.nf", *FEW)
    assert done.exit_code == 1, done.output
    assert "gate: " in done.output and "mutants in" in done.output and "on 1 worker, seed 1" in done.output
    assert "not noticed: gate.nf:5, constant (mutant" in done.output and "  + state { open" in done.output
    assert "> packet 2" in done.output and "with the fault:" in done.output and "score: " in done.output
    captures = sorted((folder / "counterexamples").glob("mutant-*.pcapng"))
    assert captures and all(str(c.relative_to(folder)) in done.output for c in captures)
    for capture in captures:
        assert list(open_capture(capture)) and capture.with_suffix(".txt").read_text(encoding="utf-8")


def test_json(folder: Path) -> None:
    found = json.loads(run("gate.nf", *FEW, "--json", "--out", "elsewhere").output)
    missed = [m for m in found["mutants"] if m["verdict"] == "not noticed"]
    assert found["nf"] == "gate" and 0 < found["score"] < 1 and missed
    assert all(Path(m["capture"]).is_file() and m["capture"].startswith("elsewhere/") for m in missed)
    assert sum(found["counts"].values()) == len(found["mutants"])
    noticed = next(m for m in found["mutants"] if m["verdict"] == "noticed")
    assert (
        noticed["property"] == "shut"
        and noticed["capture"] is None
        and noticed["changed"][0]["line"] == noticed["line"]
    )


def test_if_all_are_noticed_the_code_is_0(folder: Path) -> None:
    done = run("strict.nf", *FEW)
    assert done.exit_code == 0, done.output
    assert "(100 %)" in done.output and "not noticed" not in done.output
    assert not (folder / "counterexamples").exists()


def test_a_spec_that_fails_itself_is_told_to_be_mended_first(folder: Path) -> None:
    (folder / "wrong.nf").write_text(STRICT.replace('drop "one way"', "send a"), encoding="utf-8")
    done = run("wrong.nf", *FEW)
    assert done.exit_code == 1 and "does not hold its own property one_way" in done.output
    assert "mend: Mend it first: polysome test wrong.nf --property" in done.output


def test_without_time_nothing_is_said(folder: Path) -> None:
    done = run("gate.nf", "--mutants", "--seconds", "0.1")
    assert done.exit_code == 4 and "no mutant was tried that differs" in done.output


def test_it_cannot_be_combined_with_what_is_for_campaigns(folder: Path) -> None:
    for option in (("--replay", "x.json"), ("--coverage",), ("--workers", "ray"), ("--engine", "native")):
        done = run("gate.nf", "--mutants", *option)
        said = f"--mutants and {' '.join(option).removesuffix(' x.json')} do not go together"
        assert done.exit_code == 2 and said in done.output, done.output
