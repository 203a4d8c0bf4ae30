"""One run of a target: from its seeds, for a bounded time."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import seeds
from tests.fuzz.targets import Target, built

LONGEST_INPUT = 20_000  # bytes: some hundred frames, as an input's own set-up takes as long as dozens
HANGS = 60  # s that no input takes, on a loaded machine
SPARE = 240  # s for what libFuzzer does besides
# libFuzzer limits the peak of its memory, and the peak of who begins it counts as its own: it is begun by a shell.
BEGUN_BY_A_SHELL = ("sh", "-c", '"$0" "$@"; exit $?')
LACKING = 3  # the code of a target that this machine has no place for


@dataclass(frozen=True)
class Run:
    """`frames`: that the part was given. `code`: 0, LACKING, or that of a finding, which `said` tells of."""

    frames: int
    code: int
    said: str


def fuzz(target: Target, folder: Path, seconds: int, seed: int = 1) -> Run:
    """`folder`: keeps the corpus, and an input that failed, from one run to the next."""
    corpus = folder / "corpus"
    if not corpus.exists():
        corpus.mkdir(parents=True)
        seeds.write(target.name, corpus)
    limits = [f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST_INPUT}", "-len_control=0"]
    limits += [f"-timeout={HANGS}", "-rss_limit_mb=4096", "-print_final_stats=1", f"-artifact_prefix={folder}/"]
    done = subprocess.run(
        [*BEGUN_BY_A_SHELL, str(built(target)), *limits, str(corpus)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=seconds + SPARE,
    )
    found = re.search(r"^frames: (\d+)$", done.stderr, re.MULTILINE)
    return Run(int(found[1]) if found else 0, done.returncode, done.stderr)


def finding(run: Run) -> str:
    """What a run that failed says first, and where."""
    lines = run.said.splitlines()
    marks = ("does not hold:", "ERROR: ", "runtime error:")
    first = next((n for n, line in enumerate(lines) if any(mark in line for mark in marks)), len(lines))
    return "\n".join([*lines[first : first + 30], *lines[-3:]])
