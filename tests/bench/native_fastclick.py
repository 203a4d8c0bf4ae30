"""FastClick's own elements on the traffic of the native bench: per network function, the nearest that there is.

FASTCLICK_DIR says where FastClick is installed (with dynamic linking and batches; `make` builds the source and sink,
native/fastclick, against it). With FastClick's flow system (--enable-flow), flow elements are taken; without it, what
Click always had. All packets pass CheckIPHeader first, which does what parsing does in the other columns. Tables are of
the flows' size; no flow ends within a run. How near they are:

  load_balancer  FlowIPLoadBalancer: sticky by flow; leaves both checksums and the MAC address as they were.
                 Else IPRewriter with RoundRobinIPMapper: right checksums; also enters the replies, which never come.
  nat            IPRewriter with RoundRobinIPMapper: a mapping and a public port per connection, not per inside
                 endpoint; no hairpinning, no ICMP errors.
  firewall       IPRewriter with `keep` and `drop`: only what was opened from inside comes in; TCP flags decide about
                 timeouts only, and a connection may begin without a SYN.
  policer        FlowRateLimiter: one bucket of packets per flow, at a rate that drops none; nothing is marked.
                 Else AggregateIP, AggregateCounter and BandwidthMeter: bytes per subscriber, but one rate for all.
  telemetry      FlowCounter: packets per flow. Else AggregateIPFlows and AggregateCounter: bytes per flow. Both export
                 nothing and have no sketches.
  acl            IPFilter with the same rules, which it compiles to a decision tree; it counts no hits.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from native_build import SOURCE
from native_nfs import Config, ipv4

from polysome.backends.templates import fill

CHECK = "CheckIPHeader(OFFSET 14, CHECKSUM false)"
MANAGERS = ("FlowIPManager_CuckooPP", "FlowIPManager_DPDK")  # the fastest first; both need DPDK

# Tables in large pages, as in the other columns; and memory that starts as zeros, which flow managers rely on.
TUNABLES = "glibc.malloc.hugetlb=1:glibc.malloc.perturb=255"


@dataclass(frozen=True)
class Around:
    """What a configuration is made for: the elements that FastClick has, the config, and how many flows."""

    classes: frozenset[str]
    config: Config
    flows: int

    @property
    def room(self) -> int:
        """Flows that tables are made for: hash tables do not fill up to the last place."""
        return self.flows + self.flows // 8 + 64

    def manager(self, *needed: str) -> str | None:
        """A flow manager for elements that need one, if FastClick has all of these."""
        if not self.classes.issuperset(needed):
            return None
        return next((f"{m}(CAPACITY {self.room})" for m in MANAGERS if m in self.classes), None)


def load_balancer(around: Around) -> list[str]:
    backends = [ipv4(row[0]) for row in around.config.rows]
    if manager := around.manager("FlowIPLoadBalancer"):
        dsts = ", ".join(f"DST {backend}" for backend in backends)
        return [f"t[0] -> {CHECK} -> {manager} -> FlowIPLoadBalancer(VIP 10.0.0.100, {dsts}) -> [0]t;"]
    patterns = ", ".join(f"- - {backend} - 0 1" for backend in backends)
    return [
        f"mapper :: RoundRobinIPMapper({patterns});",
        f"t[0] -> {CHECK} -> rw :: IPRewriter(mapper, MAPPING_CAPACITY {around.room}) -> [0]t;",
        "rw[1] -> Discard;",
    ]


def nat(around: Around) -> list[str]:
    patterns = ", ".join(f"{ipv4(row[0])} 1024-65535# - - 0 1" for row in around.config.rows)
    return [f"mapper :: RoundRobinIPMapper({patterns});", *_rewriter("mapper", around)]


def firewall(around: Around) -> list[str]:
    return _rewriter("keep 0 1", around)


def _rewriter(inside: str, around: Around) -> list[str]:
    """Port 0 opens connections by `inside`, port 1 answers."""
    return [
        f"rw :: IPRewriter({inside}, drop, MAPPING_CAPACITY {around.room});",
        f"t[0] -> {CHECK} -> [0]rw; t[1] -> {CHECK} -> [1]rw;",
        "rw[0] -> [1]t; rw[1] -> [0]t;",
    ]


def policer(around: Around) -> list[str]:
    if manager := around.manager("FlowRateLimiter"):
        return [f"t[0] -> {CHECK} -> {manager} -> FlowRateLimiter(1000000000, BURST_SIZE 1000000000) -> [0]t;"]
    return [
        f"t[0] -> {CHECK} -> AggregateIP(ip src) -> AggregateCounter(BYTES true, IP_BYTES true)",
        "  -> meter :: BandwidthMeter(1GBps) -> [0]t; meter[1] -> [0]t;",
    ]


def telemetry(around: Around) -> list[str]:
    if manager := around.manager("FlowCounter"):
        return [f"t[0] -> {CHECK} -> {manager} -> FlowCounter -> [0]t;"]
    return [f"t[0] -> {CHECK} -> AggregateIPFlows(FRAGMENTS false) -> AggregateCounter(BYTES true) -> [0]t;"]


def acl(around: Around) -> list[str]:
    rules = []
    for _, src, src_length, dst, dst_length, protocol, _, _, dport, last, permit, _ in around.config.rows:
        tests = [
            f"{way} net {ipv4(net)}/{n}" for way, net, n in (("src", src, src_length), ("dst", dst, dst_length)) if n
        ]
        if protocol != 256:
            tests.append("tcp" if protocol == 6 else "udp")
        if (dport, last) != (0, 65535):
            tests.append(f"dst port {dport}")
        rules.append(f"{'allow' if permit else 'deny'} {' && '.join(tests) or 'all'}")
    return [f"t[0] -> {CHECK} -> IPFilter({', '.join(rules)}) -> [0]t;"]


NEAREST: dict[str, Callable[[Around], list[str]]] = {
    made.__name__: made for made in (load_balancer, nat, firewall, policer, telemetry, acl)
}


@dataclass
class FastClick:
    """A FastClick with the bench's source and sink built for it in `package`."""

    folder: Path
    package: Path
    seconds: float
    repetitions: int
    core: int
    failed: bool = False  # has any run failed?
    classes: frozenset[str] = frozenset()
    sources: dict[tuple[int, str], float] = field(default_factory=dict)

    @classmethod
    def installed(cls, build: Path, seconds: float, repetitions: int, core: int) -> FastClick | None:
        """That of FASTCLICK_DIR; None, which it says, if there is none or it cannot be used."""
        given = os.environ.get("FASTCLICK_DIR")
        if not given:
            print(
                "FASTCLICK_DIR is not set: no column fastclick. Set it to where FastClick is installed", file=sys.stderr
            )
            return None
        if not (Path(given) / "bin" / "click").exists():
            print(f"FASTCLICK_DIR={given}: there is no bin/click in it; no column fastclick", file=sys.stderr)
            return None
        made = cls(Path(given), build / "fastclick", seconds, repetitions, core)
        said = made.build()
        if said is None:
            said = made.read_classes()
        if said is None:
            return made
        print(f"no column fastclick: {said}", file=sys.stderr)
        return None

    @property
    def click(self) -> Path:
        return self.folder / "bin" / "click"

    def build(self) -> str | None:
        """Builds the package, anew if it was built for another FastClick; says what went wrong."""
        if shutil.which("make") is None or shutil.which("g++") is None:
            return "it needs make and g++. Debian, Ubuntu: apt install make g++"
        stamp = self.package / "built_for"
        built_for = f"{self.click} {self.click.stat().st_mtime_ns}"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != built_for:
            shutil.rmtree(self.package, ignore_errors=True)
            self.package.mkdir(parents=True)
            stamp.write_text(built_for, encoding="utf-8")
        for file in (SOURCE / "fastclick").iterdir():
            target = self.package / file.name
            if not target.exists() or target.read_bytes() != file.read_bytes():
                shutil.copy(file, target)
        (self.package / "Makefile").write_text(
            fill("fastclick/Makefile", {"package": "polysome_bench", "runtime": "native"}), encoding="utf-8"
        )
        flags = f"PACKAGE_CXXFLAGS=-std=gnu++20 -O3 -I{SOURCE}"
        command = ["make", "-C", str(self.package), f"FASTCLICK_DIR={self.folder}", flags]
        done = subprocess.run(command, capture_output=True, text=True)
        return None if done.returncode == 0 else f"its source and sink do not build:\n{done.stderr}"

    def read_classes(self) -> str | None:
        done = self.start(["-q", "-e", "", "-h", "classes"])
        if done.returncode != 0:
            return f"click does not run:\n{done.stderr}"
        self.classes = frozenset(done.stdout.split())
        return None

    def start(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "CLICKPATH": str(self.package), "GLIBC_TUNABLES": TUNABLES}
        command = ["taskset", "-c", str(self.core), str(self.click), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def run(self, name: str, config: Config, flows: int, traffic: str) -> dict[str, Any]:
        """The members of a row; none if it fails, which it says."""
        if (flows, traffic) not in self.sources:
            source = self.measure("acl", ["t[0] -> [0]t;"], flows, traffic)
            if source is None:
                return {}
            self.sources[flows, traffic] = source["mpps"]
        said = self.measure(name, NEAREST[name](Around(self.classes, config, flows)), flows, traffic)
        if said is None:
            return {}
        return {
            "fastclick_mpps": said["mpps"],
            "fastclick_cycles": said["cycles"],
            "fastclick_sent": said["sent"],
            "fastclick_source_mpps": self.sources[flows, traffic],
        }

    def measure(self, name: str, lines: Sequence[str], flows: int, traffic: str) -> dict[str, float] | None:
        zipf = str(traffic == "zipf").lower()
        options = f"ZIPF {zipf}, SECONDS {self.seconds}, REPETITIONS {self.repetitions}"
        text = [f"t :: PolysomeTraffic({name}, {flows}, {options});", *lines]
        dpdk = []
        if any(manager in line for line in lines for manager in MANAGERS):
            memory = 256 + flows * 160 // 2**20
            dpdk = [
                "--dpdk",
                "--no-huge",
                "--no-pci",
                "--no-telemetry",
                "--no-shconf",
                "-l",
                str(self.core),
                "-m",
                str(memory),
                "--",
            ]
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / f"{name}.click"
            path.write_text("\n".join(['require(package "polysome_bench");', *text, ""]), encoding="utf-8")
            done = self.start([*dpdk, str(path)])
        printed = [line for line in done.stdout.splitlines() if line.startswith('{"mpps"')]
        if done.returncode != 0 or not printed:
            self.failed = True
            print(f"FastClick, {name}, {flows} flows, {traffic}: ended with code {done.returncode}", file=sys.stderr)
            print(done.stderr[-2000:], file=sys.stderr)
            return None
        said = json.loads(printed[-1])
        median = {key: statistics.median(said[key]) for key in ("mpps", "cycles")}
        return {"mpps": round(median["mpps"], 3), "cycles": round(median["cycles"], 1), "sent": said["sent"]}
