"""`polysome compile --site`: what it asks of a site file, and that it finds what the file names."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
FAIL = ROOT / "tests" / "plan" / "fail"


def compile_(spec: Path, site: Path, out: Path, *more: str) -> Result:
    result = CliRunner().invoke(app, ["compile", str(spec), "--site", str(site), "-o", str(out), *more])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.parametrize("case", ["E1003_config", "E1005_config", "E1307", "E1309", "E1309_interface"])
def test_a_site_that_is_not_enough_for_a_bundle_is_refused(tmp_path: Path, case: str) -> None:
    done = compile_(FAIL / "bundle.nf", FAIL / case / "site.toml", tmp_path / "bundle")
    assert done.exit_code == 2 and f"error[{case[:5]}]" in done.stderr, done.stderr
    assert not (tmp_path / "bundle").exists()


def test_the_site_s_config_and_params_are_in_the_bundle(tmp_path: Path) -> None:
    folder = ROOT / "examples" / "nat"
    done = compile_(folder / "nat.nf", folder / "site.toml", tmp_path / "bundle")
    assert done.exit_code == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "bundle" / "source").iterdir()) == [
        "config.toml",
        "nat.nf",
        "site.toml",
    ]


def test_what_the_command_line_gives_goes_before_the_site(tmp_path: Path) -> None:
    folder = ROOT / "examples" / "nat"
    wrong = tmp_path / "other.toml"
    wrong.write_text('pool_addresses = ["203.0.113.256"]', encoding="utf-8")
    done = compile_(folder / "nat.nf", folder / "site.toml", tmp_path / "bundle", "--config", str(wrong))
    assert done.exit_code == 2 and "E1009" in done.stderr and "other.toml:1:" in done.stderr
    assert done.stderr.count("error[") == 1


def test_an_nf_server_has_samples_of_what_gets_through(tmp_path: Path) -> None:
    """None do without backends, and that is said."""
    folder = ROOT / "examples" / "load_balancer"
    empty = tmp_path / "none.toml"
    empty.write_text("backends = []\n", encoding="utf-8")
    for more, some in ((), True), (("--config", str(empty)), False):
        out = tmp_path / f"bundle-{some}"
        done = compile_(folder / "load_balancer.nf", folder / "site.toml", out, "--no-proof", *more)
        assert done.exit_code == 0 and ("no packet gets through" in done.stderr) != some, done.stderr
        samples = json.loads((out / "nf" / "samples.json").read_text(encoding="utf-8"))["samples"]
        assert bool(samples) == some and {s["port"] for s in samples} <= {0, 1}
        assert all(bytes([10, 0, 0, 100]) in base64.b64decode(s["packet"]) for s in samples)  # the VIP
