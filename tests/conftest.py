"""What all tests share: golden files, and that what is random in them is the same every time.

A test that gates is no lottery: Hypothesis draws from a seed that follows from the test itself, remembers nothing
between runs, looks at no clock, and does not shrink. `--hypothesis-profile mend` shrinks, for who mends what failed.
Exploring is done by `make campaign`; what it finds becomes a fixed test.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

# What tests run is little, and takes longer to build than to run: NFs, systems and deployments are not optimised.
os.environ.setdefault("CXXFLAGS", "-O0")

# Specs, terms and syntax trees are many objects and few circles: looking for those as often as usual is a tenth of all
# time. Seldom at all, and a worker keeps gigabytes of terms that nobody needs.
gc.set_threshold(10_000, 10, 5)

settings.register_profile(
    "gate",
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[check for check in HealthCheck if check is not HealthCheck.filter_too_much],
    print_blob=False,
)
settings.register_profile(
    "mend", settings.get_profile("gate"), phases=(Phase.explicit, Phase.generate, Phase.shrink, Phase.explain)
)
settings.load_profile("gate")
# Constants of all modules that are imported by then would be drawn too: it would matter what a worker ran before.
providers._get_local_constants = providers.Constants  # type: ignore[attr-defined]

# The command line is a process of its own for a user; here, what it is made of is not looked at again for each call.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what comes out into the golden files")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """`golden(path, text)`: `text` must be what the file at `path` holds; with --update-golden it is written there."""
    update = request.config.getoption("--update-golden")

    def compare(path: Path, text: str) -> None:
        if update:
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"{path} is missing; `pytest --update-golden` writes it"
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; `pytest --update-golden` writes it anew"

    return compare
