"""Each libFuzzer target of tests/native/fuzz for a bounded number of inputs, with AddressSanitizer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.running import BEGUN_BY_A_SHELL
from tests.native.native_build import HERE, Build, executables, need

pytestmark = pytest.mark.slow

RUNS = 60_000


@pytest.mark.parametrize("name", executables(HERE / "fuzz", "fuzz_*.cpp"))
def test_fuzz(name: str, tmp_path: Path) -> None:
    need("clang++")
    built = Build("fuzz", ("clang++",), ("-DSANITIZE=ON", "-DFUZZ=ON")).executable(name)
    limits = [
        f"-runs={RUNS}",
        "-seed=1",
        "-max_len=700",
        "-len_control=20",
        "-timeout=20",
        f"-artifact_prefix={tmp_path}/",
    ]
    done = subprocess.run(
        [*BEGUN_BY_A_SHELL, str(built), *limits], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_the_memory_of_the_tests_is_not_that_of_a_target() -> None:
    peak = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    held = bytearray(b"x" * (300 << 20))
    done = subprocess.run([*BEGUN_BY_A_SHELL, sys.executable, "-c", peak], capture_output=True, text=True, check=True)
    assert int(done.stdout) << 10 < len(held)
