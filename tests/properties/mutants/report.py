"""Tries all mutants and reports which property catches which: `python -m tests.properties.mutants.report`.

`… prove` tries those of the emitted P4 on the prover instead (tests/prove/mutants).

Every mutant has a process and a budget of its own. Exit code 1 if a mutant that is not equivalent gets away.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.properties.mutants.harness import MUTANTS, ROOT
from tests.properties.mutants.kinds import SpecMutant

MOST_PACKETS = 6  # of a spec mutant's smallest counterexample


def tried(name: str, seconds: float, seed: int, first: bool) -> dict[str, Any]:
    """The harness's answer for one mutant, or why there is none."""
    command = [sys.executable, "-m", "tests.properties.mutants.harness", name, "--seconds", str(seconds)]
    command += ["--seed", str(seed), *(["--first"] if first else [])]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds + 300, check=True)
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or [f"exit code {error.returncode}"])[-1]
        return {"name": name, "error": last[:200]}
    except subprocess.TimeoutExpired:
        return {"name": name, "error": "no answer in time"}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """One line per mutant, then which property catches how many, then the sums."""
    lines, by_property, kinds = [], Counter[str](), defaultdict[str, Counter[str]](Counter)
    away, large, caught = [], [], 0
    for row in rows:
        mutant = MUTANTS[row["name"]]
        found = row.get("caught", {})
        if found:
            first = min(found.items(), key=lambda item: item[1]["seconds"])
            fewest = min(f["packets"] for f in found.values())
            what = f"{first[0]} after {first[1]['seconds']} s; {len(found)} in all; {fewest} packets at least"
            caught += 1
            if isinstance(mutant, SpecMutant) and fewest > MOST_PACKETS:
                large.append(mutant.name)
        else:
            tried_with = f"in {row['traces']} traces" if "traces" in row else f"by {row.get('tests')} tests"
            what = row.get("error") or row.get("refused") or f"NOT CAUGHT {tried_with}"
            if mutant.equivalent is not None:
                what = f"equivalent: {mutant.equivalent}"
            else:
                away.append(mutant.name)
        kinds[mutant.kind.name]["caught" if found else "not"] += 1
        by_property.update(found.keys())
        lines.append(f"{mutant.name:<55} {mutant.kind.name:<15} {what}")
    lines += ["", "caught by"] + [f"  {count:>4}  {name}" for name, count in by_property.most_common()]
    lines += ["", "kinds"] + [f"  {name:<16} {c['caught']} of {c.total()}" for name, c in sorted(kinds.items())]
    real = sum(m.equivalent is None for m in (MUTANTS[r["name"]] for r in rows))
    lines += ["", f"{caught} of {real} caught ({100 * caught / max(1, real):.1f} %)"]
    lines += [f"  got away: {name}" for name in away] + [
        f"  more than {MOST_PACKETS} packets: {name}" for name in large
    ]
    return lines


def main() -> None:
    if sys.argv[1:2] == ["prove"]:
        from tests.prove.mutants import report

        sys.exit(report.main(sys.argv[2:]))
    parser = argparse.ArgumentParser(description="Try all mutants, or those whose name contains a text.")
    parser.add_argument("contains", nargs="*", default=[""])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--first", action="store_true", help="stop at the first property that fails")
    parser.add_argument("--json", type=Path, help="one object per mutant, as lines")
    options = parser.parse_args()
    names = [name for name in MUTANTS if any(text in name for text in options.contains)]
    rows = []
    with ThreadPoolExecutor(options.processes) as pool:
        for row in pool.map(lambda n: tried(n, options.seconds, options.seed, options.first), names):
            rows.append(row)
            if options.json is not None:  # what an interrupted run has found so far is kept
                options.json.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    print("\n".join(table(rows)))
    sys.exit(any(not r.get("caught") and MUTANTS[r["name"]].equivalent is None for r in rows))


if __name__ == "__main__":
    main()
