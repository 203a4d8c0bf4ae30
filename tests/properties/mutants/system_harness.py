"""Tries a mutant of the system: does the test that should fail do so, in a copy of the sources with the fault in it?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SOURCES = ("compiler", "runtime", "stdlib", "targets", "examples", "tests")
MOST_SECONDS = 280  # of its test, the build included
FAILED, PASSED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE), re.compile(r"(\d+) passed")
DOES_NOT_COMPILE = re.compile(r"[^\s:]+\.(?:hpp|cpp):\d+:\d+: (?:fatal )?error: .*")


def copied(root: Path, file: str, text: str, folder: Path) -> Path:
    """A copy of the checkout, without its history, in which `file` has another text."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in SOURCES:
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", copy)
    (copy / file).write_text(text, encoding="utf-8")
    return copy


def attempt_system(name: str, checkout: Path, test: str) -> dict[str, Any]:
    """The first failure of `test` in `checkout`; or that what it builds is no C++ any more, which shows nothing.

    Builds are kept in folders beside the checkout, which end with the mutant. RuntimeError if no test ran.
    """
    folders = {"XDG_CACHE_HOME": checkout.parent / "cache", "TMPDIR": checkout.parent / "tmp"}
    for folder in folders.values():
        folder.mkdir()
    runtime = checkout / "runtime"
    packages = (checkout / "compiler", runtime / "controller", runtime / "protocol", checkout)
    paths = {"PYTHONPATH": os.pathsep.join(map(str, packages)), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = os.environ | paths | {key: str(folder) for key, folder in folders.items()}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=short", "-rfE", test]
    start = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=checkout, env=environment, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"name": name, "caught": {"no answer": _found(start)}}
    if (error := DOES_NOT_COMPILE.search(done.stdout)) is not None:
        return {"name": name, "refused": error.group(0)[-300:]}
    failed, passed = FAILED.search(done.stdout), PASSED.search(done.stdout)
    if failed is not None and done.returncode == 1:
        return {"name": name, "caught": {failed.group(1): _found(start)}}
    if passed is None or done.returncode != 0:
        raise RuntimeError(f"{test} did not run: {(done.stdout + done.stderr).strip()[-300:]}")
    return {"name": name, "caught": {}, "tests": int(passed.group(1)), "seconds": _found(start)["seconds"]}


def _found(start: float) -> dict[str, float]:
    return {"packets": 0, "seconds": round(time.monotonic() - start, 1)}
