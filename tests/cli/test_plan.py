"""`polysome plan` as its users meet it: what is printed, JSON, the site file, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "plan"
FAIL = ROOT / "tests" / "plan" / "fail"


def polysome(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"NO_COLOR": "1"})


def spec(name: str) -> Path:
    return ROOT / "examples" / name / f"{name}.nf"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("load_balancer", ("--switch", "tofino")),
        ("load_balancer", ("--carry", "headers")),
        ("nat", ()),
        ("shaper", ("--switch", "tofino2")),
        ("bridge", ()),
    ],
)
def test_what_is_printed(name: str, options: tuple[str, ...], golden: Callable[[Path, str], None]) -> None:
    result = polysome("plan", spec(name), *options)
    assert result.exit_code == 0, result.output
    assert all(len(line) <= 100 for line in result.stdout.split("\n"))
    kind = f"_{options[1]}" if options else ""
    golden(GOLDEN / f"{name}{kind}.txt", result.stdout)


def test_json_has_every_number_with_its_formula() -> None:
    made = json.loads(polysome("plan", spec("nat"), "--json").stdout)
    cells = made["store"]["cells"]
    assert cells["value"] == 512 and cells["unit"] == "cells" and "power of two" in cells["formula"]
    assert made["store"]["regions"][1]["first"] == made["store"]["queue_pairs"]["value"]


def test_a_site_file_is_planned_for() -> None:
    result = polysome("plan", FAIL / "common.nf", "--site", FAIL / "good.toml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"forwarder on {FAIL / 'good.toml'}, architecture ribosome\n")


def test_params_of_the_site_reach_the_spec(tmp_path: Path) -> None:
    """The shaper's rate is a param: at 100 Mbit/s, packets are held a tenth of the time."""
    ports = "[ports]\nlan = 0\nwan = 4\n"
    text = (FAIL / "good.toml").read_text()
    site = tmp_path / "site.toml"
    site.write_text(text[: text.index("[ports]")] + ports + text[text.index("[[nf") :] + '[params]\nrate = "100Mbps"\n')
    holds = [
        json.loads(polysome("plan", spec("shaper"), "--json", *o).stdout)["store"]["hold"]["value"]
        for o in ((), ("--site", site), ("--site", site, "--param", "rate=10Mbps"))
    ]
    assert holds[0] == holds[2] > 9 * holds[1]


@pytest.mark.parametrize(
    ("params", "given", "code", "said"),
    [
        ('rat = "100Mbps"', (), 2, ["E0220", "site.toml:16:1", "Did you mean `rate`?"]),
        ('rate = "100Mbs"', (), 2, ["site.toml:16:1", "Mbs"]),
        ('rate = "100Mbs"', ("--param", "rate=2Mbs"), 2, ["--param rate:1:1", "2Mbs"]),
        ('rate = "100Mbps"', ("--param", "rat=1Mbps"), 2, ["E0220", "on the command line"]),
    ],
)
def test_a_wrong_param_is_shown_where_it_is_given(
    tmp_path: Path, params: str, given: tuple[str, ...], code: int, said: list[str]
) -> None:
    text = (FAIL / "good.toml").read_text()
    site = tmp_path / "site.toml"
    site.write_text(text[: text.index("[[rdma")] + f"[params]\n{params}\n" + text[text.index("[[rdma") :])
    shown = polysome("plan", spec("shaper"), "--site", site, *given)
    line = site.read_text().split("\n").index(params) + 1
    assert shown.exit_code == code
    assert all(part.replace(":16:", f":{line}:") in shown.stderr for part in said), shown.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((FAIL / "common.nf", "--site", FAIL / "E1301" / "site.toml"), 2, "E1301"),
        ((FAIL / "common.nf", "--site", FAIL / "E1405" / "site.toml"), 1, "E1405"),
        ((FAIL / "common.nf", "--site", "none.toml"), 2, "none.toml: cannot be read"),
        ((FAIL / "common.nf", "--site", FAIL / "good.toml", "--switch", "tofino"), 2, "--site and --switch"),
        ((FAIL / "common.nf", "--switch", "tofino1"), 2, "Did you mean `tofino`?"),
        (("none.nf",), 2, "there is no file none.nf"),
    ],
)
def test_exit_codes(arguments: tuple[object, ...], code: int, said: str) -> None:
    result = polysome("plan", *arguments)
    assert result.exit_code == code and said in result.output, result.output


def test_the_switchs_program_is_written(tmp_path: Path) -> None:
    lb = spec("load_balancer")
    done = polysome("plan", lb, "--switch", "tofino2", "--p4", tmp_path / "lb.p4")
    assert done.exit_code == 0 and "#include <t2na.p4>" in (tmp_path / "lb.p4").read_text("utf-8")
    done = polysome("plan", lb, "--p4", tmp_path / "none" / "lb.p4")
    assert done.exit_code == 3 and "cannot be written" in done.output
