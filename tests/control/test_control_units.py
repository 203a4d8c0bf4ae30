"""The GoogleTests of runtime/control, with AddressSanitizer and UndefinedBehaviorSanitizer: one test per executable."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.native.native_build import Build, executables, need

from polysome.backends.nf_cpp.build import compiler

pytestmark = pytest.mark.slow
HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("name", executables(HERE, "test_*.cpp"))
def test_the_controls_units(name: str) -> None:
    """Of two source folders on its command line, CMake takes the last."""
    need()
    build = Build("control-units", compiler() or (), ("-S", str(HERE), "-DSANITIZE=ON"))
    command = [str(build.executable(name)), "--gtest_brief=1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
