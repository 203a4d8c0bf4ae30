"""Tries the sample of mutants of the emitted P4 on the prover: `python -m tests.prove.mutants.report`.

Prints a line for each mutant that is not refused, then how many of each region became what. Exit code 1 if one passes
that is not listed with its reason in `listed.toml`.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from tests.prove.mutants.judge import REFUSED, Judged, Verdict, judge
from tests.prove.mutants.sample import COUNT, SEED, case, sample
from tests.prove.spec.kit import NAMES

LISTED = Path(__file__).with_name("listed.toml")


@dataclass(frozen=True)
class Line:
    example: str
    region: str
    kind: str
    words: str
    judged: Judged
    reason: str | None

    def __str__(self) -> str:
        why = self.reason or self.judged.why
        return f"{self.judged.verdict:9} {self.example}, {self.region}: {self.words}{f' ({why})' if why else ''}"


@dataclass(frozen=True)
class Listed:
    """Why mutants pass whose `region: words` match; `examples`: only of these, if any is named."""

    mutant: re.Pattern[str]
    reason: str
    examples: tuple[str, ...]


@cache
def listed() -> tuple[Listed, ...]:
    entries = tomllib.loads(LISTED.read_text(encoding="utf-8"))["mutant"]
    return tuple(Listed(re.compile(e["mutant"]), e["reason"], tuple(e.get("examples", ()))) for e in entries)


def reason(example: str, mutant: str) -> str | None:
    found = (one.reason for one in listed() if one.mutant.match(mutant) and example in (one.examples or (example,)))
    return next(found, None)


def tried(name: str, count: int, seed: int, names: tuple[str, ...], log: bool) -> list[Line]:
    """What becomes of the sample's mutants of one example."""
    lines = []
    for mutant in sample(name, count, seed, names):
        line = Line(
            name, mutant.region, mutant.kind, mutant.words, judge(case(name), mutant), reason(name, str(mutant))
        )
        lines.append(line)
        if log:
            print(line, file=sys.stderr, flush=True)
    return lines


def table(lines: list[Line]) -> str:
    """Those that are not refused, one by one; then all, by region."""
    text = [str(line) for line in lines if line.judged.verdict not in REFUSED]
    for region in sorted({line.region for line in lines}):
        counts = Counter(line.judged.verdict for line in lines if line.region == region)
        text.append(f"{region:18} " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    counts = Counter(line.judged.verdict for line in lines)
    text.append(f"{'all':18} " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    return "\n".join(text)


def let_through(lines: list[Line]) -> list[Line]:
    """Those that pass and are not listed."""
    return [line for line in lines if line.judged.verdict == Verdict.passed and line.reason is None]


def main(arguments: Sequence[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("examples", nargs="*", choices=[[], *NAMES], help="only these")
    options.add_argument("--count", type=int, default=COUNT)
    options.add_argument("--seed", type=int, default=SEED)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--log", action="store_true", help="say what becomes of each as it is known")
    given = options.parse_args(arguments)
    names = tuple(given.examples) or tuple(NAMES)
    with ProcessPoolExecutor(given.workers, get_context("spawn"), max_tasks_per_child=1) as pool:
        asked = [pool.submit(tried, name, given.count, given.seed, names, given.log) for name in names]
        lines = [line for one in asked for line in one.result()]
    print(table(lines))
    wrong = let_through(lines)
    print(f"{len(wrong)} pass and are not listed in {LISTED.name}" if wrong else "all are refused, the same, or listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
