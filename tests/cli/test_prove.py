"""`polysome prove`, and what `compile --site` makes of it, as users meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.backends.system import library
from polysome.cli.main import app
from polysome.prove.obligations import OBLIGATIONS

ROOT = Path(__file__).resolve().parents[2]
BALANCER = ROOT / "examples" / "load_balancer"
SMALL = """
use net.ethernet;
use net.ipv4;
use net.udp;
parser small {
  state start { extract ethernet; select ethernet.ether_type { EtherType.ipv4 => ipv4; } }
  state ipv4 { extract ipv4; select (ipv4.fragment_offset, ipv4.protocol) { (0, IpProtocol.udp) => udp; } }
  state udp { extract udp; }
}
nf small {
  port clients, servers;
  relevant udp.dport else drop "not UDP";
  schedule { class ipv4.src; fifo; }
  on packet from clients { require udp.dport == 53 else drop "not DNS"; send servers; }
  on packet from servers { send clients; }
}
"""


def polysome(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"NO_COLOR": "1"})


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A spec that is soon proved."""
    path = tmp_path / "small.nf"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator forgets to ask for IPv4 options."""
    right = library.tofino_program

    def wrong(*about: object) -> str:
        text = right(*about)  # type: ignore[arg-type]
        assert "(0x4, 0x5, 0x0 &&& 0xf800" in text
        return text.replace("(0x4, 0x5, 0x0 &&& 0xf800", "(0x4, _, 0x0 &&& 0xf800")

    monkeypatch.setattr(library, "tofino_program", wrong)


def test_a_proof_is_a_table(small: Path) -> None:
    result = polysome("prove", small, "--switch", "tofino")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "small on the default tofino site, architecture ribosome, 1 way of headers split"
    assert [line.split()[0] for line in lines[1:-1]] == [o.name for o in OBLIGATIONS]
    assert all(line.endswith("  proved") and len(line) <= 100 for line in lines[1:-1])
    assert lines[-1].startswith("proved, in ")


def test_what_breaks_is_a_packet_and_what_engines_do_with_it(
    faulty: None, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from polysome.cli import proof_text

    out = tmp_path / "broken"

    monkeypatch.setattr(proof_text, "ENGINES", {"interp": proof_text.ENGINES["interp"]})
    result = polysome("prove", small, "--out", out)
    assert result.exit_code == 1
    assert "NOT proved, in " in result.stdout and "forward: what is split" in result.stdout
    written = sorted(path.name for path in out.iterdir())
    assert written and all(name.startswith("small_") and name.endswith(".pcapng") for name in written)
    told = [line for line in result.stdout.splitlines() if line.startswith("  packet of ")]
    assert told and any(bytes.fromhex(line.rsplit(" ", 1)[1])[14] & 15 > 5 for line in told)
    assert "  interp  " in result.stdout and str(out / written[0]) in result.stdout


def test_json_has_every_result(faulty: None, small: Path) -> None:
    result = polysome("prove", small, "--json")
    assert result.exit_code == 1
    said = json.loads(result.stdout)
    assert said["nf"] == "small" and not said["proved"]
    broken = [r for r in said["results"] if r["status"] == "refuted"]
    assert broken and all(r["packet"] and r["port"] in ("clients", "servers") and r["why"] for r in broken)


def test_a_proof_that_runs_out_of_time_is_none() -> None:
    result = polysome("prove", BALANCER / "load_balancer.nf", "--seconds", "0.1")
    assert result.exit_code == 1
    assert "not (yet) proved" in result.stdout and "not looked at within 0.1 s" in result.stdout


def test_errors_are_those_of_plan(tmp_path: Path) -> None:
    assert polysome("prove", tmp_path / "no.nf").exit_code == 2
    result = polysome("prove", BALANCER / "load_balancer.nf", "--switch", "abacus")
    assert result.exit_code == 2 and "there is no such model" in result.output


def test_a_bundle_is_proved_before_it_is_written(faulty: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from polysome.cli import proof_text

    monkeypatch.setattr(proof_text, "ENGINES", {})
    monkeypatch.chdir(tmp_path)
    given = ("compile", BALANCER / "load_balancer.nf", "--site", BALANCER / "site.toml")
    result = polysome(*given, "-o", tmp_path / "bundle")
    assert result.exit_code == 1 and "nothing was written" in result.output
    assert not (tmp_path / "bundle").exists()
    assert polysome(*given, "-o", tmp_path / "bundle", "--no-proof").exit_code == 0
    manifest = json.loads((tmp_path / "bundle" / "manifest.json").read_text())
    assert manifest["proof"] == "none: --no-proof"


def test_a_proof_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    given = ("compile", BALANCER / "load_balancer.nf", "--site", BALANCER / "site.toml", "-o", tmp_path / "bundle")
    assert polysome(*given).exit_code == 0
    assert [path.suffix for path in (tmp_path / "cache").rglob("*.proof")] == [".proof"]
    from polysome.backends.system import proof
    from polysome.cli import bundling

    monkeypatch.setattr(bundling, "results", lambda design: pytest.fail("proved twice"))
    monkeypatch.setattr(proof, "p4_program", lambda design: pytest.fail("the P4 was read to find that it is proved"))
    assert polysome(*given).exit_code == 0
    assert json.loads((tmp_path / "bundle" / "manifest.json").read_text())["proof"] == bundling.PROVED


def test_no_proof_is_for_bundles(tmp_path: Path) -> None:
    result = polysome("compile", BALANCER / "load_balancer.nf", "-o", tmp_path / "cpp", "--no-proof")
    assert result.exit_code == 2 and "only bundles are proved" in result.output
