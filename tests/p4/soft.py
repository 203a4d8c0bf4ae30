"""A P4 program in the soft switch, driven by the commands of switch_driver.cpp."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from pathlib import Path

import pytest
from tests.p4.chips import TOFINO

from polysome.backends.nf_cpp.build import BuildError, built, missing
from polysome.p4.coverage import Coverage
from polysome.p4.limits import ChipLimits
from polysome.p4.load import load
from polysome.p4.points import Points
from polysome.p4.translate.translate import translate

DRIVER = Path(__file__).with_name("switch_driver.cpp")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
CHECKED = ("-std=c++20", "-O0", "-g1", *WARNINGS, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@lru_cache(maxsize=64)
def executable(p4: str, chip: ChipLimits = TOFINO, flags: tuple[str, ...] = CHECKED, *, counted: bool = False) -> Path:
    if (lacking := missing()) is not None:
        pytest.skip(lacking)
    program = load("test.p4", p4, chip)
    header = translate(program, chip, Points(program) if counted else None)
    source = f'#define PROGRAM "p4_test.hpp"\n{DRIVER.read_text(encoding="utf-8")}'
    try:
        return built("p4_test", header, source, flags)
    except BuildError as error:
        pytest.fail(str(error), pytrace=False)


def run(p4: str, script: str, chip: ChipLimits = TOFINO, *, counted: bool = False) -> list[str]:
    """The lines that the commands of `script` print."""
    command = [executable(p4, chip, counted=counted)]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()


def covered(p4: str, script: str, chip: ChipLimits = TOFINO) -> Coverage:
    """What the commands reach of the program."""
    counts = run(p4, f"{script}\ncoverage", chip, counted=True)[-1].split()
    points = Points(load("test.p4", p4, chip))
    return Coverage(points, p4, tuple(map(int, counts[1:])))


def ethernet(rest: str = "", dst: str = "020000000001", src: str = "020000000002", kind: str = "0800") -> str:
    """A frame in hex digits."""
    return (dst + src + kind + rest).replace(" ", "")
