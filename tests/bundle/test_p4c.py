"""The scripts that build the switch program: with the open p4c, and what they say where something is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.bundle.helpers import run


@pytest.mark.slow
@pytest.mark.skipif("P4C" not in os.environ, reason="P4C does not name a p4c with the Tofino backend")
def test_p4c_compiles_the_bundles_program(tofino: Path, tmp_path: Path) -> None:
    done = run(tofino, "switch/build-p4c.sh", tmp_path / "out", env=dict(os.environ), timeout=250)
    assert done.returncode == 0, done.stderr[-4000:]
    assert list((tmp_path / "out").rglob("*.bfa"))


def test_without_a_p4c_it_says_so(tofino: Path) -> None:
    done = run(tofino, "switch/build-p4c.sh", env={"PATH": os.environ["PATH"], "P4C": "/nowhere/p4c"})
    assert done.returncode == 3 and "/nowhere/p4c is not there" in done.stderr and "mend: " in done.stderr


def test_without_an_sde_all_that_is_missing_is_said(tofino: Path, tmp_path: Path) -> None:
    done = run(tofino, "switch/build-sde.sh", env={"PATH": os.environ["PATH"], "SDE": str(tmp_path)})
    assert done.returncode == 3
    assert f"no compiler {tmp_path}/install/bin/bf-p4c" in done.stderr
    assert "has neither p4studio/CMakeLists.txt" in done.stderr


def test_with_an_sde_its_cmake_flow_is_used(tofino: Path, tmp_path: Path) -> None:
    """Stand-ins for the SDE's compiler, cmake and make note what they are asked for."""
    for name in ("install/bin/bf-p4c", "tools/cmake", "tools/make"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{path.name} $*" >>"$SDE/log"\n')
        path.chmod(0o755)
    (tmp_path / "p4studio").mkdir()
    (tmp_path / "p4studio" / "CMakeLists.txt").touch()
    path = f"{tmp_path}/tools:{os.environ['PATH']}"
    done = run(tofino, "switch/build-sde.sh", env={"PATH": path, "SDE": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    cmake, build, install = (tmp_path / "log").read_text().splitlines()
    assert f"-DP4_PATH={tofino}/switch/load_balancer.p4" in cmake and "-DP4_NAME=load_balancer" in cmake
    assert cmake.endswith("-DTOFINO=ON") and build.endswith(" load_balancer") and install.endswith(" install")
