"""A bundle builds by itself: its three CMake projects, with nothing of Polysome within reach."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest
from tests.bundle.helpers import files, needs, run

from polysome.backends.nf_cpp.build import cache_folder, compiler, only_here

pytestmark = pytest.mark.slow

PROJECTS = {
    "switch/soft": ("load_balancer_switch", "switch/soft.json"),
    "rdma/agent": ("polysome-agent", "rdma/memory1.json"),
    "nf": ("load_balancer_fields_af_packet", "nf/nf1.json"),
}
NO_TLS = "/etc/polysome/load_balancer/tls/authority.pem"  # what this machine lacks of a configuration that is right
# No Polysome, no checkout.
FOLDERS = [folder for folder in os.environ["PATH"].split(":") if not (Path(folder) / "polysome").exists()]
CLEAN = {"PATH": ":".join(FOLDERS), "HOME": "/nonexistent", "LC_ALL": "C"}


@pytest.mark.parametrize("project", PROJECTS)
def test_it_builds_without_polysome(project: str, soft: Path) -> None:
    """Kept by the bundle's contents: an unchanged one is not built again."""
    command = compiler()
    if command is None:
        pytest.skip("there is no C++ compiler (apt install clang)")
    for tool in ("cmake", "protoc", "grpc_cpp_plugin", "pkg-config"):
        needs(tool)
    sources = {p: d for p, d in files(soft).items() if p.startswith((f"{project}/", "runtime/"))}
    digest = hashlib.sha256(repr((command, sorted(sources.items()))).encode()).hexdigest()[:32]
    kept = cache_folder() / f"build-bundle-{digest}"  # a name that goes when it was not used for a month
    with only_here(kept.with_suffix(".lock")):
        if not (kept / "built").exists():
            build(soft, project, kept, command[0])
    os.utime(kept)
    program, config = PROJECTS[project]
    done = run(kept, f"build/{program}", soft / config, env=CLEAN)
    lacks = (NO_TLS, "no network interface `eth1`")
    assert done.returncode == 3 and any(what in done.stderr for what in lacks), done.stderr


def test_the_controllers_code_is_complete(soft: Path) -> None:
    env = {"PATH": CLEAN["PATH"], "PYTHONPATH": str(soft / "switch" / "controller"), "PYTHONDONTWRITEBYTECODE": "1"}
    found = run(soft, sys.executable, "-c", "import polysome_controller as c; print(c.__file__)", env=env)
    assert found.stdout.startswith(str(soft))
    done = run(soft, sys.executable, "-m", "polysome_controller", "switch/controller.json", env=env)
    assert done.returncode != 0 and NO_TLS in done.stderr, done.stderr


def build(soft: Path, project: str, kept: Path, cxx: str) -> None:
    """Copies the bundle first: elsewhere, it builds as well."""
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(soft, kept / "bundle")
    options = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF")
    configure = ("cmake", "-S", f"bundle/{project}", "-B", "build", f"-DCMAKE_CXX_COMPILER={cxx}", *options)
    for command in (configure, ("cmake", "--build", "build", "--target", PROJECTS[project][0])):
        done = run(kept, *command, env=CLEAN, timeout=580)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
        assert "warning:" not in done.stderr + done.stdout
    shutil.rmtree(kept / "bundle")
    (kept / "built").touch()
