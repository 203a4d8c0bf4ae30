"""Builds polysome-agent as a bundle builds it, and the unit tests of runtime/rdma/agent."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest
from tests.native.native_build import RUNTIME, Build, need

from polysome.backends.nf_cpp.build import BuildError, compiler
from polysome.deploy.build import component

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "targets" / "bundle" / "rdma" / "agent"


def need_libraries(*, grpc: bool) -> None:
    """Skips the test unless what the agent is built with is here."""
    need("pkg-config")
    lacking = [
        package
        for package, library in (
            ("libibverbs-dev", "libibverbs"),
            ("libgrpc++-dev", "grpc++"),
            ("libprotobuf-dev", "protobuf"),
        )
        if (grpc or library != "grpc++") and not _exists(library)
    ]
    if grpc and not shutil.which("grpc_cpp_plugin"):
        lacking.append("protobuf-compiler-grpc")
    if not Path("/usr/include/numaif.h").exists():
        lacking.append("libnuma-dev")
    if lacking:
        pytest.skip(f"the agent needs the Debian packages {', '.join(lacking)}")


@cache
def _exists(library: str) -> bool:
    return subprocess.run(["pkg-config", "--exists", library], check=False).returncode == 0


@cache
def agent() -> Path:
    """The program, built as `polysome up` builds it; from the user's cache if it was built before."""
    need_libraries(grpc=True)
    with tempfile.TemporaryDirectory() as bundle:
        project = Path(bundle, "rdma", "agent")
        shutil.copytree(PROJECT, project)
        Path(bundle, "runtime").symlink_to(RUNTIME)
        try:
            return component(project, "polysome-agent")
        except BuildError as error:
            pytest.fail(str(error), pytrace=False)


def unit_test(name: str) -> Path:
    need_libraries(grpc=False)
    # Of two source folders on its command line, CMake takes the last.
    return Build("agent-units", compiler() or (), ("-S", str(HERE), "-DSANITIZE=ON")).executable(name)
