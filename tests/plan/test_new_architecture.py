"""An architecture that is one folder: plan, engine, properties, proof and bundle have it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.added import polysome, with_added

from polysome.engines import ENGINES

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "load_balancer"
SPEC = EXAMPLE / "load_balancer.nf"
SYSTEM = ENGINES["system"]

built = pytest.mark.skipif(SYSTEM.missing() is not None, reason=str(SYSTEM.missing()))


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_added(tmp_path_factory.mktemp("added"), {"plan/architectures": [HERE / "architectures" / "hub"]})


def test_it_is_planned_and_proved(added: Path, tmp_path: Path) -> None:
    code, text = polysome(added, "plan", SPEC, "--architecture", "hub", cwd=tmp_path)
    assert code == 0 and "architecture hub\n" in text and "a hub splits nothing" in text
    code, text = polysome(added, "prove", SPEC, "--architecture", "hub", cwd=tmp_path)
    assert code == 0 and ", architecture hub, 0 ways of headers split\n" in text
    code, text = polysome(added, "plan", SPEC, "--architecture", "hob", cwd=tmp_path)
    assert code == 2 and "'hob' is not one of 'hub', 'ribosome', 'whole'." in text


@built
def test_it_is_run_and_tested(added: Path, tmp_path: Path) -> None:
    asked = ("--engine", "system", "--architecture", "hub")
    words = ("--in", f"clients={EXAMPLE / 'clients.pcap'}", "--config", EXAMPLE / "config.toml", "--json")
    code, text = polysome(added, "run", SPEC, *words, *asked, cwd=tmp_path)
    assert code == 0 and json.loads(text)["system"]["events"]["whole"] > 0
    code, text = polysome(added, "test", SPEC, *asked, "--traces", 2, "--property", "engines agree", cwd=tmp_path)
    assert code == 0 and "engine system (hub)" in text and "holds    engines agree" in text


def test_a_site_names_it_and_a_bundle_has_what_it_brings(added: Path, tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    text = (EXAMPLE / "site.toml").read_text(encoding="utf-8")
    site.write_text('architecture = "hub"\n' + text, encoding="utf-8")
    (tmp_path / "config.toml").write_bytes((EXAMPLE / "config.toml").read_bytes())
    out = tmp_path / "bundle"
    code, said = polysome(added, "compile", SPEC, "--site", site, "-o", out, cwd=tmp_path)
    assert code == 0, said
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["architecture"] == "hub" and manifest["requires"] == {"hub": "for load_balancer"}
    assert "ports of the hub" in (out / "report.html").read_text(encoding="utf-8")
