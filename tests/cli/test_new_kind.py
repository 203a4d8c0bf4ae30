"""Kinds that are one folder: all of the compiler knows them; what needs their C++ refuses them without, in one line."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.added import KINDS, polysome, with_kinds
from tests.kinds.policy.instant import KIND as INSTANT
from tests.kinds.state.ring import KIND as RING
from typer.testing import CliRunner

from polysome.backends.nf_cpp.build import missing
from polysome.cli.main import app
from polysome.kinds.policy import POLICIES
from polysome.kinds.state import STATE_KINDS

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "load_balancer"
PACKETS = f"clients={EXAMPLE / 'clients.pcap'}"
SPEC = """
use net.l4;
nf last_ports {
  port clients, servers;
  state { recent: ring<(ipv4, u16)> { room 3; } }
  on packet from clients {
    require ipv4 and l4 else drop "no ports";
    if (ipv4.dst, l4.dport) in recent { drop "seen lately"; }
    recent.push((ipv4.dst, l4.dport));
    send servers;
  }
  on packet from servers {
    if recent.held() > 2 { recent.clear(); }
    send clients;
  }
  property keeps {
    for p in trace where p.sent and p.in_port == clients expect (p.in.ipv4.dst, p.in.l4.dport) in p.after.recent;
  }
  property never { for p in trace expect not ((p.in.ipv4.dst, p.in.l4.dport) in p.after.recent); }
}
"""
SCHEDULED = """
use net.l4;
nf scheduled {
  port clients, servers;
  schedule { class flow; instant; }
  on packet { send servers; }
}
"""

needs_compiler = pytest.mark.skipif(missing() is not None, reason=missing() or "")
Run = Callable[..., tuple[int, str]]


@pytest.fixture(scope="session")
def with_ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_kinds(tmp_path_factory.mktemp("with_ring"))


@pytest.fixture
def run(with_ring: Path, tmp_path: Path) -> Run:
    """Runs Polysome with the kinds of `tests/kinds`, where the specs are."""
    (tmp_path / "last_ports.nf").write_text(SPEC, encoding="utf-8")
    (tmp_path / "scheduled.nf").write_text(SCHEDULED, encoding="utf-8")
    site = (EXAMPLE / "site.toml").read_text(encoding="utf-8")
    (tmp_path / "site.toml").write_text(site.replace("[config]", "").replace('file = "config.toml"', ""))
    return lambda *words: polysome(with_ring, *words, cwd=tmp_path)


# ---------------------------------------------------------------- a kind of state


def test_it_is_checked(run: Run, tmp_path: Path) -> None:
    code, text = run("check", "last_ports.nf")
    assert code == 0 and "ring<(ipv4, u16)>" in text and "24 B  the last 3" in text
    wrong = tmp_path / "wrong.nf"
    wrong.write_text(SPEC.replace("recent.held()", "recent.hold()"), encoding="utf-8")
    code, text = run("check", wrong)
    assert code == 1 and "`recent` has no member `hold`" in text and "held" in text
    wrong.write_text(SPEC.replace("room 3;", ""), encoding="utf-8")
    code, text = run("check", wrong)
    assert code == 1 and "It is how many are kept" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["interp", *(pytest.param(engine, marks=needs_compiler) for engine in ("native", "system"))]
)
def test_it_runs_and_is_tested_on_every_engine(run: Run, engine: str) -> None:
    code, text = run("run", "last_ports.nf", "--in", PACKETS, "--engine", engine)
    assert code == 0 and "seen lately        218" in text
    held = ("ring", "keeps") if engine == "interp" else ("engines agree", "conservation")
    chosen = [word for name in held for word in ("--property", name)]
    code, text = run("test", "last_ports.nf", "--traces", 20, "--seed", 1, "--engine", engine, *chosen)
    assert code == 0 and all(f"  holds    {name}" in text for name in held)


def test_what_its_property_finds_is_explained(run: Run) -> None:
    code, text = run("test", "last_ports.nf", "--traces", 30, "--seed", 1, "--property", "never", "--out", "found")
    assert code == 1 and "FAILS    never" in text
    assert "state    recent.contains((10.0.0.2, 1001)) is false\n           recent.push((10.0.0.2, 1001))" in text
    code, text = run("run", "last_ports.nf", "--in", PACKETS, "--explain-packet", 5)
    assert code == 0 and "in recent" in text and "dropped: seen lately" in text


@pytest.mark.slow
def test_its_invariant_finds_a_fault(run: Run, tmp_path: Path) -> None:
    broken = with_kinds(tmp_path / "broken")
    folder = broken / "polysome/kinds/state/ring"
    folder.unlink()
    shutil.copytree(KINDS / "state/ring", folder)
    source = (folder / "__init__.py").read_text(encoding="utf-8")
    (folder / "__init__.py").write_text(source.replace("[-self.room :]", "[-self.room - 1 :]"), encoding="utf-8")
    code, text = polysome(
        broken, "test", "last_ports.nf", "--traces", 200, "--seed", 1, "--property", "ring", cwd=tmp_path
    )
    assert code == 1 and "FAILS    ring" in text and "`recent` says" in text


def test_the_pages_on_messages_name_it(run: Run) -> None:
    assert "| `ring<V>` | `push`, `held`, `clear` | `in` |" in run("explain", "E0503")[1]
    assert "| `instant` |  |  |" in run("explain", "E0701")[1]


@pytest.mark.slow
def test_coverage_searches_what_it_decides(run: Run) -> None:
    code, text = run(
        "test", "last_ports.nf", "--coverage", "--seconds", 200, "--seed", 1
    )  # it stops when all is reached
    assert code == 0 and "reached 12 of 12 branch outcomes" in text


@pytest.mark.slow
def test_it_is_planned_and_compiled(run: Run, tmp_path: Path) -> None:
    code, text = run("plan", "last_ports.nf")
    assert code == 0 and "ipv4" in text
    code, text = run("compile", "last_ports.nf", "-o", "library")
    assert code == 0, text
    header = (tmp_path / "library/nf/last_ports.hpp").read_text(encoding="utf-8")
    assert header.count("class Ring {") == 1 and "Ring<std::array<uint64_t, 1>> recent;" in header
    code, text = run("compile", "last_ports.nf", "--site", "site.toml", "--no-proof", "-o", "bundle")
    assert code == 0, text


# ---------------------------------------------------------------- a policy


def test_a_policy_is_checked(run: Run, tmp_path: Path) -> None:
    code, text = run("check", "scheduled.nf")
    assert code == 0 and "instant" in text
    (tmp_path / "wrong.nf").write_text(SCHEDULED.replace("instant;", "instant 3;"), encoding="utf-8")
    code, text = run("check", "wrong.nf")
    assert code == 1 and "E0704" in text and "Write `instant;`" in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "engine", ["interp", *(pytest.param(engine, marks=needs_compiler) for engine in ("native", "system"))]
)
def test_a_policy_runs_and_is_tested_on_every_engine(run: Run, engine: str) -> None:
    code, text = run("run", "scheduled.nf", "--in", PACKETS, "--engine", engine)
    assert code == 0 and "sent               222" in text
    held = "schedule" if engine == "interp" else "engines agree"
    code, text = run("test", "scheduled.nf", "--traces", 10, "--seed", 1, "--engine", engine, "--property", held)
    assert code == 0 and f"  holds    {held}" in text


# ---------------------------------------------------------------- without their C++


@pytest.fixture
def without_cpp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with specs, whose kinds this process has without their C++."""
    monkeypatch.setitem(STATE_KINDS, "ring", dataclasses.replace(RING, native=None))
    monkeypatch.setitem(POLICIES, "instant", dataclasses.replace(INSTANT, native=""))
    (tmp_path / "last_ports.nf").write_text(SPEC, encoding="utf-8")
    (tmp_path / "scheduled.nf").write_text(SCHEDULED, encoding="utf-8")
    site = (EXAMPLE / "site.toml").read_text(encoding="utf-8")
    (tmp_path / "site.toml").write_text(site.replace("[config]", "").replace('file = "config.toml"', ""))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--engine", "native", "--in", PACKETS),
        ("run", "--engine", "system", "--in", PACKETS),
        ("test", "--engine", "native", "--traces", 2),
        ("test", "--engine", "system", "--traces", 2),
        ("check", "--cost"),
        ("compile", "-o", "out"),
        ("compile", "--site", "site.toml", "--no-proof", "-o", "bundle"),
    ],
    ids=lambda words: " ".join(map(str, words[:3])).replace(str(EXAMPLE), ""),
)
@pytest.mark.parametrize(
    ("spec", "what"), [("last_ports.nf", "state of kind ring"), ("scheduled.nf", "schedule policy instant")]
)
def test_what_needs_their_cpp_refuses_them(without_cpp: Path, words: tuple[object, ...], spec: str, what: str) -> None:
    done = CliRunner().invoke(app, [str(word) for word in (words[0], spec, *words[1:])])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    errors = [line for line in done.output.splitlines() if line.startswith("error")]
    assert done.exit_code and len(errors) == 1 and what in errors[0], done.output
    assert not (without_cpp / "out").exists() and not (without_cpp / "bundle").exists()


def test_without_cpp_they_run(without_cpp: Path) -> None:
    done = CliRunner().invoke(app, ["run", "last_ports.nf", "--in", PACKETS])
    assert done.exit_code == 0 and "seen lately" in done.output
