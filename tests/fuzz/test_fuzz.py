"""Each part of a deployment that reads frames is given mutated ones for some seconds: no sanitizer says anything, and
nothing forged goes on. `make fuzz` goes on for as long as one likes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.running import LACKING, finding, fuzz
from tests.fuzz.targets import TARGETS, Target
from tests.nf_host import hosts

pytestmark = pytest.mark.slow

SECONDS = 10  # of each target: a minute for all
LEAST = 500  # frames in that time, on any machine


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_is_found(target: Target, tmp_path: Path) -> None:
    hosts.need()
    run = fuzz(target, tmp_path, SECONDS)
    if run.code == LACKING:
        pytest.skip(run.said)
    assert run.code == 0, finding(run)
    assert run.frames > LEAST, run.said[-2000:]
