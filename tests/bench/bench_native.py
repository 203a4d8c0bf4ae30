"""How fast generated network functions are, beside the same ones written by hand and beside what the machine can do.

    python tests/bench/bench_native.py [--nf NAME]... [--flows N]... [--traffic uniform|zipf]... [--full]
                                       [--core N] [--out FILE.json] [--build FOLDER] [--seconds S] [--repetitions N]

One core, packets of 64 bytes in memory, in batches. Each row is a process of its own, in which the columns take turns.

  generated    what `polysome compile` makes of examples/NAME, on whole packets
  fields       the same on the frames of a switch that keeps the packets: fields come in, edits go out
  equal        the same network function by hand (native/rivals), which does all that the spec says
  approximate  by hand, as people do it: entries end when somebody comes across them, a sample says which is oldest
  limit        reading one random line of 64 bytes per packet, 32 at a time, of as much memory as `generated` takes, but
               of at least four times the last cache
  fastclick    what is nearest of FastClick's own elements (native_fastclick.py says how near), in a process of its own
               right after the others; only if FASTCLICK_DIR says where FastClick is installed

All get the same packets and have room for as many flows; what they do is compared first. Speeds include the copying of
the packets, which alone runs at `source`. Rows flow_map and flow_map_insert are the flow map alone: lookups with
refresh, and inserts with as many entries ending. The table is Markdown: million packets per second, medians of the
repetitions, ± half of what lies between the lowest and the highest; README.md says what else. Rows that memory is too
short for are left out, which is said. Only ratios say anything about other machines.

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from native_build import ROOT, build, missing, programs
from native_fastclick import FastClick
from native_nfs import NFS, resized
from native_table import closing, header, shown

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.sizes import sizes
from polysome.config.load import load_config
from polysome.ir import program as ir
from polysome.syntax.diagnostics import Report

FLOWS = (1 << 16, 1 << 20, 1 << 23)
TRAFFIC = ("uniform", "zipf")
FLOW_MAP = {"flow_map": "no", "flow_map_insert": "yes"}  # the flow map alone; is it inserts?
COLUMNS = ("generated", "fields", "equal", "approximate", "limit", "source")
STEPPED = 1 << 16  # flows up to which instructions are counted: it takes seconds

# What a row takes at most: the tables of each column, and a trace of two packets per flow, whole and as fields.
BYTES, BYTES_PER_FLOW = 1 << 30, 1100


# ---------------------------------------------------------------- a row


def command_of(name: str, program: ir.Program | None, flows: int, traffic: str, scratch: Path) -> list[str]:
    """The row's program and what it is called with; its files are put into `scratch`."""
    what = ["--flows", str(flows), "--traffic", traffic]
    if program is None:
        return ["bench_table", *what, "--inserts", FLOW_MAP[name]]
    config = NFS[name](program, flows)
    (scratch / "rows").write_text(config.row_lines, encoding="utf-8")
    (scratch / "config").write_bytes(encode(program, load_config(program, config.written(scratch), Report())))
    return [
        *(f"bench_{name}", *what),
        *("--rows", str(scratch / "rows"), "--config", str(scratch / "config")),
        *("--sizes", ",".join(map(str, sizes(resized(program, flows))))),
        *("--instructions", "yes" if flows <= STEPPED else "no"),
    ]


def run_row(
    name: str,
    program: ir.Program | None,
    flows: int,
    traffic: str,
    options: argparse.Namespace,
    fastclick: FastClick | None,
) -> dict[str, Any] | None:
    """One row, or None if its program fails; then it has said why."""
    with tempfile.TemporaryDirectory() as scratch:
        program_name, *rest = command_of(name, program, flows, traffic, Path(scratch))
        command = [str(options.build / program_name), *rest, "--core", str(options.core)]
        command += ["--seconds", str(options.seconds), "--repetitions", str(options.repetitions)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{name}, {flows} flows, {traffic}: ended with code {done.returncode}", file=sys.stderr)
            print(done.stderr, file=sys.stderr)
            return None
        found = row(name, flows, traffic, json.loads(done.stdout))
    if fastclick is not None and program is not None:
        found |= fastclick.run(name, NFS[name](program, flows), flows, traffic)
    return found


def row(name: str, flows: int, traffic: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """One object from what a program says: medians over the repetitions, the lowest and the highest of them."""
    found: dict[str, Any] = {"nf": name, "flows": flows, "traffic": traffic}
    for member, value in said.items():
        if isinstance(value, list):
            found |= {member: round(statistics.median(value), 3), f"{member}_spread": [min(value), max(value)]}
        elif member.endswith("_resident") and value > 0:
            found[f"{member}_per_flow"] = round(value / flows, 1)
        elif not member.endswith("_resident"):
            found[member] = value
    if "generated_memory" in found:
        found["generated_memory_per_flow"] = round(found["generated_memory"] / flows, 1)
    if "counted" in found:
        found["instructions_by"] = "the processor's counter" if found.pop("counted") else "single steps"
    return found


# ---------------------------------------------------------------- all rows


def free_bytes() -> int:
    """Memory that can be had now."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def short_of_memory(name: str, flows: int, traffic: str) -> bool:
    """Says so if there is too little memory for a row."""
    needed, free = BYTES + flows * BYTES_PER_FLOW, free_bytes()
    if needed <= free:
        return False
    print(
        f"{name}, {flows} flows, {traffic}: left out, as it may need {needed / 2**30:.1f} GiB of memory and "
        f"{free / 2**30:.1f} GiB are free",
        file=sys.stderr,
    )
    return True


def parse_arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nf", action="append", choices=(*NFS, *FLOW_MAP), metavar="NAME")
    options.add_argument("--flows", action="append", type=int)
    options.add_argument("--traffic", action="append", choices=TRAFFIC)
    options.add_argument("--full", action="store_true", help="all kinds of traffic, not only uniform flows")
    options.add_argument(
        "--core", type=int, default=max(os.sched_getaffinity(0)), help="if not the last one that may be used"
    )
    options.add_argument("--out", type=Path, help="write one object per row to this file")
    options.add_argument("--build", type=Path, default=ROOT / "build" / "bench")
    options.add_argument("--seconds", type=float, default=0.2, help="per measurement")
    options.add_argument("--repetitions", type=int, default=5)
    given = options.parse_args()
    for flows in given.flows or ():
        if not 64 <= flows <= 1 << 24:
            options.error(f"--flows is from 64 to {1 << 24}, not {flows}")
    return given


def wanted(options: argparse.Namespace) -> list[tuple[str, int, str]]:
    """NF, flows and traffic of each row."""
    rows = []
    for name in options.nf or (*NFS, *FLOW_MAP):
        kinds: Sequence[str] = options.traffic or (TRAFFIC if options.full else TRAFFIC[:1])
        if name == "flow_map_insert":  # what is new has no distribution
            kinds = ("uniform",)
        rows += [(name, flows, each) for flows in options.flows or FLOWS for each in kinds]
    return rows


def main() -> int:
    options = parse_arguments()
    lacks = missing()
    if lacks is not None:
        print(lacks, file=sys.stderr)
        return 3
    rows = wanted(options)
    checked = programs([name for name in dict.fromkeys(name for name, _, _ in rows) if name in NFS])
    print("building", file=sys.stderr)
    if not build(checked, options.build, alone=any(name in FLOW_MAP for name, _, _ in rows)):
        return 1
    fastclick = None
    if checked:
        fastclick = FastClick.installed(options.build, options.seconds, options.repetitions, options.core)
    print(header(fastclick is not None))
    found, failed = [], False
    for name, flows, traffic in rows:
        if short_of_memory(name, flows, traffic):
            continue
        print(f"{name}, {flows} flows, {traffic}", file=sys.stderr)
        one = run_row(name, checked.get(name), flows, traffic, options, fastclick)
        if one is None:
            failed = True
            continue
        found.append(one)
        print(shown(one, fastclick is not None), flush=True)
        if options.out is not None:
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(closing(found))
    return int(failed or (fastclick is not None and fastclick.failed))


if __name__ == "__main__":
    sys.exit(main())
