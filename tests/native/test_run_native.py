"""`polysome run --engine native` prints and writes what the interpreter does."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from polysome.backends.nf_cpp import build as building
from polysome.cli.main import app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LB = EXAMPLES / "load_balancer"
needs_compiler = pytest.mark.skipif(building.missing() is not None, reason=str(building.missing()))


def arguments(engine: str, *more: str) -> list[str]:
    config = ["--config", f"{LB}/config.toml", "--events", f"{LB}/events.jsonl"]
    return ["run", f"{LB}/load_balancer.nf", "--in", f"{LB}/clients.pcap", *config, "--engine", engine, *more]


@needs_compiler
def test_the_same_as_the_interpreter(tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    printed, written = set(), set()
    for engine in ("interp", "native"):
        done = CliRunner().invoke(app, arguments(engine, "--out", str(out), "--json", "--max-gap", "1ms"))
        assert done.exit_code == 0, done.output
        printed.add(done.output)
        written.add(out.read_bytes())
    assert len(printed) == 1 and len(written) == 1 and len(written.pop()) > 1000


def test_only_the_interpreter_explains() -> None:
    done = CliRunner().invoke(app, arguments("native", "--explain-packet", "1"))
    assert done.exit_code == 2 and "only the engine `interp` has an explanation of a packet" in done.output


@pytest.mark.parametrize("command", ["run", "test"])
def test_what_is_missing_is_said(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    given = arguments("native") if command == "run" else ["test", f"{LB}/load_balancer.nf", "--engine", "native"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 3 and "`apt install clang`" in done.output
