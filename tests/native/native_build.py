"""Builds tests/native/CMakeLists.txt, once for each kind and set of sources, in the user's cache folder."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from polysome.backends.nf_cpp.build import compiler

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[1] / "runtime"


def need(*more: str) -> None:
    """Skips the test unless CMake, Ninja and a C++20 compiler are here, and the commands in `more`."""
    lacking = {
        "cmake": shutil.which("cmake"),
        "ninja-build": shutil.which("ninja"),
        "clang": compiler(),
        **{name: shutil.which(name) for name in more},
    }
    packages = [name for name, found in lacking.items() if not found]
    if packages:
        pytest.skip(f"the runtime's tests need the Debian packages {', '.join(packages)}")


def executables(folder: Path, pattern: str) -> list[str]:
    return sorted(path.stem for path in folder.glob(pattern))


class Build:
    """A configured build tree; Ninja builds in it what has changed. Safe beside other processes."""

    def __init__(self, kind: str, command: tuple[str, ...], options: tuple[str, ...]) -> None:
        user = re.sub(r"\W", "-", str(HERE))
        self.folder = Path(tempfile.gettempdir()) / f"polysome-native-{os.getuid()}" / user / kind
        self.folder.mkdir(parents=True, exist_ok=True)
        self.command, self.options = command, options

    def executable(self, name: str) -> Path:
        """The executable, built now if it is not up to date; fails the test with what the compiler says."""
        with open(self.folder / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.folder / "build.ninja").exists():
                chosen = [f"-DCMAKE_CXX_COMPILER={self.command[0]}", *self.options]
                self._run(["cmake", "-G", "Ninja", "-S", str(HERE), "-B", str(self.folder), *chosen])
            self._run(["ninja", "-C", str(self.folder), "-j", "1", name])
        return self.folder / name

    def _run(self, command: list[str]) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
        said = done.stdout + done.stderr
        if done.returncode and "GTest" in said and "GTest_DIR" in said:
            pytest.skip("the runtime's tests need GoogleTest: the Debian package libgtest-dev")
        if done.returncode:
            pytest.fail(f"{' '.join(command)}\n{said[-4000:]}", pytrace=False)
