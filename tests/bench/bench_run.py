"""How long `polysome run` takes beside dpkt's parsing of the same captures: what exactness costs.

Both work in one process and in turns; the ratio of medians is what counts, the aim is at most 15. `polysome run` is
timed whole: reading the capture, parsing, deciding, applying, scheduling and writing what leaves.

    python tests/bench/bench_run.py [--rounds N] [CAPTURE...]     default: the examples' own captures, repeated
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import dpkt

from polysome.captures.read import open_capture
from polysome.captures.write import PcapngWriter
from polysome.cli.feeding import Feed
from polysome.cli.results import Output
from polysome.config.load import load_config
from polysome.engines import ENGINES
from polysome.engines.feed import Gaps, Turns
from polysome.engines.options import RunOptions
from polysome.resources import MEANING
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
ENOUGH = 20_000  # packets per measurement, by repeating a small capture


def dpkt_seconds(captures: list[Path], repeats: int) -> float:
    """Reading and parsing with dpkt: Ethernet, IP and layer 4, as its objects."""
    start = time.perf_counter()
    for _ in range(repeats):
        for capture in captures:
            with capture.open("rb") as file:
                for _, data in dpkt.pcap.UniversalReader(file):
                    with suppress(dpkt.UnpackError, ValueError, IndexError):
                        dpkt.ethernet.Ethernet(data)
    return time.perf_counter() - start


def runner(example: str, captures: list[Path], repeats: int) -> Callable[[], float]:
    """A function that runs the example over the captures once and returns the seconds."""
    folder = EXAMPLES / example
    report = Report()
    program = check(folder / f"{example}.nf", report)
    files = [str(p) for p in folder.glob("config*.toml")] + [f"{p.stem}={p}" for p in folder.glob("*.csv")]
    values = load_config(program, files, report)

    def run() -> float:
        with tempfile.TemporaryDirectory() as scratch:
            start = time.perf_counter()
            for _ in range(repeats):
                for capture in captures:
                    with PcapngWriter(Path(scratch) / "out.pcapng", program.ports) as writer:
                        output = Output(program, writer)
                        running = ENGINES[MEANING].start(program, values, RunOptions())
                        feed = Feed(running, ENGINES[MEANING], Turns.of(program, values), Gaps(3600 * 10**9), output)
                        feed.all(((None, c) for c in open_capture(capture)), [], lambda: None)
            return time.perf_counter() - start

    return run


def packets_in(captures: list[Path]) -> int:
    return sum(1 for capture in captures for _ in open_capture(capture))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("captures", nargs="*", type=Path)
    options.add_argument("--rounds", type=int, default=5)
    arguments = options.parse_args()
    print(f"{'example':<15} {'packets':>8} {'run µs/pkt':>11} {'dpkt µs/pkt':>12} {'ratio':>6}")
    for spec in sorted(EXAMPLES.glob("*/*.nf")):
        captures = arguments.captures or sorted(spec.parent.glob("*.pcap"))
        count = packets_in(captures)
        if not count:
            continue
        repeats = max(1, ENOUGH // count)
        run = runner(spec.parent.name, captures, repeats)
        ours, theirs = [], []
        for _ in range(arguments.rounds):
            theirs.append(dpkt_seconds(captures, repeats))
            ours.append(run())
        a, b = (1e6 * statistics.median(x) / (count * repeats) for x in (ours, theirs))
        print(f"{spec.parent.name:<15} {count * repeats:>8} {a:>11.1f} {b:>12.1f} {a / b:>6.2f}")


if __name__ == "__main__":
    main()
