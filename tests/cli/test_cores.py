"""`polysome run --cores N`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
LB = ROOT / "examples" / "load_balancer"
ARGUMENTS = ["--in", f"clients={LB / 'clients.pcap'}", "--config", str(LB / "config.toml")]


def polysome(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["run", str(LB / "load_balancer.nf"), *ARGUMENTS, *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def counted(*arguments: object) -> Any:
    return json.loads(polysome("--json", *arguments).stdout)


@pytest.mark.parametrize("cores", [2, 7])
def test_several_cores_count_together(cores: int) -> None:
    assert counted("--cores", cores) == counted()


def test_one_core_is_said_to_be_one(tmp_path: Path) -> None:
    text = (LB / "load_balancer.nf").read_text(encoding="utf-8").replace("u32 per core", "u32")
    shared = tmp_path / "load_balancer.nf"
    shared.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["run", str(shared), *ARGUMENTS, "--cores", "4"])
    assert result.exit_code == 0
    assert result.stderr == "--cores 4: this NF runs on one core; `polysome check` says why\n"


def test_explaining_wants_one_core() -> None:
    result = polysome("--cores", 2, "--explain-packet", 1)
    assert result.exit_code == 2 and "only one core can say why" in result.stderr


@pytest.mark.parametrize("cores", [0, 99999, "9" * 5000])
def test_there_is_no_half_a_core_and_not_any_number_of_them(cores: object) -> None:
    assert polysome("--cores", cores).exit_code == 2
