"""An engine that is one module: every command has it, and says what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.added import polysome, with_added

from polysome.captures.read import open_capture

HERE = Path(__file__).parent
EXAMPLE = HERE.parents[1] / "examples" / "load_balancer"
SPEC, CAPTURE = EXAMPLE / "load_balancer.nf", EXAMPLE / "clients.pcap"
STRAIGHT = """
use net.l4;
nf straight {
  port a, b;
  on packet from a { send b; }
  on packet from b { send a; }
  property a_cable_does_it { expect outputs(engine: cable) == outputs(engine: cable); }
}
"""


@pytest.fixture(scope="module")
def added(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_added(tmp_path_factory.mktemp("added"), {"engines": [HERE / "cable"]})


def test_it_runs(added: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    words = ("run", SPEC, "--in", f"clients={CAPTURE}", "--config", EXAMPLE / "config.toml", "--engine", "cable")
    code, text = polysome(added, *words, "--out", out, "--json", cwd=tmp_path)
    assert code == 0, text
    found = json.loads(text)
    assert found["packets_in"] == found["sent"] == found["ports"]["servers"]["out"] > 0
    with open_capture(CAPTURE) as sent, open_capture(out) as left:
        assert [p.data for p in left] == [p.data for p in sent]


@pytest.mark.parametrize(
    ("option", "value", "having"),
    [
        ("--cores", 2, "only the engines `interp` and `native` have several cores"),
        ("--faults", "loss", "only the engine `system` has faults on links"),
        ("--explain-packet", 1, "only the engine `interp` has an explanation of a packet"),
        ("--profile", CAPTURE, "only the engine `native` has a profile"),
    ],
)
def test_what_it_cannot_do_is_refused(added: Path, tmp_path: Path, option: str, value: object, having: str) -> None:
    code, text = polysome(
        added, "run", SPEC, "--in", f"clients={CAPTURE}", "--engine", "cable", option, value, cwd=tmp_path
    )
    assert code == 2
    assert text.startswith(f"error: {option}: {having}, not `cable`\n  mend: Leave it out, or use --engine ")


def test_it_is_tested(added: Path, tmp_path: Path) -> None:
    """It is no load balancer, and cannot run in batches."""
    words = ("test", SPEC, "--engine", "cable", "--traces", 4, "--out", tmp_path, "--database", tmp_path / "failed")
    code, text = polysome(added, *words, "--property", "engines agree", "--property", "batches", cwd=tmp_path)
    assert code == 1, text
    assert "FAILS    engines agree" in text
    assert "have batches of a given size, not `cable`" in text


def test_properties_may_ask_for_it(added: Path, tmp_path: Path) -> None:
    spec = tmp_path / "straight.nf"
    spec.write_text(STRAIGHT, encoding="utf-8")
    code, text = polysome(
        added, "test", spec, "--traces", 4, "--property", "a_cable_does_it", "--database", tmp_path, cwd=tmp_path
    )
    assert code == 0 and "holds    a_cable_does_it" in text, text
    spec.write_text(STRAIGHT.replace("cable)", "rope)"), encoding="utf-8")
    code, text = polysome(added, "check", spec, cwd=tmp_path)
    assert code == 1 and "E0912" in text and "Its values are `cable`, `interp`, `native`, `system`." in text


def test_an_engine_that_there_is_not(added: Path, tmp_path: Path) -> None:
    code, text = polysome(added, "test", SPEC, "--engine", "rope", cwd=tmp_path)
    assert code == 2 and "'cable', 'interp', 'native', 'system'" in text
