"""What is generated compiles without a warning: by clang, and where most is in it, by g++ with the optimizer's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.testing.builtin.networks import EXAMPLES, REWRITING, STORE, example
from tests.testing.builtin.networks import spec as network

from polysome.backends.nf_cpp import build
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.names import identifier
from polysome.resources import folder

pytestmark = pytest.mark.slow

OTHERS = {"store": STORE, "rewriting": REWRITING}
# Some warnings of g++ come from its later passes, which take long.
MOST = ("bridge", "nat", "router6", "telemetry", "vxlan_gateway", "rewriting")
ALL = [("clang++", name) for name in (*EXAMPLES, *OTHERS)] + [("g++", name) for name in MOST]


@pytest.mark.parametrize(("command", "name"), ALL)
def test_it_compiles_without_a_warning(command: str, name: str, tmp_path: Path) -> None:
    if shutil.which(command) is None:
        pytest.skip(f"needs {command}: the Debian package {command.removesuffix('++')}")
    program = (network(OTHERS[name]) if name in OTHERS else example(name)).program
    nf = identifier(program.name)
    (tmp_path / f"{nf}.hpp").write_text(generate(program, defaults=False), encoding="utf-8")
    (tmp_path / "library.cpp").write_text(build._source(nf), encoding="utf-8")
    flags = ["-std=c++20", "-O2", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    flags.append("-S" if command == "g++" else "-fsyntax-only")
    places = [f"-I{tmp_path}", f"-I{folder('runtime')}", str(tmp_path / "library.cpp"), "-o", str(tmp_path / "out")]
    done = subprocess.run([command, *flags, *places], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr.replace(f"{tmp_path}/", "")[:3000]
