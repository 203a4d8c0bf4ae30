"""An installed Polysome works without its checkout, and `make help` tells what make can do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "compiler" / "polysome"
NOT_SHIPPED = {"__pycache__", ".mypy_cache", ".ruff_cache"}

# What the console script does.
MAIN = "import sys; from polysome.cli.main import main; sys.exit(main())"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    done = subprocess.run(
        [*pip, "--no-deps", "--no-index", "--no-build-isolation", "-w", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("polysome-*-py3-none-any.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def files_of(folder: Path, shipped_as: str) -> set[str]:
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {f"{shipped_as}/{path.as_posix()}" for path in files if not NOT_SHIPPED & set(path.parts)}


def python(installed: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    # PYTHONPATH comes before the checkout, which this environment has as an editable install.
    env = os.environ | {"PYTHONPATH": str(installed), "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run([sys.executable, *args], cwd=cwd, env=env, capture_output=True, text=True)


def test_the_wheel_holds_the_package_and_what_stands_beside_it(wheel: Path) -> None:
    parts = {"stdlib": files_of(ROOT / "stdlib", "polysome/stdlib"), "package": files_of(PACKAGE, "polysome")}
    for beside in ("runtime", "targets"):
        parts[beside] = files_of(ROOT / beside, f"polysome/{beside}")
    for room in ("controller", "protocol"):
        parts[room] = files_of(ROOT / "runtime" / room / f"polysome_{room}", f"polysome_{room}")
    wanted = set().union(*parts.values())
    for one in (
        "polysome/LANGUAGE.md",
        "polysome/py.typed",
        "polysome/stdlib/net/ethernet.nf",
        "polysome/syntax/generated/PolysomeLexer.py",
        "polysome/syntax/generated/PolysomeParser.py",
    ):
        wanted.add(one)
    assert any(re.fullmatch(r"polysome/explain/E\d{4}\.md", name) for name in wanted), "no page for `polysome explain`"
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.split("/")[0].endswith(".dist-info")}
    generated_beside = {name for name in wanted if name.endswith((".interp", ".tokens"))}
    assert held == wanted - generated_beside


def test_the_wheel_works_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    for name in ("load_balancer.nf", "config.toml"):
        shutil.copy(ROOT / "examples" / "load_balancer" / name, tmp_path)
    where = python(installed, tmp_path, "-c", "import polysome; print(polysome.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(installed)
    checked = python(installed, tmp_path, "-c", MAIN, "check", "load_balancer.nf")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    (tmp_path / "wrong.nf").write_text((tmp_path / "load_balancer.nf").read_text() + "\n}\n")
    wrong = python(installed, tmp_path, "-c", MAIN, "check", "wrong.nf")
    assert wrong.returncode == 1 and re.search(r"E\d{4}", wrong.stdout + wrong.stderr)
    page = python(installed, tmp_path, "-c", MAIN, "explain", "E0101")
    assert page.returncode == 0 and "E0101" in page.stdout


def test_the_wheel_names_its_command_and_what_it_needs(installed: Path) -> None:
    (info,) = installed.glob("polysome-*.dist-info")
    assert "polysome = polysome.cli.main:main" in (info / "entry_points.txt").read_text()
    assert (info / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    metadata = (info / "METADATA").read_text()
    assert "License-Expression: Apache-2.0" in metadata and "Requires-Python: >=3.11" in metadata
    needs = set(re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata, re.M))
    language = {"antlr4-python3-runtime", "hypothesis", "rich", "jinja2", "siphash24", "typer", "z3-solver"}
    assert needs == language | {"cryptography", "grpcio", "prometheus-client", "protobuf", "pydantic"}


def test_the_committed_parser_and_its_runtime_are_one_version() -> None:
    header = (PACKAGE / "syntax" / "generated" / "PolysomeParser.py").read_text(encoding="utf-8").split("\n")[0]
    stamp = re.fullmatch(r"# Generated from compiler/polysome/syntax/Polysome\.g4 by ANTLR (\S+)", header)
    assert stamp, "run `make parser`, from the top of the checkout"
    assert f"antlr4-python3-runtime=={stamp[1]}" in (ROOT / "pyproject.toml").read_text()
    assert f"ANTLR := {stamp[1]}\n" in (ROOT / "Makefile").read_text()


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed (apt install make)")
def test_make_help_lists_every_target() -> None:
    phony = re.findall(r"^\.PHONY: ([a-z-]+)$", (ROOT / "Makefile").read_text(), re.M)
    targets = re.findall(r"^([a-z-]+):(?!=)", (ROOT / "Makefile").read_text(), re.M)
    assert sorted(phony) == sorted(targets)
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    shown = subprocess.run(["make", "help"], cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout
    assert re.findall(r"^  make ([a-z-]+) +\S", shown, re.M) == targets


def test_the_check_script_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    subprocess.run(["bash", "-n", str(script)], check=True)
