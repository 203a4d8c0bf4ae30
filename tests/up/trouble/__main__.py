"""`make trouble`: troubles of a load balancer, each kind and part once, then by chance, while wrk asks.
ARGS='--minutes 10 --seed 7'"""

from __future__ import annotations

import argparse
import fcntl
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.up.conftest import LOCK
from tests.up.trouble.campaign import HEAD, Cost, cost
from tests.up.trouble.kinds import Trouble, troubles
from tests.up.trouble.place import Place, place

from polysome.deploy.needs import missing


def main() -> int:
    parser = argparse.ArgumentParser(prog="make trouble", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="troubles whose kinds begin so")
    options = parser.parse_args()
    if lacking := missing():
        parser.error("not here: " + "; ".join(lacking))
    with tempfile.TemporaryDirectory(prefix="polysome-trouble-") as folder, LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with place(Path(folder)) as found:
            costs = campaign(found, options)
    problems = [f"{c.trouble} of {c.trouble.part}: {problem}" for c in costs for problem in c.problems]
    print(f"{len(costs)} troubles, {sum(c.asked for c in costs)} requests, {sum(c.lost for c in costs)} lost")
    print("\n".join(problems) or "It recovered each time.")
    return 1 if problems or not costs else 0


def campaign(found: Place, options: argparse.Namespace) -> list[Cost]:
    costs: list[Cost] = []
    until = time.monotonic() + 60 * options.minutes
    print(HEAD, flush=True)
    for number, trouble in enumerate(sequence(options)):
        if time.monotonic() > until:
            break
        costs.append(cost(found, trouble, number))
        print(costs[-1], flush=True)
    return costs


def sequence(options: argparse.Namespace) -> Iterator[Trouble]:
    """Without end."""
    every = [trouble for trouble in troubles() if trouble.kind.startswith(options.only)]
    random = Random(options.seed)
    yield from every
    while every:
        yield random.choice(every)


if __name__ == "__main__":
    sys.exit(main())
