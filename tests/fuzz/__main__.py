"""`make fuzz`: every target until it has had so many mutated frames. ARGS='--frames 1000000 --only switch --seed 7'"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.running import finding, fuzz
from tests.fuzz.targets import TARGETS, Target

ROUND = 60  # s, after which the corpus that was found is what the next round begins with


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000, help="for each target")
    parser.add_argument("--only", default="", help="targets whose names begin so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where corpus and findings are kept")
    options = parser.parse_args()
    chosen = [target for target in TARGETS if target.name.startswith(options.only)]
    if not chosen:
        parser.error(f"no target is {options.only}; there are {', '.join(target.name for target in TARGETS)}")
    found = [target for target in chosen if not silent(target, options.folder / target.name, options)]
    return 1 if found else 0


def silent(target: Target, folder: Path, options: argparse.Namespace) -> bool:
    frames, began, seed = 0, time.monotonic(), options.seed
    while frames < options.frames:
        run = fuzz(target, folder, ROUND, seed)
        frames += run.frames
        if run.code != 0:
            print(f"{target.name}: after {frames:,} frames, in {folder}:\n{finding(run)}", flush=True)
            return False
        seed += 1
    print(f"{target.name}: {frames:,} frames in {time.monotonic() - began:.0f} s, nothing found", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
