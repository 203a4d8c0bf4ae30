"""`polysome compile`: a folder that builds by itself, the same bytes every time, and nothing of the user's lost."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.backends.examples import EXAMPLES
from typer.testing import CliRunner, Result

from polysome.backends.manifest import NotOurs, write
from polysome.backends.nf_cpp.build import compiler
from polysome.cli.main import app

SPEC = EXAMPLES / "load_balancer" / "load_balancer.nf"
CONFIG = EXAMPLES / "load_balancer" / "config.toml"


def compiled(target: Path, *arguments: object) -> Result:
    result = CliRunner().invoke(app, ["compile", str(SPEC), "-o", str(target), *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def found(target: Path) -> dict[str, bytes]:
    return {str(p.relative_to(target)): p.read_bytes() for p in sorted(target.rglob("*")) if p.is_file()}


def test_the_same_spec_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert compiled(tmp_path / name, "--config", CONFIG).exit_code == 0
    first = found(tmp_path / "a")
    assert first == found(tmp_path / "b")
    assert {"nf/load_balancer.hpp", "CMakeLists.txt", "README.md", "runtime/nf/machine.hpp", "config.bin"} <= set(first)
    assert not any(str(tmp_path).encode() in data for data in first.values())
    listed = json.loads(first["manifest.json"])["files"]
    assert set(listed) == set(first) - {"manifest.json"}


def test_it_writes_over_its_own_files(tmp_path: Path) -> None:
    assert compiled(tmp_path).exit_code == 0
    before = found(tmp_path)
    assert compiled(tmp_path, "--capacity", "sticky=5").exit_code == 0
    after = found(tmp_path)
    assert set(before) == set(after) and before["nf/load_balancer.hpp"] != after["nf/load_balancer.hpp"]
    assert compiled(tmp_path).exit_code == 0
    assert found(tmp_path) == before


@pytest.mark.parametrize("name", ["nf/load_balancer.hpp", "README.md"])
def test_a_changed_file_stays(tmp_path: Path, name: str) -> None:
    assert compiled(tmp_path).exit_code == 0
    (tmp_path / name).write_text("mine\n")
    before = found(tmp_path)
    result = compiled(tmp_path, "--capacity", "sticky=5")
    assert result.exit_code == 2 and name in result.stderr and "changed" in result.stderr
    assert found(tmp_path) == before


def test_a_file_of_the_user_stays(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("mine\n")
    result = compiled(tmp_path)
    assert result.exit_code == 2 and "not written by" in result.stderr
    assert found(tmp_path) == {"CMakeLists.txt": b"mine\n"}


def test_what_is_no_longer_written_goes_unless_it_was_changed(tmp_path: Path) -> None:
    write(tmp_path, {"a": b"1", "b": b"2", "c/d": b"3"}, {})
    (tmp_path / "b").write_bytes(b"mine")
    write(tmp_path, {"a": b"1"}, {})
    assert sorted(found(tmp_path)) == ["a", "b", "manifest.json"]
    with pytest.raises(NotOurs):
        write(tmp_path, {"b": b"2"}, {})


@pytest.mark.parametrize("text", ["", "[]", '{"files": 3}', '{"files": []}', "\udcff"])
def test_a_foreign_manifest_stays(tmp_path: Path, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(NotOurs):
        write(tmp_path, {"a": b"1"}, {})
    assert found(tmp_path) == {"manifest.json": data}


def test_a_manifest_names_nothing_outside(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    (tmp_path / "precious").write_bytes(b"1")
    write(inside, {"a": b"1"}, {})
    manifest = json.loads((inside / "manifest.json").read_text())
    manifest["files"] = {"../precious": manifest["files"]["a"], str(tmp_path / "precious"): manifest["files"]["a"]}
    (inside / "manifest.json").write_text(json.dumps(manifest))
    write(inside, {"b": b"2"}, {})
    assert (tmp_path / "precious").read_bytes() == b"1"


def test_mistakes_on_the_command_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["compile", str(SPEC)])
    assert result.exit_code == 2 and "-o" in result.stderr
    result = compiled(tmp_path / "x", "--print-after", "lay")
    assert result.exit_code == 2 and "layout" in result.stderr
    (tmp_path / "file").write_text("")
    result = compiled(tmp_path / "file")
    assert result.exit_code in (2, 3) and "error" in result.stderr
    assert not (tmp_path / "x").exists()


def test_print_after_shows_a_pass_and_writes_nothing(tmp_path: Path) -> None:
    result = compiled(tmp_path / "x", "--print-after", "relevance")
    assert result.exit_code == 0 and result.stdout and not (tmp_path / "x").exists()


@pytest.mark.slow
def test_the_folder_builds_by_itself(tmp_path: Path) -> None:
    command = compiler()
    if shutil.which("cmake") is None or command is None:
        pytest.skip("needs CMake and a C++ compiler. Debian, Ubuntu: apt install cmake clang")
    source, build = tmp_path / "folder", tmp_path / "build"
    assert compiled(source, "--config", CONFIG).exit_code == 0
    quick = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-Werror", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"]
    quick.append(f"-DCMAKE_CXX_COMPILER={command[0]}")
    for words in (["cmake", "-S", source, "-B", build, *quick], ["cmake", "--build", build]):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    made = {path.name for path in build.iterdir()}
    assert {"libload_balancer.so", "load_balancer_pcap", "load_balancer_af_packet"} <= made
    assert "load_balancer_dpdk" in made or "no DPDK" in done.stdout
