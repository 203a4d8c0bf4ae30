"""What these tests need of the machine."""

from __future__ import annotations

import shutil
from functools import cache

import pytest

from polysome.deploy.needs import missing

# What is built at first may take minutes.
DEPLOYED = [pytest.mark.slow, pytest.mark.timeout(900)]


def need(*programs: str) -> None:
    """Skips the module if `polysome up` cannot run here, or a program is absent."""
    lacking = _missing() + [f"`{program}`" for program in programs if shutil.which(program) is None]
    if lacking:
        pytest.skip("not here: " + "; ".join(lacking), allow_module_level=True)


@cache
def _missing() -> list[str]:
    """For all modules: asking for gRPC takes pkg-config half a second."""
    return missing()
