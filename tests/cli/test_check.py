"""`polysome check` as its users meet it: what is printed for every example, JSON, warnings, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.cli.main import app
from polysome.passes import PASSES

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
EXAMPLES = sorted((ROOT / "examples").glob("*/*.nf"))
LB = ROOT / "examples" / "load_balancer" / "load_balancer.nf"

UNUSED = """use net.l4;
nf wire {
  port a, b;
  param limit: u64 = 10;
  on packet from a { send b; }
  on packet from b { send a; }
}
"""


def polysome(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["check", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def unused(tmp_path: Path) -> Path:
    """A spec with one warning, W0201."""
    path = tmp_path / "wire.nf"
    path.write_text(UNUSED, encoding="utf-8")
    return path


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_what_is_printed(path: Path, golden: Callable[[Path, str], None]) -> None:
    result = polysome(path)
    assert result.exit_code == 0 and result.stderr == ""
    assert all(len(line) <= 100 for line in result.stdout.splitlines())
    golden(GOLDEN / "check" / f"{path.stem}.txt", result.stdout)


def test_the_load_balancer_fits_one_screen() -> None:
    assert len(polysome(LB).stdout.splitlines()) <= 40


def test_the_typed_program(golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / "ir" / "load_balancer.txt", polysome(LB, "--print-after", "ir").stdout)


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_pass_can_be_printed_and_is_deterministic(path: Path, name: str) -> None:
    first, second = (polysome(path, "--print-after", name) for _ in range(2))
    assert first.exit_code == 0 and first.stdout.strip() and first.stdout == second.stdout


def test_an_unknown_pass_is_a_mistake_on_the_command_line() -> None:
    result = polysome(LB, "--print-after", "layuot")
    assert result.exit_code == 2 and "there is no such pass" in result.stderr and "`layout`" in result.stderr


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_json_is_one_object_with_the_promised_keys(path: Path) -> None:
    found = json.loads(polysome(path, "--json").stdout)
    assert list(found) == [
        *("ok", "diagnostics", "nf", "file", "ports", "paths", "reads", "writes", "operations", "layouts", "state"),
        *("handlers", "verdicts", "emits", "schedule", "cores"),
    ]
    assert found["ok"] and found["diagnostics"] == [] and found["file"] == str(path)
    numbers = [one["number"] for one in found["layouts"] if one["number"] is not None]
    assert sorted({n for row in found["paths"] for n in row["numbers"]}) == numbers
    assert sum(row["classes"] for row in found["paths"]) >= sum(len(one["classes"]) for one in found["layouts"])


def test_json_of_the_load_balancer() -> None:
    found = json.loads(polysome(LB, "--json").stdout)
    assert [(p["fields_bytes"], p["edits_bytes"], p["fits"]) for p in found["paths"]] == [(13, 10, True)]
    assert found["layouts"][0]["fields"] == [
        {"header": "ipv4", "first": 9, "length": 1, "offset": 0},
        {"header": "ipv4", "first": 12, "length": 8, "offset": 1},
        {"header": "tcp", "first": 0, "length": 4, "offset": 9},
    ]
    assert [(s["name"], s["entries"], s["memory"]) for s in found["state"]] == [
        ("sticky", 4_000_000, 262_068_640),
        ("turn", 1, 4),
    ]
    assert (found["schedule"]["policy"], found["schedule"]["hold"]) == ("fifo", 0)
    assert found["cores"] == {
        "spreads": True,
        "ports": [{"port": "clients", "key": "flow"}, {"port": "servers", "key": "flow"}],
        "per_core": ["turn"],
        "blockers": [],
        "explanation": [
            "`sticky` is keyed by flow (lines 22, 25), so packets may be spread by flow",
            "`turn` is `per core` (line 16): each core has its own copy",
        ],
    }


def test_json_of_errors(tmp_path: Path) -> None:
    path = tmp_path / "wrong.nf"
    path.write_text("use net.l4;\nnf t {\n  port a;\n  on packet { send b; }\n}\n", encoding="utf-8")
    result = polysome(path, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1 and found["ok"] is False
    (error,) = found["diagnostics"]
    assert error["severity"] == "error" and (error["line"], error["column"]) == (4, 20)
    assert (error["end_line"], error["end_column"]) == (4, 21)


# ---------------------------------------------------------------- warnings and exit codes


def test_warnings_are_shown_and_do_no_harm(unused: Path) -> None:
    result = polysome(unused)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning[W0201]: param `limit` is never used")
    assert result.stdout.startswith("wire: no errors; ports a, b\n")


@pytest.mark.parametrize("denied", [["W0201"], ["all"], ["W0801,W0201"], ["W0801", "W0201"]])
def test_a_denied_warning_fails(unused: Path, denied: list[str]) -> None:
    result = polysome(unused, *(f"--deny={code}" for code in denied))
    assert result.exit_code == 1 and "denied by --deny: W0201" in result.stderr
    assert json.loads(polysome(unused, "--json", *(f"--deny={code}" for code in denied)).stdout)["ok"] is False


def test_another_denied_warning_does_not(unused: Path) -> None:
    assert polysome(unused, "--deny", "W0801").exit_code == 0


@pytest.mark.parametrize("word", ["E0405", "w", "everything"])
def test_only_warnings_can_be_denied(unused: Path, word: str) -> None:
    assert polysome(unused, "--deny", word).exit_code == 2


def test_a_param_changes_what_is_found(tmp_path: Path) -> None:
    path = ROOT / "examples" / "shaper" / "shaper.nf"
    slow = polysome(path, "--param", "rate=10Kbps")
    assert slow.exit_code == 0 and slow.stderr.startswith("warning[W0701]: `idle` is 10s")
    assert polysome(path, "--param", "speed=1").exit_code == 2
    assert polysome(path, "--param", "rate").exit_code == 2


def test_a_spec_at_fault_is_1_and_a_missing_file_is_2(tmp_path: Path) -> None:
    path = tmp_path / "wrong.nf"
    path.write_text("nf {", encoding="utf-8")
    assert polysome(path).exit_code == 1
    assert polysome(tmp_path / "none.nf").exit_code == 2


def test_without_errors_nothing_is_in_colour_off_a_terminal() -> None:
    assert "\x1b" not in polysome(LB).output
