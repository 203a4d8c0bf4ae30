"""`polysome test --resume`: campaigns that were killed or interrupted."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.testing.campaign.gates import RIGHT, until
from tests.testing.test_wire import FRAMES
from typer.testing import CliRunner

from polysome.captures.write import PcapngWriter
from polysome.cli.main import app
from polysome.testing.campaign import Journal
from polysome.testing.plan import Plan
from polysome.testing.spec import load

runner = CliRunner()
ASKED = ("gate.nf", "--seed", "3", "--traces", "1200", "--seconds", "600", "--property", "shut")
POLYSOME = [sys.executable, "-m", "polysome.cli.main", "test"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.nf").write_text(RIGHT, encoding="utf-8")
    return tmp_path


def shares(folder: Path) -> int:
    return sum(len(path.read_text().splitlines()) - 1 for path in (folder / ".polysome").glob("*.campaign"))


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_campaign_goes_on_after_a_kill(folder: Path, workers: str) -> None:
    whole = json.loads(subprocess.run([*POLYSOME, *ASKED, "--json"], capture_output=True, check=True).stdout)
    with subprocess.Popen([*POLYSOME, *ASKED, "--workers", workers], stdout=subprocess.DEVNULL) as campaign:
        until(lambda: shares(folder) >= 2)
        campaign.kill()
    assert 2 <= (done := shares(folder)) < 10
    time.sleep(1)  # its workers, which hold the journal, end with it
    rest = subprocess.run([*POLYSOME, "gate.nf", "--resume", "--json"], capture_output=True, check=True)
    found = json.loads(rest.stdout)
    for member in ("seed", "traces", "packets", "properties"):
        assert found[member] == whole[member]
    assert found["seconds"] > 0 and done > 0 and shares(folder) == 0
    over = runner.invoke(app, ["test", "gate.nf", "--resume"])
    assert over.exit_code == 2 and "no campaign of `gate` that was interrupted" in over.stderr


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupt_shows_what_was_found_and_how_to_go_on(folder: Path, workers: str) -> None:
    command = ["env", "--default-signal=INT", *POLYSOME, *ASKED, "--workers", workers]
    # A terminal sends the signal to all processes of the group.
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    ) as campaign:
        until(lambda: shares(folder) >= 2)
        subprocess.run(["kill", "-INT", "--", f"-{campaign.pid}"], check=True)
        said, errors = campaign.communicate(timeout=60)
    assert campaign.returncode == 128 + signal.SIGINT
    assert errors == "error: the campaign was interrupted\n  mend: To go on with it: polysome test gate.nf --resume\n"
    match = re.match(r"gate: ([\d,]+) traces", said)
    assert match and int(match[1].replace(",", "")) == 120 * shares(folder) and "holds    shut" in said
    done = runner.invoke(app, ["test", "gate.nf", "--resume"])
    assert done.exit_code == 0 and done.output.startswith("gate: 1,200 traces")


def test_a_capture_that_is_no_longer_one_is_an_error_and_the_campaign_stays(folder: Path) -> None:
    capture = folder / "seen.pcap"
    with PcapngWriter(capture, ("a", "b")) as writer:
        writer.write(0, 0, FRAMES["udp"][0])
    gate = load(folder / "gate.nf")
    Journal.begin(folder / ".polysome", gate, Plan(seed=3, traces=9, captures=(capture,))).close(over=False)
    whole = capture.read_bytes()
    capture.write_bytes(b"no capture")
    done = runner.invoke(app, ["test", "gate.nf", "--resume"])
    assert done.exit_code == 2, done.output
    assert "--capture" in done.stderr and "seen.pcap" in done.stderr
    capture.write_bytes(whole)
    done = runner.invoke(app, ["test", "gate.nf", "--resume"])
    assert done.exit_code == 0, done.output + done.stderr
    assert done.output.startswith("gate: 9 traces")


@pytest.mark.parametrize(
    "arguments",
    [("--seconds", "5"), ("--seed", "1"), ("--property", "shut"), ("-x",), ("--mutants",), ("--coverage",)],
)
def test_what_was_asked_for_then_is_not_asked_for_again(folder: Path, arguments: tuple[str, ...]) -> None:
    done = runner.invoke(app, ["test", "gate.nf", "--resume", *arguments])
    assert done.exit_code == 2 and "--resume and --" in done.stderr and "do not go together" in done.stderr
