"""What generated traffic reaches in the examples: by hand, to see what a change of its distribution does.

    python tests/bench/bench_traffic.py [--traces N] [--seed N] [--full] [EXAMPLE...]     default: all, small state

Per example: ms per trace, packets per flow, how packets ended, how entries ended, and the branches of handlers that
were taken one way only.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

from polysome.engines import ENGINES
from polysome.engines.options import RunOptions
from polysome.resources import MEANING
from polysome.testing import traffic
from polysome.testing.coverage import measure as branches
from polysome.testing.spec import Spec, load

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ENDS = ("idle", "age", "evicted", "removed")


def measure(spec: Spec, count: int, seed: int) -> dict[str, Any]:
    """One example."""
    program = spec.program
    start = time.perf_counter()
    traces = list(traffic.seeded(spec, seed, count=count))
    seconds = time.perf_counter() - start
    fates: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    flows: list[float] = []
    by_port: Counter[str] = Counter()
    for trace in traces:
        record = ENGINES[MEANING].run(program, trace, RunOptions())
        ends.update(ENDS[e.why] for e in record.ends)
        classes = Counter(str(f.order_class) for f in record.fates)
        flows.append(len(record.fates) / max(1, len(classes)))
        for fate in record.fates:
            fates["sent" if fate.sent else fate.reason or "held"] += 1
            by_port[program.ports[fate.arrival.port]] += 1
            by_port[program.ports[fate.arrival.port] + " sent"] += fate.sent
        fates["(emitted)"] += len(record.emitted)
    packets = sum(len(trace.arrivals) for trace in traces)
    return {
        "ms": seconds * 1000 / count,
        "packets": packets,
        "flow": sum(flows) / len(flows),
        "fates": fates,
        "ends": ends,
        "ports": by_port,
        "coverage": branches(spec, traces),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--full", action="store_true", help="state as the spec declares it")
    parser.add_argument("examples", nargs="*")
    args = parser.parse_args()
    names = args.examples or sorted(path.parent.name for path in EXAMPLES.glob("*/*.nf"))
    for name in names:
        spec = load(EXAMPLES / name / f"{name}.nf")
        found = measure(spec if args.full else spec.small(), args.traces, args.seed)
        print(f"{name}: {found['ms']:.1f} ms a trace, {found['packets']} packets, {found['flow']:.1f} per class")
        for what in ("fates", "ends"):
            for key, number in found[what].most_common():
                print(f"  {key:<46}{number:>6}{number / found['packets']:>8.1%}")
        shares = {p: found["ports"][f"{p} sent"] / max(1, n) for p, n in found["ports"].items() if " " not in p}
        coverage = found["coverage"]
        print(f"  branches {len(coverage.reached)} reached, {len(coverage.missing)} missing")
        for outcome in coverage.missing:
            line, column = spec.program.sources[outcome.point.span.file].position(outcome.point.span.start)
            print(f"    {Path(outcome.point.span.file).name}:{line}:{column} {outcome.point.kind} {outcome.name}")
        print("  sent by port:", ", ".join(f"{p} {share:.0%}" for p, share in shares.items()))


if __name__ == "__main__":
    main()
