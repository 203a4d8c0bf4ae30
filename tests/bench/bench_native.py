"""How fast generated network functions are, beside the same ones written by hand and beside what the machine can do.

    python tests/bench/bench_native.py [--nf NAME]... [--flows N]... [--distribution uniform|zipf]... [--out FILE.json]
                                       [--build FOLDER] [--seconds S] [--repetitions N]

One core, packets of 64 bytes in memory, batches of 32. Each row is a process of its own, in which the columns take
turns; medians are shown.

  generated  what `polysome compile` makes of examples/NAME, on whole packets
  fields     the same on the frames of a switch that keeps the packets: fields come in, edits go out
  hand       the same network function on DPDK's rte_hash (native/hand)
  limit      reading one random line of 64 bytes per packet, 32 at a time, of as much memory as `generated` takes
  fastclick  what is nearest of FastClick's own elements (native_fastclick.py says how near), in a process of its own
             right after the others; only if FASTCLICK_DIR says where FastClick is installed

All get the same packets and have room for as many flows; the first three are checked against each other first. Speeds
include the copying of the packets, which alone runs at `source_mpps` (`fastclick_source_mpps`: FastClick's packets).
Bytes per flow: what the process grew by while flows were opened, for generated and hand-written code, and what the
generated code says of its maps. Rows flow_map and flow_map_insert are the flow map alone: lookups with refresh, and
inserts with as many entries ending. Rows that memory is too short for are left out, which is said. Only ratios say
anything about other machines.

Exit codes: 0 fine, 1 a row failed, 2 wrong arguments, 3 something is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from native_build import ROOT, build, missing, programs
from native_fastclick import FastClick
from native_nfs import NFS, resized

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.sizes import sizes
from polysome.config.load import load_config
from polysome.ir import program as ir
from polysome.syntax.diagnostics import Report

FLOWS = (1 << 16, 1 << 20, 1 << 23)
DISTRIBUTIONS = ("uniform", "zipf")
FLOW_MAP = {"flow_map": "no", "flow_map_insert": "yes"}  # the flow map alone; is it inserts?
COLUMNS = ("generated", "fields", "hand", "limit", "source")

# What a row takes at most: the tables of each column, and a trace of two packets per flow, whole and as fields.
BYTES, BYTES_PER_FLOW = 1 << 29, 1100


# ---------------------------------------------------------------- a row


def command_of(name: str, program: ir.Program | None, flows: int, distribution: str, scratch: Path) -> list[str]:
    """The row's program and what it is called with; its files are put into `scratch`."""
    what = ["--flows", str(flows), "--distribution", distribution]
    if program is None:
        return ["bench_table", *what, "--inserts", FLOW_MAP[name]]
    config = NFS[name](program, flows)
    files = []
    for table, text in config.files.items():
        path = scratch / (f"{table}.csv" if table else "config.toml")
        path.write_text(text, encoding="utf-8")
        files.append(f"{table}={path}" if table else str(path))
    (scratch / "rows").write_text("\n".join(" ".join(map(str, row)) for row in config.rows), encoding="utf-8")
    (scratch / "config").write_bytes(encode(program, load_config(program, files, Report())))
    return [
        *(f"bench_{name}", *what),
        *("--rows", str(scratch / "rows"), "--config", str(scratch / "config")),
        *("--sizes", ",".join(map(str, sizes(resized(program, flows))))),
    ]


def run_row(
    name: str,
    program: ir.Program | None,
    flows: int,
    distribution: str,
    options: argparse.Namespace,
    fastclick: FastClick | None,
) -> dict[str, Any] | None:
    """One row, or None if its program fails; then it has said why."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out.json"
        program_name, *rest = command_of(name, program, flows, distribution, Path(scratch))
        command = [
            *(str(options.build / program_name), *rest),
            *(f"--benchmark_out={out}", "--benchmark_out_format=json", "--benchmark_enable_random_interleaving=true"),
            *(f"--benchmark_repetitions={options.repetitions}", f"--benchmark_min_time={options.seconds}"),
        ]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{name}, {flows} flows, {distribution}: ended with code {done.returncode}", file=sys.stderr)
            print(done.stderr, file=sys.stderr)
            return None
        found = row(name, flows, distribution, json.loads(out.read_text(encoding="utf-8")))
    if fastclick is not None and program is not None:
        found |= fastclick.run(name, NFS[name](program, flows), flows, distribution)
    return found


def row(name: str, flows: int, distribution: str, said: dict[str, Any]) -> dict[str, Any]:
    """One object from what Google Benchmark says: medians over the repetitions."""
    found: dict[str, Any] = {"nf": name, "flows": flows, "distribution": distribution}
    for column in COLUMNS:
        runs = [b for b in said["benchmarks"] if b["run_type"] == "iteration" and b["run_name"] == column]
        if runs:
            found[f"{column}_mpps"] = round(statistics.median(b["packets"] for b in runs) / 1e6, 3)
            # Cycles that this process had: another one's do not count.
            own = [b["cycles"] * b["cpu_time"] / b["real_time"] for b in runs]
            found[f"{column}_cycles"] = round(statistics.median(own), 1)
    context = said["context"]
    for member, key in (
        ("generated_rss_per_flow", "generated_bytes"),
        ("hand_rss_per_flow", "hand_bytes"),
        ("generated_memory_per_flow", "generated_memory"),
    ):
        if key in context:
            found[member] = round(int(context[key]) / flows, 1)
    if "generated_bytes_per_entry" in context:
        found["generated_bytes_per_entry"] = int(context["generated_bytes_per_entry"])
    found["sent"] = float(context.get("sent", 1))
    return found


# ---------------------------------------------------------------- the table

RATIOS = (
    ("gen/hand", "generated_mpps", "hand_mpps"),
    ("gen/fc", "generated_mpps", "fastclick_mpps"),
    ("flds/fc", "fields_mpps", "fastclick_mpps"),
    ("gen/lim", "generated_mpps", "limit_mpps"),
)
SPEEDS = ("generated", "fields", "hand", "fastclick", "limit")
SIZES = (("gen", "generated_rss_per_flow"), ("says", "generated_memory_per_flow"), ("hand", "hand_rss_per_flow"))


def header() -> str:
    """The table's two lines above the first row."""
    first = f"{'':<33}" + "".join(f"{column:>14}" for column in SPEEDS) + f"{'':>{9 * len(RATIOS)}}  bytes per flow"
    second = f"{'nf':<16}{'flows':>8} {'distr.':<8}" + f"{'Mpps':>8}{'cyc.':>6}" * len(SPEEDS)
    return f"{first}\n{second}" + "".join(f"{r:>9}" for r, _, _ in RATIOS) + "".join(f"{s:>6}" for s, _ in SIZES)


def shown(found: dict[str, Any]) -> str:
    """A line of the table; what was not measured is a dash."""
    cells = [f"{found['nf']:<16}{found['flows']:>8} {found['distribution']:<8}"]
    for column in SPEEDS:
        mpps, cycles = found.get(f"{column}_mpps"), found.get(f"{column}_cycles")
        cells.append(f"{'-':>14}" if mpps is None else f"{mpps:>8.2f}{cycles:>6.0f}")
    for _, above, below in RATIOS:
        known = above in found and below in found
        cells.append(f"{found[above] / found[below]:>9.2f}" if known else f"{'-':>9}")
    cells += [f"{found[member]:>6.0f}" if member in found else f"{'-':>6}" for _, member in SIZES]
    return "".join(cells)


# ---------------------------------------------------------------- all rows


def free_bytes() -> int:
    """Memory that can be had now."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def short_of_memory(name: str, flows: int, distribution: str) -> bool:
    """Says so if there is too little memory for a row."""
    needed, free = BYTES + flows * BYTES_PER_FLOW, free_bytes()
    if needed <= free:
        return False
    print(
        f"{name}, {flows} flows, {distribution}: left out, as it may need {needed / 2**30:.1f} GiB of memory and "
        f"{free / 2**30:.1f} GiB are free",
        file=sys.stderr,
    )
    return True


def parse_arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nf", action="append", choices=(*NFS, *FLOW_MAP), metavar="NAME")
    options.add_argument("--flows", action="append", type=int)
    options.add_argument("--distribution", action="append", choices=DISTRIBUTIONS)
    options.add_argument("--out", type=Path, help="write one object per row to this file")
    options.add_argument("--build", type=Path, default=ROOT / "build" / "bench")
    options.add_argument("--seconds", type=float, default=0.5, help="per measurement")
    options.add_argument("--repetitions", type=int, default=3)
    given = options.parse_args()
    for flows in given.flows or ():
        if not 64 <= flows <= 1 << 24:
            options.error(f"--flows is from 64 to {1 << 24}, not {flows}")
    return given


def wanted(options: argparse.Namespace) -> list[tuple[str, int, str]]:
    """NF, flows and distribution of each row."""
    rows = []
    for name in options.nf or (*NFS, *FLOW_MAP):
        # New flows have no distribution.
        distributions = ("uniform",) if name == "flow_map_insert" else options.distribution or DISTRIBUTIONS
        rows += [(name, flows, each) for flows in options.flows or FLOWS for each in distributions]
    return rows


def main() -> int:
    options = parse_arguments()
    lacks = missing()
    if lacks is not None:
        print(lacks, file=sys.stderr)
        return 3
    rows = wanted(options)
    checked = programs([name for name in dict.fromkeys(name for name, _, _ in rows) if name in NFS])
    if not build(checked, options.build, alone=any(name in FLOW_MAP for name, _, _ in rows)):
        return 1
    fastclick = FastClick.installed(options.build, options.seconds, options.repetitions) if checked else None
    print(header())
    found, failed = [], False
    for name, flows, distribution in rows:
        if short_of_memory(name, flows, distribution):
            continue
        one = run_row(name, checked.get(name), flows, distribution, options, fastclick)
        if one is None:
            failed = True
            continue
        found.append(one)
        print(shown(one), flush=True)
        if options.out is not None:
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return int(failed or (fastclick is not None and fastclick.failed))


if __name__ == "__main__":
    sys.exit(main())
