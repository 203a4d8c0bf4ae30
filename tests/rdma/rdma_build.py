"""Builds tests/rdma/CMakeLists.txt as tests/native builds its own."""

from __future__ import annotations

from pathlib import Path

from tests.native.native_build import Build

HERE = Path(__file__).resolve().parent


class RdmaBuild(Build):
    """A build tree of its own; of two source folders on its command line, CMake takes the last."""

    def __init__(self, kind: str, command: tuple[str, ...], options: tuple[str, ...]) -> None:
        super().__init__(f"rdma-{kind}", command, ("-S", str(HERE), *options))
