"""pytest collects specs: every property of an `*.nf` file is a test item, at its line.

Which files: `nf_files` in pytest's ini file, as globs (default `*.nf`). The items of one file share one campaign, which
the first of them runs; so under pytest-xdist `--dist loadfile` keeps it from being run once per worker.
"""

from __future__ import annotations

import argparse
from fnmatch import fnmatch
from pathlib import Path

import pytest

from polysome.resources import MEANING
from polysome.testing.plan import Sizes


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("polysome", "specs of network functions (*.nf)")
    group.addoption("--polysome-engine", default=MEANING, metavar="ENGINE", help=f"what runs the specs ({MEANING})")
    sizes = [s.value for s in Sizes]
    group.addoption("--sizes", default="both", choices=sizes, help="room in state: small: a few entries")
    group.addoption(
        "--polysome-seconds", default=10.0, type=float, metavar="S", help="seconds of traffic per spec (10)"
    )
    group.addoption("--polysome-traces", default=None, type=_count, metavar="N", help="at most so many traces per spec")
    group.addoption("--polysome-seed", default=0, type=int, metavar="N", help="another seed, other traffic (0)")
    parser.addini("nf_files", "globs of the specs to collect", type="args", default=["*.nf"])


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"`{text}` is no count: a number of 1 or more")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    engine = config.getoption("--polysome-engine")
    if engine == MEANING:  # what most sessions have, and then nothing more needs to be loaded
        return
    from polysome.engines import ENGINES

    if engine not in ENGINES:
        raise pytest.UsageError(f"--polysome-engine: there is no engine `{engine}`; there are: {', '.join(ENGINES)}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    globs = parent.config.getini("nf_files")
    if file_path.suffix != ".nf" or not any(fnmatch(file_path.name, glob) for glob in globs):
        return None
    from polysome.testing.pytest_items import SpecFile  # Hypothesis and all that: only for those who have specs

    collected: pytest.Collector = SpecFile.from_parent(parent, path=file_path)
    return collected
