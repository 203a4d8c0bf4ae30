"""Runs the library of an NF on captures and says how fast it was.

    python -m polysome.backends.nf_cpp.replay LIBRARY SIZE,SIZE,… --in PORT=FILE … --config BLOB --repeat N

PORT is a port's number, SIZE what `sizes.sizes` gives, the rest as in runtime/host/pcap_main.hpp. Only the processor's
time inside the library counts.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from struct import Struct

from polysome.backends.nf_cpp.library import Library, Running, arrivals

_HEADER = Struct("<IHHiIII")
_RECORD = Struct("<IIII")  # seconds, nanoseconds, bytes captured, bytes on the wire
_NANOSECONDS, _ETHERNET, _MOST = 0xA1B23C4D, 1, 262_144
_TOGETHER = 2048  # packets that are handed over at once: many, so that asking the clock costs nothing beside them

Trace = list[tuple[int, int, bytes]]  # the packets in order of time: port, time in ns, frame


def write(path: Path, trace: Trace) -> None:
    """The packets as a pcap file (draft-ietf-opsawg-pcap) with nanoseconds. Times are below 2**32 s."""
    with path.open("wb") as file:
        file.write(_HEADER.pack(_NANOSECONDS, 2, 4, 0, 0, _MOST, _ETHERNET))
        for _, moment, data in trace:
            file.write(_RECORD.pack(*divmod(moment, 10**9), len(data), len(data)) + data)


def read(path: Path, port: int) -> Trace:
    """What `write` wrote, as packets of `port`."""
    data, at = path.read_bytes(), _HEADER.size
    trace: Trace = []
    while at < len(data):
        seconds, nanoseconds, size, _ = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        trace.append((port, seconds * 10**9 + nanoseconds, data[at : at + size]))
        at += size
    return trace


def period(trace: Trace) -> int:
    """The ns from one repetition to the next: it begins one mean gap after the end of the one before."""
    span = trace[-1][1] - trace[0][1]
    return span + max(1, span // max(1, len(trace) - 1))


def replay(running: Running, trace: Trace, repeat: int) -> float:
    """The seconds that the packets took, `repeat` times over or a few times less."""
    copies = min(repeat, max(1, _TOGETHER // len(trace)))
    later = period(trace)
    packets = [(port, at + i * later, data) for i in range(copies) for port, at, data in trace]
    batches = [arrivals(packets[i : i + _TOGETHER]) for i in range(0, len(packets), _TOGETHER)]
    spent = 0
    for _ in range(repeat // copies):
        for batch in batches:
            start = time.thread_time_ns()
            running.hand_over(batch)
            spent += time.thread_time_ns() - start
            running.records()
            for place in batch:
                place.time += copies * later
    return spent / (repeat // copies * copies) * repeat / 1e9


def main(arguments: list[str]) -> None:
    library, sizes, *options = arguments
    pairs = list(zip(options[::2], options[1::2], strict=True))
    given = dict(pairs)
    captures = [value.split("=", 1) for name, value in pairs if name == "--in"]
    trace = sorted((p for port, file in captures for p in read(Path(file), int(port))), key=lambda p: p[1])
    numbers = [int(size) for size in sizes.split(",") if size]
    repeat = int(given["--repeat"])
    with Running(Library(Path(library)), Path(given["--config"]).read_bytes(), numbers) as running:
        seconds = replay(running, trace, repeat)
    print(f"{seconds:.3f} s, {len(trace) * repeat / max(seconds, 1e-9):.0f} packets/s", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
