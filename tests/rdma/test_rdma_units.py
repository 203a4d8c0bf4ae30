"""The GoogleTests of runtime/rdma, with AddressSanitizer and UndefinedBehaviorSanitizer: one test per executable."""

from __future__ import annotations

import subprocess

import pytest
from tests.native.native_build import executables, need
from tests.rdma.rdma_build import HERE, RdmaBuild

from polysome.backends.nf_cpp.build import compiler

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", executables(HERE, "test_*.cpp"))
def test_the_rdma_units(name: str) -> None:
    need()
    built = RdmaBuild("units", compiler() or (), ("-DSANITIZE=ON",)).executable(name)
    done = subprocess.run([str(built), "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
