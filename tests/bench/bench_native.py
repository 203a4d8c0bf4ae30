"""How fast generated network functions are, beside the same ones written by hand and beside what the machine can do.

    python tests/bench/bench_native.py [--nf NAME]... [--flows N]... [--distribution uniform|zipf]... [--out FILE.json]
                                       [--build FOLDER] [--seconds S] [--repetitions N]

One core, whole packets of 64 bytes in memory, batches of 32. Each row is a process of its own, in which the columns
take turns; medians are shown. `generated` is what `polysome compile` makes of examples/NAME; `hand` is the same network
function on DPDK's rte_hash (tests/bench/native/hand); both get the same packets, have room for as many flows, and are
checked against each other first. `limit` is reading one random line of 64 bytes per packet, 32 at a time, of as much
memory as the generated code takes for its flows. Rows flow_map and flow_map_insert are the flow map alone: lookups with
refresh, and inserts with as many entries ending. Only ratios say anything about other machines.

Exit codes: 0 fine, 1 a row failed, 2 wrong arguments, 3 something is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polysome.backends.nf_cpp.config_blob import encode
from polysome.backends.nf_cpp.generate import generate
from polysome.backends.nf_cpp.sizes import sizes
from polysome.backends.nf_cpp.types_code import Unsupported
from polysome.config.load import load_config
from polysome.ir import program as ir
from polysome.semantics.check import check
from polysome.syntax.diagnostics import Report

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(__file__).resolve().parent / "native"
FLOWS = (1 << 16, 1 << 20, 1 << 23)
DISTRIBUTIONS = ("uniform", "zipf")

PORTS_PER_ADDRESS = 65536 - 1024
BACKENDS, PLANS, RULES = 16, 1000, 1000


@dataclass(frozen=True)
class Config:
    """What an NF is configured with: text of config files by `--config` argument, and the same as rows of numbers.

    `files` has `""` for a TOML file, else the table's name for a CSV file. `rows` is what hand/NAME.cpp reads.
    """

    files: dict[str, str]
    rows: Sequence[tuple[int, ...]]


# ---------------------------------------------------------------- what the network functions are configured with


def ipv4(value: int) -> str:
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def mac(value: int) -> str:
    return value.to_bytes(6, "big").hex(":")


def subscriber(flow: int) -> int:
    """The source address of a flow (native/traffic.hpp)."""
    return 10 << 24 | flow * 0x9E3779B1 & 0xFFFFFF


def load_balancer(program: ir.Program, flows: int) -> Config:
    servers = program.ports.index("servers")
    rows = [(0x0A000101 + i, 0x020000000B01 + i, servers) for i in range(BACKENDS)]
    lines = [f'  {{ ip = "{ipv4(ip)}", mac = "{mac(m)}", uplink = "servers" }},' for ip, m, _ in rows]
    return Config({"": "\n".join(["backends = [", *lines, "]"])}, rows)


def nat(program: ir.Program, flows: int) -> Config:
    """As many addresses as the flows need, half of which are TCP and half UDP."""
    addresses = [0x64400000 + i for i in range(-(-flows // 2 // PORTS_PER_ADDRESS))]
    return Config({"": f"pool_addresses = {json.dumps([ipv4(a) for a in addresses])}"}, [(a,) for a in addresses])


def firewall(program: ir.Program, flows: int) -> Config:
    return Config({}, [])


def policer(program: ir.Program, flows: int) -> Config:
    """Most have the example's default plan, some one of their own: kbit/s and kB."""
    default = (200, 4, 400, 8)
    own = {subscriber(flow): (10_000 + flow, 64, 20_000 + flow, 128) for flow in range(PLANS)}
    cir, cbs, pir, pbs = default
    toml = f'default_plan = {{ cir = "{cir}Kbps", cbs = "{cbs}KB", pir = "{pir}Kbps", pbs = "{pbs}KB" }}'
    lines = [f"{ipv4(a)},{cir}Kbps,{cbs}KB,{pir}Kbps,{pbs}KB" for a, (cir, cbs, pir, pbs) in own.items()]
    rows = [
        (a, 1000 * cir, 1000 * cbs, 1000 * pir, 1000 * pbs) for a, (cir, cbs, pir, pbs) in {0: default, **own}.items()
    ]
    return Config({"": toml, "plans": "\n".join(["key,cir,cbs,pir,pbs", *lines])}, rows)


def telemetry(program: ir.Program, flows: int) -> Config:
    own, collector = (0x020000000003, 0xC0000209), (0x020000000009, 0xC000020A)
    toml = (
        f'[exporter]\nmac = "{mac(own[0])}"\nip = "{ipv4(own[1])}"\n'
        f'collector_mac = "{mac(collector[0])}"\ncollector_ip = "{ipv4(collector[1])}"\nport = 9900\n'
    )
    return Config({"": toml}, [(*own, *collector, 9900)])


def acl(program: ir.Program, flows: int) -> Config:
    """Rules as a site has them: from a network, to a network, to a service; the last permits all that is left."""
    choice = random.Random(1)
    csv, rows = ["from,src,dst,protocol,sport,dport,effect,counter"], []
    for i in range(RULES - 1):
        src_length, dst_length = choice.choice((0, 16, 20, 24, 28, 32)), choice.choice((15, 20, 24, 28, 32))
        src = subscriber(choice.randrange(1 << 24)) >> 32 - src_length << 32 - src_length
        dst = 0xC6120000 + choice.randrange(1 << 17) >> 32 - dst_length << 32 - dst_length
        if src_length == 0 and dst_length < 24:
            src_length, src = 24, subscriber(choice.randrange(1 << 24)) >> 8 << 8
        protocol, service = choice.choice((6, 17)), choice.choice((22, 25, 53, 80, 123, 443, 8080))
        effect = choice.choice(("permit", "permit", "permit", "deny"))
        from_ = f"::ffff:{ipv4(src)}/{96 + src_length}" if src_length else "*"
        csv.append(f"inside,{from_},::ffff:{ipv4(dst)}/{96 + dst_length},{protocol},*,{service},{effect},{i % 255}")
        permit = int(effect == "permit")
        rows.append((0, src, src_length, dst, dst_length, protocol, 0, 65535, service, service, permit, i % 255))
    csv.append("*,*,*,*,*,*,permit,255")
    rows.append((2, 0, 0, 0, 0, 256, 0, 65535, 0, 65535, 1, 255))
    return Config({"rules": "\n".join(csv)}, rows)


FLOW_MAP = {"flow_map": "no", "flow_map_insert": "yes"}  # the flow map alone; is it inserts?
NFS: dict[str, Callable[[ir.Program, int], Config]] = {
    made.__name__: made for made in (load_balancer, nat, firewall, policer, telemetry, acl)
}


# ---------------------------------------------------------------- building


def missing() -> str | None:
    """What is not installed, and how to get it."""
    packages = []
    if shutil.which("clang++") is None:
        packages += ["clang", "lld"]
    elif shutil.which("ld.lld") is None:
        packages.append("lld")
    packages += [
        package for tool, package in (("cmake", "cmake"), ("ninja", "ninja-build")) if shutil.which(tool) is None
    ]
    if shutil.which("pkg-config") is None:
        packages += ["pkg-config", "libdpdk-dev", "libbenchmark-dev"]
    else:
        libraries = (("libdpdk", "libdpdk-dev"), ("benchmark", "libbenchmark-dev"))
        packages += [p for name, p in libraries if subprocess.run(["pkg-config", "--exists", name]).returncode != 0]
    if not packages:
        return None
    return f"the native bench needs {', '.join(packages)}. Debian, Ubuntu: apt install {' '.join(packages)}"


def programs(names: Sequence[str]) -> dict[str, ir.Program]:
    """The examples, checked."""
    return {name: check(ROOT / "examples" / name / f"{name}.nf", Report()) for name in names}


def write_generated(checked: dict[str, ir.Program], folder: Path) -> None:
    """NAME.hpp of each; files whose text stays the same are left alone, so that nothing is built twice."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in checked.items():
        path = folder / f"{name}.hpp"
        try:
            text = generate(program)
        except Unsupported as error:
            print(f"{name} has no generated code: {error}", file=sys.stderr)
            path.unlink(missing_ok=True)
            continue
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def build(checked: dict[str, ir.Program], folder: Path) -> bool:
    """Builds a program for each; prints what the compiler says if one does not build."""
    write_generated(checked, folder / "generated")
    configure = [
        "cmake",
        "-G",
        "Ninja",
        "-S",
        str(SOURCE),
        "-B",
        str(folder),
        f"-DGENERATED_DIR={folder / 'generated'}",
    ]
    environment = {**os.environ, "CXX": os.environ.get("CXX", "clang++")}
    targets = [*(f"bench_{name}" for name in checked), "bench_table"]
    for command in (configure, ["ninja", "-C", str(folder), *targets]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            print(done.stdout + done.stderr, file=sys.stderr)
            return False
    return True


# ---------------------------------------------------------------- running


def resized(program: ir.Program, flows: int) -> ir.Program:
    """The same with room for so many flows in each of its maps."""
    state = {
        name: replace(decl, capacity=flows) if isinstance(decl, ir.MapDecl) else decl
        for name, decl in program.state.items()
    }
    return replace(program, state=state)


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
    name: str, program: ir.Program | None, flows: int, distribution: str, options: argparse.Namespace
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
        return row(name, flows, distribution, json.loads(out.read_text(encoding="utf-8")))


def row(name: str, flows: int, distribution: str, said: dict[str, Any]) -> dict[str, Any]:
    """One object from what Google Benchmark says: medians over the repetitions."""
    found: dict[str, Any] = {"nf": name, "flows": flows, "distribution": distribution}
    for column in ("generated", "hand", "limit", "source"):
        runs = [b for b in said["benchmarks"] if b["run_type"] == "iteration" and b["run_name"] == column]
        if runs:
            found[f"{column}_mpps"] = round(statistics.median(b["packets"] for b in runs) / 1e6, 3)
            # Cycles that this process had: another one's do not count.
            own = [b["cycles"] * b["cpu_time"] / b["real_time"] for b in runs]
            found[f"{column}_cycles"] = round(statistics.median(own), 1)
    for column in ("generated", "hand"):
        if f"{column}_bytes" in said["context"]:
            found[f"{column}_bytes_per_flow"] = round(int(said["context"][f"{column}_bytes"]) / flows, 1)
    found["sent"] = float(said["context"].get("sent", 1))
    return found


HEADER = (
    f"{'nf':<16}{'flows':>8} {'distr.':<8}{'generated':>15}{'hand':>15}{'limit':>15}{'gen/hand':>9}{'gen/limit':>10}"
    f"{'bytes/flow':>13}\n{'':<33}" + "    Mpps cycles" * 3 + f"{'':>19}{'gen':>7}{'hand':>6}"
)


def shown(found: dict[str, Any]) -> str:
    """A line of the table."""
    cells = [f"{found['nf']:<16}{found['flows']:>8} {found['distribution']:<8}"]
    for column in ("generated", "hand", "limit"):
        mpps, cycles = found.get(f"{column}_mpps"), found.get(f"{column}_cycles")
        cells.append(f"{'-':>15}" if mpps is None else f"{mpps:>8.2f}{cycles:>7.0f}")
    if "generated_mpps" in found:
        cells.append(f"{found['generated_mpps'] / found['hand_mpps']:>9.2f}")
        cells.append(f"{found['generated_mpps'] / found['limit_mpps']:>10.3f}")
        cells.append(f"{found['generated_bytes_per_flow']:>7.0f}")
    else:
        cells.append(f"{'-':>9}{'-':>10}{'-':>7}")
    cells.append(f"{found['hand_bytes_per_flow']:>6.0f}")
    return "".join(cells)


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


def main() -> int:
    options = parse_arguments()
    lacks = missing()
    if lacks is not None:
        print(lacks, file=sys.stderr)
        return 3
    names = options.nf or (*NFS, *FLOW_MAP)
    checked = programs([name for name in names if name in NFS])
    if not build(checked, options.build):
        return 1
    rows, failed = [], False
    print(HEADER)
    for name in names:
        for flows in options.flows or FLOWS:
            # New flows have no distribution.
            distributions = ("uniform",) if name == "flow_map_insert" else options.distribution or DISTRIBUTIONS
            for distribution in distributions:
                found = run_row(name, checked.get(name), flows, distribution, options)
                if found is None:
                    failed = True
                    continue
                rows.append(found)
                print(shown(found), flush=True)
                if options.out is not None:
                    options.out.parent.mkdir(parents=True, exist_ok=True)
                    options.out.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
