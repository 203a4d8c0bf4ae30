"""What these tests need of the machine."""

from __future__ import annotations

import shutil

import pytest

from polysome.deploy.needs import missing

# One worker has them all: they use the same deployments, and the machine. What is built at first may take minutes.
TOGETHER = [pytest.mark.slow, pytest.mark.xdist_group("up"), pytest.mark.timeout(900)]


def need(*programs: str) -> None:
    """Skips the module if `polysome up` cannot run here, or a program is absent."""
    lacking = missing() + [f"`{program}`" for program in programs if shutil.which(program) is None]
    if lacking:
        pytest.skip("not here: " + "; ".join(lacking), allow_module_level=True)
