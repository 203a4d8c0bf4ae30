"""The native bench runs, and says what it should; how fast things are is none of a test's business."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from polysome.resources import folder

BENCH = Path(__file__).resolve().parent / "bench_native.py"
SOON = ["--seconds", "0.01", "--repetitions", "1"]


def bench(*arguments: object, fastclick: str | None = None, **changed: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "FASTCLICK_DIR"}
    paths = [str(folder("stdlib").parent / "compiler"), environment.get("PYTHONPATH", "")]
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, paths)), **changed}
    if fastclick is not None:
        environment["FASTCLICK_DIR"] = fastclick
    command = [sys.executable, BENCH, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)


def rows(done: subprocess.CompletedProcess[str], out: Path) -> list[dict[str, object]]:
    """What was measured; skips if something is not installed."""
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(out.read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


@pytest.mark.slow
def test_a_row_has_all_its_members(tmp_path: Path) -> None:
    out = tmp_path / "out" / "rows.json"
    done = bench("--nf", "nat", "--flows", 1000, "--out", out, "--build", tmp_path / "build", *SOON)
    (row,) = rows(done, out)
    assert (row["nf"], row["flows"], row["traffic"], row["sent"]) == ("nat", 1000, "uniform", 1.0)
    for column in ("generated", "fields", "equal", "approximate", "limit", "source"):
        for unit in ("mpps", "cycles", "p99", "instructions", "batch"):
            value = row[f"{column}_{unit}"]
            assert isinstance(value, float | int) and value > 0, column
    for member in ("generated_resident_per_flow", "equal_resident_per_flow", "generated_memory_per_flow"):
        assert member in row
    limit_bytes, last_cache = row["limit_bytes"], row["last_cache"]
    assert isinstance(limit_bytes, int) and isinstance(last_cache, int) and limit_bytes >= 4 * last_cache
    assert row["instructions_by"] in ("single steps", "the processor's counter")
    assert row["core"] in os.sched_getaffinity(0)
    assert "fastclick_mpps" not in row
    assert done.stderr.count("FASTCLICK_DIR is not set") == 1
    table = done.stdout.splitlines()
    assert table[2].startswith("| nat | 1 000 | uniform |")
    assert len({line.count("|") for line in table[:3]}) == 1, "a table has as many cells in every line"
    assert table[-1].startswith("| nat | "), "the median of generated / equal"


@pytest.mark.slow
def test_fastclick_is_measured_beside(tmp_path: Path) -> None:
    given = os.environ.get("FASTCLICK_DIR")
    if not given:
        pytest.skip("FASTCLICK_DIR is not set: FastClick is not measured. Set it to where FastClick is installed")
    out = tmp_path / "rows.json"
    done = bench("--nf", "nat", "--flows", 1000, "--out", out, "--build", tmp_path / "build", *SOON, fastclick=given)
    (row,) = rows(done, out)
    for member in ("fastclick_mpps", "fastclick_cycles", "fastclick_source_mpps"):
        value = row[member]
        assert isinstance(value, float) and value > 0, member
    assert row["fastclick_sent"] == 1.0, "replies find their mappings"


def test_says_what_is_not_installed(tmp_path: Path) -> None:
    done = bench("--flows", 1000, PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (3, "")
    assert "apt install clang lld cmake ninja-build pkg-config libdpdk-dev" in done.stderr


def test_refuses_numbers_of_flows_it_has_no_addresses_for() -> None:
    done = bench("--flows", 1 << 25)
    assert done.returncode == 2
    assert "--flows is from 64 to 16777216" in done.stderr
