"""`polysome check --cost`: what is printed, how figures compare, what happens without LLVM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from polysome.backends.cost.tracing import missing
from polysome.cli.cost_text import text_of
from polysome.cli.main import app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PARTS = ["parse", "keys", "decide", "apply", "rest", "all"]

needs_llvm = pytest.mark.skipif(missing() is not None, reason=f"{missing()}")


def check(example: str, *options: str) -> Result:
    result = CliRunner().invoke(app, ["check", str(EXAMPLES / example / f"{example}.nf"), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def nat() -> dict[str, Any]:
    return costs("nat")


@pytest.fixture(scope="module")
def forwarder() -> dict[str, Any]:
    return costs("forwarder")


def costs(example: str) -> dict[str, Any]:
    result = check(example, "--cost", "--json")
    assert result.exit_code == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)["cost"]
    return found


def path(found: dict[str, Any], *labels: str) -> dict[str, Any]:
    """The first whose label has all these parts, of those for TCP or without IP."""
    return next(p for p in found["paths"] if all(part in p["label"] for part in labels))


@needs_llvm
@pytest.mark.slow
def test_every_path_has_figures_for_every_part(nat: dict[str, Any], forwarder: dict[str, Any]) -> None:
    for one in [*nat["paths"], *forwarder["paths"]]:
        cycles, instructions, lines = one["cycles"], one["instructions"], one["lines"]
        assert list(cycles) == list(instructions) == PARTS
        assert cycles["all"] == pytest.approx(sum(cycles[part] for part in PARTS[:-1]), abs=0.5)
        assert all(cycles[part] > 0 for part in ("parse", "decide", "rest"))
        # No model runs more than 8 instructions at a time; 20 cycles for each would be a chain of divisions.
        assert instructions["all"] / 8 <= cycles["all"] <= instructions["all"] * 20
        assert (cycles["apply"] > 0) == (not one["verdict"].startswith("drop"))
        assert 0 <= lines["ahead"] <= lines["state"] and lines["frame"] >= (one["headers"] != [])
        assert lines["state"] == sum(place["lines"] for place in lines["places"])


@needs_llvm
@pytest.mark.slow
def test_labels_tell_the_paths_of_a_handler_apart(nat: dict[str, Any]) -> None:
    labels = [(p["line"], p["label"]) for p in nat["paths"]]
    assert len(set(labels)) == len(labels) and {line for line, _ in labels} == {74, 97}
    assert path(nat, "out found (85)", "send outside (92)")["changes"] == []
    assert path(nat, "out absent (85)", "insert out", "send outside (92)")


@needs_llvm
@pytest.mark.slow
def test_figures_compare_as_the_work_does(nat: dict[str, Any], forwarder: dict[str, Any]) -> None:
    hit = path(nat, "out found (85)", "send outside (92)")
    insert = path(nat, "out absent (85)", "insert out", "send outside (92)")
    assert insert["cycles"]["decide"] > 2 * hit["cycles"]["decide"]
    assert insert["lines"]["state"] > hit["lines"]["state"]
    fragment = path(nat, 'drop "later fragment"')
    assert fragment["cycles"]["decide"] < hit["cycles"]["decide"]
    assert path(forwarder, "send right")["cycles"]["all"] < hit["cycles"]["all"]


@needs_llvm
@pytest.mark.slow
def test_lines_are_at_the_lines_of_the_spec_that_touch_them(nat: dict[str, Any], forwarder: dict[str, Any]) -> None:
    hit = path(nat, "out found (85)", "send outside (92)")
    insert = path(nat, "out absent (85)", "insert out", "send outside (92)")
    entry = next(p for p in hit["lines"]["places"] if p["part"] == "flow_map/key")
    assert (entry["line"], entry["lines"], entry["ahead"]) == (85, 1, 1), "found where it was expected, fetched ahead"
    assert {85, 86, 87} <= {p["line"] for p in insert["lines"]["places"]}
    assert all(p["lines"]["state"] == 0 for p in forwarder["paths"]), "it has no state"


@needs_llvm
@pytest.mark.slow
def test_the_text_is_for_a_terminal(nat: dict[str, Any], forwarder: dict[str, Any]) -> None:
    for found in (nat, forwarder):
        text = text_of(found)
        assert all(len(line) <= 100 for line in text.splitlines())
        assert "not modelled: cache misses" in text and f"for {found['processor']['model']}" in text
        assert all(f"{round(p['cycles']['all']):>7}" in text for p in found["paths"])
    head = next(line for line in text_of(forwarder).splitlines() if line.startswith("cost on packet from left"))
    assert head.split()[-8:] == [*PARTS, "lines", "ahead"]


@needs_llvm
@pytest.mark.slow
def test_costs_come_behind_the_rest_and_are_the_same_each_time(forwarder: dict[str, Any]) -> None:
    alone, result = check("forwarder"), check("forwarder", "--cost")
    assert result.exit_code == 0 and result.stdout == alone.stdout + "\n" + text_of(forwarder)


@pytest.mark.parametrize(
    ("there", "says"), [((), "apt install clang"), (("clang++", "llvm-objdump"), "llvm-mca, llvm-symbolizer")]
)
def test_what_is_missing_is_said(
    there: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in there:
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    result = check("forwarder", "--cost")
    assert result.exit_code == 3 and result.stderr.count("error:") == 1 and says in result.stderr
    assert "apt install" in result.stderr


def test_other_processors_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    result = check("forwarder", "--cost")
    assert result.exit_code == 3 and "x86-64" in result.stderr


def test_one_thing_at_a_time() -> None:
    result = check("forwarder", "--cost", "--print-after", "ir")
    assert result.exit_code == 2 and "--print-after" in result.stderr
