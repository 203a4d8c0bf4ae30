"""The GoogleTests of runtime/switch, with AddressSanitizer and UndefinedBehaviorSanitizer: one test per executable."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.native.native_build import Build, executables, need

from polysome.backends.nf_cpp.build import compiler

HERE = Path(__file__).resolve().parent

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", executables(HERE, "**/test_*.cpp"))
def test_the_switchs_units(name: str) -> None:
    need()
    # Of two source folders on its command line, CMake takes the last.
    built = Build("switch-units", compiler() or (), ("-S", str(HERE), "-DSANITIZE=ON")).executable(name)
    done = subprocess.run([str(built), "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
