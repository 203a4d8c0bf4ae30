"""How fast the software system is: its switch alone, all of it, and how right it is when everything goes wrong.

    python tests/bench/bench_system.py [--nf NAME] [--packets N] [--size BYTES] [--repetitions N] [--wrong N]
                                       [--out FILE.json]

One core, of which only the time on it counts; TCP packets of 512 bytes from 4096 flows, at the rate of the default
software site. Medians of the repetitions are shown.

  switch  the translated P4 program on what came to it in a run of the system: a packet is all its passes (traffic port,
          edits, response, and the servers' answers). Packets per second, and cycles of the time-stamp counter for each
  system  all of it: switch, RDMA servers, NF, links, virtual time, and the records of what happened
  wrong   --wrong packets (1,000,000) under mixes of all faults; those that left otherwise than the interpreter sends
          them, which must be none

Only ratios say anything about other machines. Exit codes: 0 fine, 1 a packet was wrong, 2 wrong arguments, 3 something
is not installed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # tests.system says what a run came to

from tests.system.outcome import START, Frame, designed, ipv4_sum, ran, right, traffic  # noqa: E402
from tests.system.test_fault_mixes import HARSH, of_all_ports  # noqa: E402

from polysome.backends.nf_cpp.build import missing  # noqa: E402
from polysome.backends.nf_cpp.config_blob import encode  # noqa: E402
from polysome.backends.nf_cpp.library import Arrival  # noqa: E402
from polysome.backends.nf_cpp.sizes import sizes  # noqa: E402
from polysome.backends.system import library  # noqa: E402
from polysome.backends.system.abi import Kind, Library, Running  # noqa: E402
from polysome.backends.system.cables import CABLE  # noqa: E402
from polysome.backends.system.configure import Run, configure  # noqa: E402
from polysome.backends.tofino.program import INGRESS_EVENTS  # noqa: E402
from polysome.engines.system.control.controller import SimulatedController  # noqa: E402
from polysome.plan.design import Design  # noqa: E402

FLOWS = 4096
SITE_LOAD = 0.9  # of a traffic port
WARM_UP = 10_000_000  # ns of the switch's clock at the first packet
REPLAY = Path(__file__).resolve().parent / "native" / "replay.hpp"
RUN_OF = 20_000  # packets of a run with faults
BATCH = 256


class Replayed(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("ns", "cycles", "transmitted", "bytes"))


@dataclass(frozen=True)
class Row:
    """`mpps`: millions of packets per second of one core. `cycles`: of a packet; `left`: the share that left."""

    what: str
    packets: int
    mpps: float
    cycles: float
    left: float


# ---------------------------------------------------------------- traffic


def tcp(number: int, size: int, destination: int) -> bytes:
    """The packet of a flow, its IPv4 checksum right."""
    head = struct.pack(
        ">BBHHHBBHII", 0x45, 0, size - 14, number & 0xFFFF, 0x4000, 64, 6, 0, 0xC0000200 + number % 199, destination
    )
    head = head[:10] + struct.pack(">H", ipv4_sum(head)) + head[12:]
    ports = struct.pack(">HHIIBBHHH", 1024 + number % FLOWS, 80, number, 1, 0x50, 0x10, 8192, 1, 0)
    station = bytes.fromhex("020000000001 02000000010d 0800")
    return station + head + ports + bytes(number + i & 0xFF for i in range(size - 54))


def load(name: str, count: int, size: int) -> tuple[Frame, ...]:
    """So many packets at port 0, to where the example's first captured packet goes."""
    _, _, first = traffic(designed(name)[0], 1, 1)[0]
    destination = int.from_bytes(first[30:34], "big")
    gap = int((size + 24) * 8 / SITE_LOAD)  # ns at 1 Gbps
    base = [tcp(n, size, destination) for n in range(FLOWS)]
    return tuple((0, START + n * gap, base[n % FLOWS]) for n in range(count))


def packed(frames: tuple[Frame, ...]) -> ctypes.Array[Arrival]:
    batch = (Arrival * len(frames))()
    for place, (port, at, data) in zip(batch, frames, strict=True):
        place.time, place.data, place.size, place.port = at, data, len(data), port
    return batch


# ---------------------------------------------------------------- what is measured


@contextmanager
def started(shared: Library, design: Design, name: str, *, capture: bool = False) -> Iterator[SimulatedController]:
    """A system, brought up."""
    spec, _ = designed(name)
    run = Run(sizes(design.program), START, deep=True, capture=capture)
    with (
        Running(shared, configure(design, run), encode(spec.program, spec.config or {})) as running,
        SimulatedController(design, running, run) as controller,
    ):
        yield controller


def whole(shared: Library, design: Design, name: str, frames: tuple[Frame, ...]) -> Row:
    """The whole system; records are taken as the engine takes them, but not looked at."""
    batch, n = packed(frames), len(frames)
    with started(shared, design, name) as controller:
        running = controller.running
        nothing, first, size = ctypes.c_void_p(), ctypes.addressof(batch), ctypes.sizeof(Arrival)
        before = time.thread_time()
        for at in range(0, n, BATCH):
            count = min(BATCH, n - at)
            controller.arrive((Arrival * count).from_address(first + at * size))
            shared.records(running._handle, ctypes.byref(nothing))
        controller.finish()
        taken = time.thread_time() - before
        return Row("system", n, n / taken / 1e6, 0.0, running.report()["packets left"] / n)


def came(shared: Library, design: Design, name: str, frames: tuple[Frame, ...]) -> ctypes.Array[Arrival]:
    """What came to the switch in a run: the frames of all links that go to it, by time."""
    site = design.site
    ports = {f"traffic{i}": ports[0] for i, ports in enumerate(site.traffic)}
    ports |= {f"server{i}": server.port for i, server in enumerate(site.rdma_servers)}
    ports["nf"] = site.nf_servers[0].port
    found = []
    with started(shared, design, name, capture=True) as controller:
        for at in range(0, len(frames), BATCH):
            controller.arrive(packed(frames[at : at + BATCH]))
            found += _to_switch(controller.running, ports)
        controller.finish()
        found += _to_switch(controller.running, ports)
    return packed(tuple(sorted(found, key=lambda frame: frame[1])))


def _to_switch(running: Running, ports: dict[str, int]) -> list[Frame]:
    made = []
    for it in running.records():
        link, _, way = running.link(it.port).partition(" ") if it.kind == Kind.frame else ("", "", "")
        if way == "in":
            made.append((ports[link], it.time + CABLE - START + WARM_UP, it.data))
    return made


def alone(shared: Library, design: Design, name: str, frames: ctypes.Array[Arrival], packets: int) -> Row:
    """The switch on what came to it; a system made like the other has the same queue pairs."""
    done = Replayed()
    arguments = ctypes.c_void_p, ctypes.POINTER(Arrival), ctypes.c_size_t, ctypes.POINTER(Replayed)
    replay = shared._function("replay", None, *arguments)
    event, count = INGRESS_EVENTS.index("merged"), design.sizes.queue_pairs
    with started(shared, design, name) as controller:
        replay(controller.running._handle, frames, len(frames), ctypes.byref(done))
        merged = sum(controller.running.switch.counters("Ingress.events", event * count, count)[0])
    return Row("switch", packets, packets * 1e3 / done.ns, done.cycles / packets, merged / packets)


def median(rows: list[Row]) -> Row:
    first = rows[0]
    mpps, cycles = (statistics.median(getattr(row, what) for row in rows) for what in ("mpps", "cycles"))
    return Row(first.what, first.packets, mpps, cycles, first.left)


# ---------------------------------------------------------------- faults


def wrong(name: str, packets: int) -> dict[str, Any]:
    """Runs with all faults at once; how many packets came, left, and were lost by which cause. AssertionError if one is
    wrong."""
    came, left, lost = 0, 0, 0
    begin, seed = time.perf_counter(), 100
    while came < packets:
        frames = traffic(designed(name)[0], min(RUN_OF, packets - came), seed)
        outcome = ran(name, frames, of_all_ports(name, HARSH), seed)
        came, left, lost, seed = came + len(frames), left + right(outcome), lost + len(outcome.lost), seed + 1
    return {
        "what": "wrong",
        "packets": came,
        "left": left,
        "lost": lost,
        "wrong": 0,
        "seconds": time.perf_counter() - begin,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nf", default="load_balancer")
    parser.add_argument("--packets", type=int, default=40_000)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--wrong", type=int, default=1_000_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if (lacking := missing()) is not None:
        print(lacking, file=sys.stderr)
        return 3
    _, design = designed(options.nf)
    shared = Library(library.build(design, {"replay.hpp": REPLAY.read_text(encoding="utf-8")}))
    frames = load(options.nf, options.packets, options.size)
    seen = came(shared, design, options.nf, frames)
    switch, system = [], []
    for _ in range(options.repetitions):
        switch.append(alone(shared, design, options.nf, seen, len(frames)))
        system.append(whole(shared, design, options.nf, frames))
    rows: list[dict[str, Any]] = [asdict(median(switch)), asdict(median(system))]
    for row in rows:
        each = f"{row['cycles']:8.0f} cycles each" if row["cycles"] else ""
        print(
            f"{row['what']:8} {row['packets']:9,} packets {row['mpps']:8.3f} Mpps {row['left']:6.2f} left each {each}"
        )
    try:
        if options.wrong:
            rows.append(wrong(options.nf, options.wrong))
            print("wrong    {packets:9,} packets, {left:,} left, {lost:,} lost, {wrong} wrong".format(**rows[-1]))
    except AssertionError as error:
        print(f"a packet was wrong: {error}", file=sys.stderr)
        return 1
    if options.out is not None:
        options.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
