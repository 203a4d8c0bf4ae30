"""The switch's part of a bundle: reproducible, of one program, and without warnings for both compilers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.backends.examples import program
from tests.native.native_build import need
from tests.switch.process.harness import bundle_part

from polysome.backends.bundle.soft_switch import emit
from polysome.plan.design import default_design
from polysome_protocol import text_hash


def test_the_files_are_those_of_the_bundle() -> None:
    files = emit(default_design(program("forwarder")))
    assert sorted(files) == [
        "switch/forwarder.p4",
        "switch/soft/CMakeLists.txt",
        "switch/soft/forwarder_switch.hpp",
        "switch/soft/main.cpp",
    ]
    assert files == emit(default_design(program("forwarder")))
    assert text_hash(files["switch/forwarder.p4"].decode()).encode() in files["switch/soft/main.cpp"]
    assert b"add_executable(forwarder_switch main.cpp)" in files["switch/soft/CMakeLists.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["clang++", "g++"])
def test_the_program_has_no_warnings(tmp_path: Path, compiler: str) -> None:
    need(compiler, "protoc", "grpc_cpp_plugin")
    for path, data in bundle_part("forwarder").items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    made = tmp_path / "made"
    made.mkdir()
    source, plugin = tmp_path / "runtime" / "control", shutil.which("grpc_cpp_plugin")
    generate = ["protoc", "-I", source, f"--cpp_out={made}", f"--grpc_out={made}"]
    subprocess.run([*generate, f"--plugin=protoc-gen-grpc={plugin}", source / "control.proto"], check=True)
    strict = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    places = [f"-I{tmp_path}/runtime", "-isystem", made]
    done = subprocess.run(
        [compiler, *strict, *places, tmp_path / "switch" / "soft" / "main.cpp"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:4000]
