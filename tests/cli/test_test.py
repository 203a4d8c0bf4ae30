"""`polysome test` on the command line: what it prints, what it writes, with which code it ends."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from tests.testing.campaign.gates import RIGHT, TWICE, WRONG
from typer.testing import CliRunner

from polysome.backends.nf_cpp.build import missing
from polysome.captures.write import PcapngWriter
from polysome.cli.main import app

runner = CliRunner()
FEW = ("--traces", "40", "--seed", "1", "--property", "shut", "--property", "conservation")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "right.nf").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "wrong.nf").write_text(WRONG, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Any:
    return runner.invoke(app, ["test", *arguments])


def test_what_holds_is_listed_and_the_code_is_0(folder: Path) -> None:
    done = run("right.nf", *FEW)
    assert done.exit_code == 0, done.output
    assert "holds    shut" in done.output and "cases in" in done.output and "seed 1" in done.output
    assert not (folder / "counterexamples").exists()


def test_a_failure_is_told_written_and_can_be_run_again(folder: Path) -> None:
    done = run("wrong.nf", *FEW)
    assert done.exit_code == 1
    assert "FAILS    shut" in done.output and "> packet 1" in done.output and "expected: q.flow.reversed" in done.output
    assert "again: polysome test wrong.nf --replay counterexamples/shut.json" in done.output
    assert {p.name for p in (folder / "counterexamples").iterdir()} == {"shut.json", "shut.pcapng", "shut.txt"}

    again = run("wrong.nf", "--replay", "counterexamples/shut.pcapng")
    assert again.exit_code == 1 and "property shut: FAILS" in again.output
    mended = run("right.nf", "--replay", "counterexamples/shut.json")
    assert mended.exit_code == 0 and "shut holds on this trace" in mended.output
    remembered = run("wrong.nf", "--traces", "1", "--seed", "2", "--property", "shut")
    assert remembered.exit_code == 1 and "as before" in remembered.output


def test_json(folder: Path) -> None:
    found = json.loads(run("wrong.nf", *FEW, "--json").output)
    by_name = {p["name"]: p for p in found["properties"]}
    assert found["nf"] == "gate" and found["seed"] == 1 and found["traces"] == 40
    assert by_name["shut"]["verdict"] == "fails" and by_name["shut"]["counterexamples"] == [
        {"file": "counterexamples/shut.json", "packets": 1, "decided": ["wrong.nf:7"]}
    ]
    assert by_name["conservation"]["verdict"] == "holds" and by_name["conservation"]["cases"] > 0


def test_ways_to_fail_are_told_one_by_one(folder: Path) -> None:
    (folder / "twice.nf").write_text(TWICE, encoding="utf-8")
    done = run("twice.nf", "--traces", "120", "--seed", "1", "--property", "shut", "--property", "conservation")
    assert done.exit_code == 1 and "; 2 ways" in done.output
    assert "shut, way 1 of 2: expected by twice.nf:9; decided by twice.nf:" in done.output
    assert "shut, way 2 of 2: expected by twice.nf:9; decided by twice.nf:" in done.output
    assert "--replay counterexamples/shut-2.json" in done.output
    for name in ("shut", "shut-2"):
        again = run("twice.nf", "--replay", f"counterexamples/{name}.json")
        assert again.exit_code == 1 and "property shut: FAILS" in again.output


@pytest.mark.parametrize(
    ("arguments", "mend"),
    [
        (("--property", "never_tested"), "Give more time (`--seconds`)"),
        (("--property", "never_tested", "--property", "faults"), "packets that meet the conditions (`--capture FILE`)"),
        (("--property", "never_tested", "--json"), "or a config with which some do (`--config FILE`)"),
        (("--property", "faults"), "Choose another engine with `--engine`."),
    ],
)
def test_a_run_that_tests_nothing_is_not_green(folder: Path, arguments: tuple[str, ...], mend: str) -> None:
    done = run("right.nf", "--traces", "3", *arguments)
    assert done.exit_code == 4 and "error: nothing was tested" in done.stderr and mend in done.stderr, done.output


def test_what_is_untested_beside_others_is_said(folder: Path) -> None:
    done = run("right.nf", *FEW, "--property", "never_tested")
    assert done.exit_code == 0 and "1 of 3 are untested. Give more time" in done.stdout, done.output


def test_what_helps_is_true(folder: Path) -> None:
    """A packet that meets the conditions of what random traffic does not test, on its own and as a capture."""
    rare = "p.in.tcp.sport == 77 and p.in.tcp.dport == 78 and p.in.tcp.sequence == 12345678"
    text = RIGHT.replace("p.len == 3B and p.in.ipv4 expect p.held", f"{rare} expect p.held")
    (folder / "rare.nf").write_text(text, encoding="utf-8")
    arguments = ("rare.nf", "--property", "never_tested")
    frame = bytes.fromhex("020000000001 020000000002 0800 4500002800010000400600000a0000010a000002")
    tcp = struct.pack(">HHIIBBHHH", 77, 78, 12345678, 0, 5 << 4, 2, 100, 0, 0)
    for name, data in (("rare.pcapng", frame + tcp), ("other.pcapng", frame + tcp[::-1])):
        with PcapngWriter(folder / name, ["a"]) as capture:
            capture.write(0, 10**9, data)

    assert run(*arguments, "--traces", "20", "--seed", "1").exit_code == 4
    assert run(*arguments, "--traces", "200", "--seed", "1", "--capture", "rare.pcapng").exit_code == 1
    assert run(*arguments, "--replay", "rare.pcapng").exit_code == 1
    vain = run(*arguments, "--replay", "other.pcapng")
    assert vain.exit_code == 4 and "nothing in it meets the conditions of never_tested" in vain.stderr, vain.output


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("right.nf", "--property", "shud"), 2, "Did you mean `shut`?"),
        (("right.nf", "--capture", "none.pcap"), 2, "--capture none.pcap: cannot be read: No such file"),
        (("right.nf", "--capture", "right.nf"), 2, "--capture right.nf: text, not a capture"),
        (("right.nf", "--capture", "right.nf", "--mutants"), 2, "--capture right.nf: text, not a capture"),
        (("right.nf", "--capture", "."), 2, "--capture .: "),
        (("right.nf", "--database", "right.nf"), 3, "--database right.nf: File exists"),
        (("right.nf", "--workers", "many"), 2, "a number or `ray`"),
        (("right.nf", "--workers", "0"), 2, "a number or `ray`"),
        (("right.nf", "--workers", "²"), 2, "a number or `ray`"),
        (("right.nf", "--workers", "99999"), 2, "--workers 99999: this machine has CPUs for"),
        (("right.nf", "--workers", "9" * 5000), 2, "this machine has CPUs for"),
        (("right.nf", "--replay", "none.json"), 2, "none.json"),
        (("right.nf", "--replay", "right.nf"), 2, "right.nf"),
        (("none.nf",), 2, "there is no file none.nf"),
        (("broken.nf",), 1, "error[E"),
    ],
)
def test_mistakes_are_told(folder: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    (folder / "broken.nf").write_text("nf broken { port a }", encoding="utf-8")
    done = run(*arguments)
    assert done.exit_code == code and said in done.output, done.output
    assert "Traceback" not in done.output


def test_coverage_says_what_was_reached(folder: Path) -> None:
    done = run("right.nf", "--coverage", "--traces", "30", "--seed", "1")
    assert done.exit_code == 0, done.output
    assert "reached" in done.output
    found = json.loads(run("right.nf", "--coverage", "--traces", "30", "--seed", "1", "--json").output)
    assert found


@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_coverage_of_the_switchs_program(folder: Path) -> None:
    arguments = ("right.nf", "--coverage", "--engine", "system", "--seconds", "1", "--seed", "1")
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert re.match(r"reached \d+ of \d+ outcomes in the switch's program", done.output)
    found = json.loads(run(*arguments, "--json").output)
    assert found["reached"] == sum(point["count"] > 0 for point in found["points"]) > 0


@pytest.mark.parametrize("command", [["test", "x.nf"], ["prove", "x.nf"], ["up", "bundle"]])
@pytest.mark.parametrize("seconds", ["nan", "inf"])
def test_a_time_is_a_number(command: list[str], seconds: str) -> None:
    done = CliRunner().invoke(app, [*command, "--seconds", seconds])
    assert done.exit_code == 2 and f"{seconds} is no number of seconds" in done.output
