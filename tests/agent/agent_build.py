"""Builds polysome-agent as a bundle builds it, and the unit tests of runtime/rdma/agent."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from tests.native.native_build import RUNTIME, Build, need

from polysome.backends.nf_cpp.build import compiler

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


class AgentBuild(Build):
    """A build tree of its own; of two source folders on its command line, CMake takes the last."""

    def __init__(self, kind: str, source: Path | None = None, *options: str) -> None:
        super().__init__(f"agent-{kind}", compiler() or (), options)
        self.options = ("-S", str(source or self._bundle()), *options)

    def _bundle(self) -> Path:
        """The part of a bundle that the agent is built from, with the checkout's runtime."""
        bundle = self.folder / "bundle"
        project = bundle / "rdma" / "agent"
        project.mkdir(parents=True, exist_ok=True)
        if not (bundle / "runtime").exists():
            (bundle / "runtime").symlink_to(RUNTIME)
        text = (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")
        copy = project / "CMakeLists.txt"
        if not copy.exists() or copy.read_text(encoding="utf-8") != text:
            copy.write_text(text, encoding="utf-8")
        return project


def agent() -> Path:
    """The program, built now if it is not up to date."""
    need_libraries(grpc=True)
    return AgentBuild("bundle").executable("polysome-agent")


def unit_test(name: str) -> Path:
    need_libraries(grpc=False)
    return AgentBuild("units", HERE, "-DSANITIZE=ON").executable(name)
