"""The bench of the software system runs, and says what it should; how fast things are is none of a test's business."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysome.resources import folder

BENCH = Path(__file__).resolve().parent / "bench_system.py"
SOON = ["--packets", "600", "--repetitions", "1", "--wrong", "500"]


@pytest.mark.slow
def test_it_measures_and_judges(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    paths = [str(folder("stdlib").parent / "compiler"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, str(BENCH), *SOON, "--out", str(out)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-3000:]
    switch, system, wrong = json.loads(out.read_text(encoding="utf-8"))
    assert switch["packets"] == system["packets"] == 600 and switch["mpps"] > 0 and system["mpps"] > 0
    assert switch["left"] == system["left"] == 1.0, "what is measured is that all packets come back whole"
    assert wrong["packets"] == 500 and wrong["wrong"] == 0 and wrong["left"] > 0 and wrong["lost"] > 0
