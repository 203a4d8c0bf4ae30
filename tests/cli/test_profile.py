"""`--profile` of `run` and `compile`: the same packets, one line about the gain, a folder that any compiler builds."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from polysome.backends.nf_cpp import profile
from polysome.backends.nf_cpp.profile import Gain
from polysome.captures.write import PcapngWriter
from polysome.cli.main import app

LB = Path(__file__).resolve().parents[2] / "examples" / "load_balancer"
CAPTURE = LB / "clients.pcap"
needs_clang = pytest.mark.skipif(profile.missing() is not None, reason=str(profile.missing()))


def polysome(command: str, *arguments: object) -> Result:
    given = [command, f"{LB}/load_balancer.nf", "--config", f"{LB}/config.toml", *map(str, arguments)]
    result = CliRunner().invoke(app, given)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def run(*arguments: object) -> Result:
    return polysome("run", "--in", CAPTURE, "--engine", "native", *arguments)


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, builds and runs that are short, and a file with a letter for each build."""
    log = tmp_path / "builds"
    log.touch()
    script = tmp_path / "cxx"
    script.write_text(f'#!/bin/sh\ncase "$*" in *_source.cpp*) printf . >>{log};; esac\nexec clang++ "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(profile, "_OPTIMIZED", ("-std=c++20", "-O0"))
    monkeypatch.setattr(profile, "_PAIRS", 2)
    monkeypatch.setattr(profile, "_SECONDS", 0.01)
    yield log


def says(monkeypatch: pytest.MonkeyPatch, gain: Gain) -> None:
    """What measuring finds from now on."""
    monkeypatch.setattr(profile, "compare", lambda pairs: gain)


@needs_clang
@pytest.mark.slow
def test_a_profiled_nf_does_the_same(builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says(monkeypatch, Gain(0.07, 0.04))
    results = []
    for options in (["--profile", CAPTURE], ["--profile", CAPTURE], []):
        done = run("--json", "--out", tmp_path / "out.pcapng", *options)
        assert done.exit_code == 0, done.stderr
        results.append((done.stdout, (tmp_path / "out.pcapng").read_bytes()))
        assert done.stderr == ("profile: +7% on clients.pcap (spread 3%), kept\n" if options else "")
        if options:  # plain, with counts, with the profile; the second time all are there
            assert builds.read_text() == "..."
    assert results[0] == results[1] == results[2] and len(results[0][1]) > 1000
    (found,) = (tmp_path / "cache").rglob("*.profile")
    found.write_text(json.dumps({"median": 0.01, "lower": -0.01}))
    done = run("--json", "--out", tmp_path / "out.pcapng", "--profile", CAPTURE)
    assert done.stdout == results[0][0]
    assert done.stderr == "profile: +1% on clients.pcap (spread 2%): no gain, not kept\n"


@needs_clang
@pytest.mark.slow
def test_the_folder_has_the_profile(builds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "folder"
    says(monkeypatch, Gain(0.0, 0.0))
    done = polysome("compile", "-o", folder, "--profile", CAPTURE)
    assert done.exit_code == 0 and "no gain, not kept" in done.stderr
    assert not (folder / "load_balancer.profdata").exists()
    assert "PROFILE" not in (folder / "CMakeLists.txt").read_text()
    (found,) = (tmp_path / "cache").rglob("*.profile")
    found.write_text(json.dumps({"median": 0.5, "lower": 0.4}))
    assert "kept" in polysome("compile", "-o", folder, "--profile", CAPTURE).stderr
    assert builds.read_text() == "..."
    assert "load_balancer.profdata" in json.loads((folder / "manifest.json").read_text())["files"]
    assert "load_balancer.profdata" in (folder / "README.md").read_text()
    if shutil.which("cmake") is None:
        pytest.skip("the rest needs CMake. Debian, Ubuntu: apt install cmake")
    assert configured(folder, tmp_path / "build") == (True, False)
    (folder / "load_balancer.profdata").write_bytes(b"\xfflprofi\x81\xff of another clang")
    assert configured(folder, tmp_path / "build") == (False, True)


def configured(folder: Path, build: Path) -> tuple[bool, bool]:
    """Does CMake take the profile? Does it say that it does not?"""
    command = ["cmake", "-S", str(folder), "-B", str(build), "-DCMAKE_CXX_COMPILER=clang++"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    flags = (build / "CMakeFiles" / "load_balancer_pcap.dir" / "flags.make").read_text()
    return "-fprofile-instr-use=" in flags, "load_balancer.profdata is not used" in done.stdout


# ---------------------------------------------------------------- errors


@needs_clang
def test_captures_that_say_nothing(tmp_path: Path) -> None:
    empty, other, text = tmp_path / "empty.pcapng", tmp_path / "other.pcapng", tmp_path / "text"
    text.write_text("no capture")
    for path, packets in ((empty, []), (other, [bytes(60)])):
        with PcapngWriter(path, ["x"]) as writer:
            for data in packets:
                writer.write(0, 1, data)
    for given, words in (
        (tmp_path / "none.pcap", "none.pcap: cannot be read"),
        (text, "text: text, not a capture"),
        (empty, "there is no packet in it"),
        (other, "no packet of it comes to a handler of load_balancer"),
        (f"client={CAPTURE}", "the NF has no port `client`"),
    ):
        for done in (run("--profile", given), polysome("compile", "-o", tmp_path / "folder", "--profile", given)):
            assert done.exit_code == 2 and words in done.stderr, done.stderr
            assert done.stderr.startswith("error: ") and done.stderr.count("error") == 1
    assert not (tmp_path / "folder").exists()


def test_the_interpreter_is_not_built() -> None:
    done = polysome("run", "--in", CAPTURE, "--profile", CAPTURE)
    assert done.exit_code == 2 and "only the engine `native` has a profile" in done.stderr


def test_a_profile_needs_llvm_profdata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "clang++"
    script.write_text("#!/bin/sh\ncase $1 in --version) echo clang 99;; *) echo llvm-profdata;; esac\n")
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    for done in (run("--profile", CAPTURE), polysome("compile", "-o", tmp_path / "folder", "--profile", CAPTURE)):
        assert done.exit_code == 3 and "llvm-profdata" in done.stderr and "`apt install llvm`" in done.stderr


@needs_clang
def test_a_profile_needs_the_config_and_a_handler(tmp_path: Path) -> None:
    spec = tmp_path / "tiny.nf"
    spec.write_text(
        "use net.l4;\nnf tiny { port a, b; config host: ipv4;"
        ' on packet from a { require ipv4 and ipv4.src == host else drop "other"; send b; } }\n'
    )
    given = ["compile", str(spec), "-o", str(tmp_path / "folder"), "--profile", f"b={CAPTURE}"]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 2 and "host" in done.stderr and "handler" not in done.stderr
    (tmp_path / "config.toml").write_text('host = "10.0.0.1"\n')
    done = CliRunner().invoke(app, [*given, "--config", str(tmp_path / "config.toml")])
    assert done.exit_code == 2 and "no packet of it comes to a handler of tiny" in done.stderr
