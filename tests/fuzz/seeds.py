"""What the fuzzers begin with: steps as steps.hpp reads them, made of the project's own frames and messages."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.nf_host.hosts import control
from tests.nf_host.hosts import frame as nf_frame
from tests.system import attacks as a
from tests.system.outcome import designed, traffic
from tests.up.load import forged

from polysome.plan.design import NF_MAC, SERVER_IP, SERVER_MAC

USERS, NF, SERVERS, CONTROLLER, PLAIN = (0, 1), 2, (3, 4), 5, 6  # places where frames come from
SOON = 0x50 | 7  # a time to wait: 7 << 12 ns
EVERY = 40  # frames of a seed


def step(kind: int, place: int, data: bytes, wait: int = SOON) -> bytes:
    return struct.pack(">BBBH", kind, place, wait, len(data)) + data


def write(target: str, folder: Path) -> None:
    """A corpus for the target: a file for each seed."""
    part, _, example = target.partition("-")
    for number, seed in enumerate(SEEDS[part](example)):
        (folder / f"{number:03}").write_bytes(seed)


# ---------------------------------------------------------------- frames


def forgeries() -> Iterator[bytes]:
    """What only switch, NF or servers may say, right and nearly so."""
    yield from (a.tagged(seq, 0, 500, 1, flags=f, data=b"\xbb" * 80) for seq in (1, 2, 200) for f in (0, 1, 2, 3))
    yield from (forged.edits(seq, pair) for seq in (1, 3) for pair in (0, 1))
    yield from (forged.for_the_nf(NF_MAC.to_bytes(6, "big"), 1, flags) for flags in (0, 1))
    numbers = (1 << 6, 1 << 6 | 1)  # the switch's own, of its first two queue pairs
    yield from (a.answer(number, psn, syndrome) for number in numbers for psn in (0, 1) for syndrome in (a.ACK, 0x60))
    yield from (a.response(number, 1, 1, b"\xcc" * 200) for number in numbers)
    for opcode in (a.WRITE_ONLY, a.READ_REQUEST):
        yield a.request(opcode, 0x100, 0, 0x1000, 64, b"\xdd" * 64 if opcode == a.WRITE_ONLY else b"")
    whole = a.answer(numbers[0], 0)
    yield from (forged.tagged(whole, tags) for tags in ("81000001", "88a8000181000002", "810000018100000281000003"))
    yield a.ethernet(0xFFFFFFFFFFFF, SERVER_MAC, 0x0806) + bytes(46)
    yield a.ethernet(SERVER_MAC + 1, SERVER_MAC, 0x0800) + a.ipv4_udp(SERVER_IP, SERVER_IP + 1, 1, 2, b"plain")[:]


def users(example: str, seed: int) -> list[tuple[int, bytes]]:
    """Packets of the example's traffic, with the port where each comes in."""
    return [(port, data) for port, _, data in traffic(designed(example)[0], EVERY, seed)]


def among(example: str, kinds: tuple[int, ...] = ()) -> Iterator[bytes]:
    """The traffic; the forgeries from each place; both, one after the other. `kinds`: of steps between the frames."""
    between = b"".join(step(kind, 0, b"") for kind in kinds)
    yield from (b"".join(step(0, p, d) + between for p, d in users(example, seed)) for seed in range(6))
    for place in (*USERS, NF, *SERVERS, CONTROLLER, PLAIN):
        yield b"".join(step(0, place, frame) for frame in forgeries())
        mixed = zip(users(example, place), forgeries(), strict=False)
        yield b"".join(step(0, p, d) + step(0, place, frame) + between for (p, d), frame in mixed)
    probes = (p for p in users(example, 9) if len(p[1]) > 200)
    yield b"".join(
        step(0, CONTROLLER, data[:6] + bytes(5) + bytes([n % 2]) + data[12:]) for n, (_, data) in enumerate(probes)
    )


# ---------------------------------------------------------------- seeds of each target


def of_switch(example: str) -> Iterator[bytes]:
    yield from among(example, (5,))
    yield from (b"".join(step(0, p, d) for p, d in users(example, n)) + step(4, n, bytes([0, 20, n])) for n in range(8))
    for request in (*_writes(), *_reads()):
        kind = 6 if request.DESCRIPTOR.name == "WriteRequest" else 7
        yield step(kind, 0, request.SerializeToString()) + b"".join(step(0, p, d) for p, d in users(example, 1)[:8])


def of_system(example: str) -> Iterator[bytes]:
    yield from among(example)
    frames = b"".join(step(0, p, d, wait=0x9C) for p, d in users(example, 3))
    yield from (step(7, 1 << fault, b"") + frames for fault in range(8))
    yield step(7, 0xFF, b"") + frames
    yield frames + step(6, 0, b"") + frames + step(6, 0, bytes([0, 9, 1]))


def of_nf_host(example: str) -> Iterator[bytes]:
    """Fields frames of each class as long as they have to be, packets as whole frames, probes."""
    nf, seq, packets = bytes(6), 1, users(example, 1)
    yield b"".join(step(0, 1, nf_frame(nf, 1, 0, n, len(d), p, d)) for n, (p, d) in enumerate(packets, 1))
    for number in range(9):
        content = [bytes([n, number]) * 40 for n in range(10)]
        yield b"".join(step(0, 1, nf_frame(nf, 0, number, seq, 500, n % 2, c), 0) for n, c in enumerate(content))
        taken = [step(0, 1, nf_frame(nf, 0, number, seq, 500, p, d[26 : 26 + 34])) for p, d in packets]
        yield b"".join(taken) + step(6, 0, b"") + b"".join(taken)
        yield step(0, 1, nf_frame(nf, 0, number, seq, 500, 255, b"\xaa" * 40)) + step(7, 0, b"")
    yield from (step(5, 0, struct.pack("<QQQ", 1, 0, 3) + b"abc" + struct.pack("<QQ", n, 0)) for n in (0, 1 << 40))


def of_agent(_: str) -> Iterator[bytes]:
    every = 1 | 2 | 4 | 8 | 16

    def requests(sizes: Iterable[int], dressed: int) -> bytes:
        made = []
        for size in sizes:
            data = b"\xdd" * size
            made.append(step(0, dressed, a.request(a.WRITE_ONLY, 0, 0, 0, size, data)))
            made.append(step(0, dressed, a.request(a.READ_REQUEST, 0, 0, 0, size, b"")))
        return b"".join(made)

    yield requests(range(4, 1024, 64), every)
    yield from (requests((4, 64, 1020), every & ~bit) for bit in (1, 2, 4, 8, 16))
    yield b"".join(step(0, 1, forged.tagged(frame, "81000001")) for frame in forgeries())
    yield b"".join(step(kind, place, b"") + requests((64,), every) for kind in (4, 5, 6) for place in range(3))
    good = {"server": "memory1", "device": "soft", "interface": "eth1", "queuePairs": 4, "region": "65536", "mtu": 1024}
    good |= {"switchMac": "02:70:6f:6c:79:01", "switchIp": "198.19.255.254", "outstandingReads": 16, "listen": "[::]:1"}
    tls = {"authority": "a", "certificate": "b", "key": "c"}
    yield from (step(7, 0, json.dumps(g).encode()) for g in (good, good | {"tls": tls}, good | {"mtu": 7}, {}))


def of_responder(_: str) -> Iterator[bytes]:
    """It has a form of its own, in which most bytes are frames."""
    yield from (bytes([n]) * 200 for n in range(0, 256, 16))


SEEDS: dict[str, Callable[[str], Iterator[bytes]]] = {
    "switch": of_switch,
    "system": of_system,
    "nf_host": of_nf_host,
    "agent": of_agent,
    "responder": of_responder,
}


# ---------------------------------------------------------------- a controller's requests


def _writes() -> Iterator[object]:
    c = control()
    entry = c.Entry(table="Ingress.stations", key=[b"\2\0\0\0\0\7"], action="forward", parameters=[b"\0\x28"])
    bad = c.Entry(table="Ingress.buckets", key=[b"\1", b"\0"], action="choose", parameters=[b"\1"])
    updates = [c.Update(**{name: one}) for one in (entry, bad) for name in ("add", "modify", "put", "remove")]
    cells = [c.Cell(register="Ingress.primaries", index=n, value=v) for n, v in ((0, 0), (1, 1), (99, 1))]
    updates += [c.Update(**{"register": cell}) for cell in cells]
    updates += [
        c.Update(meter=c.Meter(name="Ingress.fallback", index=0, rate=10**9, burst=10**5)),
        c.Update(mirror=c.Mirror(session=1, port=32, max_length=40)),
        c.Update(group=c.Group(group=7, ports=[0, 1])),
        c.Update(port=c.Port(port=9, role=1, rate=10**9, index=1, append_icrc=True, queue_bytes=1 << 16)),
        c.Update(generator=c.Generator(port=69, period=10**6, count=2)),
        c.Update(clear="Ingress.answers"),
    ]
    yield from (c.WriteRequest(updates=[update]) for update in updates)
    yield c.WriteRequest(updates=updates)


def _reads() -> Iterator[object]:
    c = control()
    reads = c.Cell(register="Ingress.reads", index=0, field="count")
    counter = c.CounterCell(counter="Ingress.events", index=0)
    yield c.ReadRequest(registers=[reads], counts=[8], counters=[counter], counter_counts=[64])
    yield c.ReadRequest(registers=[reads] * 3, counts=[1 << 20])
