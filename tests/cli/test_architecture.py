"""`--architecture`: what it changes in each command, that it goes before the site file, and what refuses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.cli.main import app
from polysome.engines import ENGINES

ROOT = Path(__file__).resolve().parents[2]
FAIL = ROOT / "tests" / "plan" / "fail"
LB = ROOT / "examples" / "load_balancer"
SPEC = LB / "load_balancer.nf"
RUN = ("run", SPEC, "--in", f"clients={LB / 'clients.pcap'}", "--config", LB / "config.toml")
SYSTEM = ENGINES["system"]
# One NF server has all the traffic.
SITE = (FAIL / "good.toml").read_text(encoding="utf-8").replace("[ports]", 'traffic_rate = "10Gbps"\n[ports]')

built = pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing()))


def polysome(*arguments: object) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"NO_COLOR": "1"})
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def without(tmp_path: Path) -> Path:
    """A site without RDMA servers, for whole packets."""
    text = SITE
    path = tmp_path / "site.toml"
    path.write_text('architecture = "whole"\n' + text[: text.index("[[rdma_servers]]")], encoding="utf-8")
    return path


def test_a_plan_without_a_store() -> None:
    made = json.loads(polysome("plan", SPEC, "--architecture", "whole", "--json").stdout)
    assert made["architecture"] == "whole" and made["store"] is None
    assert [frame["number"] for frame in made["frames"]] == [None] * len(made["frames"])
    text = polysome("plan", SPEC, "--architecture", "whole").stdout
    assert text.startswith("load_balancer on the default software site, architecture whole\n")
    assert "RDMA" not in text and "the architecture `whole` splits no packet" in text


def test_it_goes_before_the_site_file(without: Path) -> None:
    spec = FAIL / "common.nf"
    assert ", architecture whole\n" in polysome("plan", spec, "--site", without).stdout
    refused = polysome("plan", spec, "--site", without, "--architecture", "ribosome")
    assert refused.exit_code == 2 and "error[E1008]: `[[rdma_servers]]` is missing" in refused.output
    site = without.with_name("both.toml")
    site.write_text(SITE, encoding="utf-8")
    for name in ("ribosome", "whole"):
        assert f", architecture {name}\n" in polysome("plan", spec, "--site", site, "--architecture", name).stdout


def test_the_program_of_a_switch_that_only_forwards(tmp_path: Path) -> None:
    for name in ("ribosome", "whole"):
        polysome("plan", SPEC, "--switch", "tofino", "--architecture", name, "--p4", tmp_path / name)
    parked, forwarded = ((tmp_path / name).read_text(encoding="utf-8") for name in ("ribosome", "whole"))
    for piece in ("Register<", "roce_ipv4_h", "Mirror()", "SLOTS", "Checksum()", "RETRY_SLOT"):
        assert piece in parked and piece not in forwarded, piece


def test_it_is_proved() -> None:
    result = polysome("prove", SPEC, "--architecture", "whole")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("load_balancer on the default software site, architecture whole, 0 ways")


@built
def test_it_is_run() -> None:
    asked = [*RUN, "--engine", "system", "--json"]
    parked, forwarded = (json.loads(polysome(*asked, "--architecture", n).stdout) for n in ("ribosome", "whole"))
    assert forwarded["system"]["servers"] == 0 and not forwarded["system"]["events"].get("parked")
    assert forwarded["system"]["events"]["whole"] == parked["system"]["events"]["parked"] + parked["system"][
        "events"
    ].get("whole", 0)
    text = polysome(*RUN, "--engine", "system", "--architecture", "whole").stdout
    assert "system: switch and NF server, seed 0" in text and "RDMA" not in text and "queue pair" not in text


@built
@pytest.mark.slow
def test_it_is_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["--engine", "system", "--architecture", "whole", "--seconds", "20", "--seed", "1"]
    result = polysome("test", SPEC, *asked, "--traces", "10")
    assert result.exit_code == 0, result.output
    assert "engine system (whole), seed 1" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", SPEC, "--architecture", "hole"), "'hole' is not one of 'ribosome', 'whole'."),
        ((*RUN, "--architecture", "whole"), "only the engine `system` has machines around the NF, not `interp`"),
        (
            ("test", SPEC, "--architecture", "whole"),
            "only the engine `system` has machines around the NF, not `interp`",
        ),
        (("compile", SPEC, "-o", "out", "--architecture", "whole"), "--architecture: only bundles have one"),
        (
            (*RUN, "--engine", "system", "--architecture", "whole", "--servers", "2"),
            "--servers: the architecture `whole` has no RDMA servers",
        ),
        (
            (*RUN, "--engine", "system", "--architecture", "whole", "--queue-pairs", "2"),
            "--queue-pairs: the architecture `whole` has no RDMA servers",
        ),
        (
            (*RUN, "--engine", "system", "--architecture", "whole", "--faults", "server0:loss=1"),
            "there is no RDMA server 0",
        ),
    ],
)
def test_it_is_refused(
    arguments: tuple[object, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = polysome(*arguments)
    assert result.exit_code == 2 and said in " ".join(result.output.split()), result.output
    assert not list(tmp_path.iterdir())
