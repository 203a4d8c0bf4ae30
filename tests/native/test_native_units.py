"""The GoogleTests of runtime/nf, with AddressSanitizer and UndefinedBehaviorSanitizer: one test per executable."""

from __future__ import annotations

import subprocess

import pytest
from tests.native.native_build import HERE, Build, executables, need

from polysome.backends.nf_cpp.build import compiler

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", executables(HERE, "test_*.cpp"))
def test_the_runtimes_units(name: str) -> None:
    need()
    built = Build("units", compiler() or (), ("-DSANITIZE=ON",)).executable(name)
    done = subprocess.run([str(built), "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
