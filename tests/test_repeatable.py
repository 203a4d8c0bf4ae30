"""Tests with a random part are no lottery: what they draw is the same in every run, whatever ran before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[1]
DRAWS = """
from hypothesis import given, strategies as st

drawn = []

@given(st.lists(st.one_of(st.integers(), st.binary(min_size=9), st.text())))
def test_draws(values):
    drawn.append(values)

def test_what_was_drawn():
    from hashlib import sha256
    print("drawn", len(drawn), sha256(repr(drawn).encode()).hexdigest())
"""


def test_the_profile_is_the_one_that_gates() -> None:
    now = settings()
    assert now.derandomize and now.database is None and now.deadline is None
    assert Phase.shrink not in now.phases and Phase.reuse not in now.phases


def test_what_is_drawn_does_not_depend_on_what_is_imported(tmp_path: Path) -> None:
    """Nor on the process, or on what earlier runs found."""
    outputs = set()
    for number, first in enumerate(("", "import polysome.analysis.words, polysome.plan.numbers")):
        place = tmp_path / str(number)
        place.mkdir()
        (place / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf-8") + first)
        (place / "test_it.py").write_text(DRAWS, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--rootdir", str(place), "."]
        said = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout
        outputs.add(next(line for line in said.splitlines() if "drawn" in line))
    assert len(outputs) == 1


def test_nothing_is_shrunk() -> None:
    """A failure costs as many runs as there are examples, not minutes."""
    calls = []

    @settings(max_examples=20)
    @given(st.integers())
    def fails(value: int) -> None:
        calls.append(value)
        assert value < 50

    with pytest.raises(AssertionError):
        fails()
    assert len(calls) <= 22
