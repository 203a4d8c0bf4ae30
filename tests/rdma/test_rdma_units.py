"""The GoogleTests of runtime/rdma, with AddressSanitizer and UndefinedBehaviorSanitizer: one test per executable; and
its libFuzzer targets, for a bounded number of inputs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.native.native_build import executables, need
from tests.rdma.rdma_build import HERE, RdmaBuild

from polysome.backends.nf_cpp.build import compiler

pytestmark = pytest.mark.slow

RUNS = 20_000


@pytest.mark.parametrize("name", executables(HERE, "test_*.cpp"))
def test_the_rdma_units(name: str) -> None:
    need()
    built = RdmaBuild("units", compiler() or (), ("-DSANITIZE=ON",)).executable(name)
    done = subprocess.run([str(built), "--gtest_brief=1"], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


@pytest.mark.parametrize("name", executables(HERE / "fuzz", "fuzz_*.cpp"))
def test_fuzz(name: str, tmp_path: Path) -> None:
    need("clang++")
    built = RdmaBuild("fuzz", ("clang++",), ("-DSANITIZE=ON", "-DFUZZ=ON")).executable(name)
    limits = [
        f"-runs={RUNS}",
        "-seed=1",
        "-max_len=600",
        "-len_control=20",
        "-timeout=20",
        f"-artifact_prefix={tmp_path}/",
    ]
    done = subprocess.run([str(built), *limits], capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-4000:]
