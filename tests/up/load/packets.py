"""Packets for a deployment: of every kind that its plan tells apart, and many of one kind, in as many flows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from tests.system.outcome import ipv4_sum, pattern, traffic
from tests.testing.builtin.networks import captured
from tests.up.load.promised import Promised

from polysome.engines import ENGINES
from polysome.engines.interp.seen import Eyes
from polysome.engines.options import RunOptions
from polysome.engines.record import Fate
from polysome.engines.trace import Arrival, Trace
from polysome.interp.packet import Packet
from polysome.testing.spec import Spec
from polysome.testing.traffic import boundary_packets

Sent = tuple[int, bytes]  # logical port, frame

TAG = bytes.fromhex("81000001")
SHORTEST = 60  # bytes that Ethernet has at least, without FCS
LENGTHS = {"ipv4": 2, "ipv6": 4, "udp": 4, "pppoe": 4}  # where headers say how long they and what follows are
SOURCES = {"ipv4": (12, 4), "ipv6": (8, 16)}  # where addresses are, and how long
GAP = 1_000_000  # ns
TRIED = 24  # packets that show whether the NF sends a kind


def every_kind(spec: Spec, promised: Promised, takes: int) -> list[Sent]:
    """Packets of the captures, those on both sides of the parser's conditions, and of each kind that is split the
    shortest and the longest, and those that are just not. None ends before its claimed end, or is too
    long for interfaces that take `takes` B, one tag among them.
    """
    found = [(port, data) for port, _, data in traffic(spec, 120, seed=5)]
    found += [(p.port, p.data) for p in islice(boundary_packets(spec), 0, None, 4)]
    found += _at_the_edges(promised, found, takes - len(TAG))
    padded = [(port, data.ljust(SHORTEST, b"\0")) for port, data in found]
    there = [(port, data) for port, data in padded if not promised.eyes.parse(port, data).short]
    return [(port, data) for port, data in there if len(data) <= takes - len(TAG) * (data[12:14] != TAG[:2])]


def _at_the_edges(promised: Promised, found: list[Sent], longest: int) -> Iterator[Sent]:
    kinds = {way["headers"]: (port, data) for port, data in found if (way := promised.way(port, data))}
    for port, data in kinds.values():
        least, most = (promised.number("store", name) for name in ("threshold", "longest"))
        for length in (least, least + 1, most - 6, most - 5, most - 4, most - 1, most, most + 1, longest):
            changed = resized(promised.eyes, port, data, length)
            if changed is not None:
                yield port, changed
                yield port, changed + b"abc"


def many(spec: Spec, promised: Promised, length: int, split: bool, count: int) -> list[Sent]:
    """So many packets of that length which the NF sends, split or whole, as long as any usual ones are on its link; in
    flows of their own where the NF sends such. Empty if none is found."""
    found = list(_bases(spec, promised, length, split))
    for vary in (_sources_and_ports, _sources, _ports, _same):
        for port, base in found:
            made = partial(vary, promised.eyes, port, base)
            if _all_leave(spec, port, [made(n) for n in range(TRIED)]):
                return [(port, made(n)) for n in range(count)]
    return []


def _bases(spec: Spec, promised: Promised, length: int, split: bool) -> list[Sent]:
    """Captured packets made that long, some with two tags; of what goes whole those that leave longest first."""
    captures = list(dict.fromkeys((a.port, a.data) for a in captured(spec).arrivals))
    tagged = [(port, data[:12] + 2 * TAG + data[12:]) for port, data in captures]
    made = [(port, resized(promised.eyes, port, data, length)) for port, data in (*captures, *tagged)]
    if split:
        kept = [(port, data) for port, data in made if data and (way := promised.way(port, data)) and way["usual"]]
        return sorted(kept, key=lambda one: -_on_nf_link(promised, *one))
    kept = [(port, data) for port, data in made if data and promised.way(port, data) is None]
    return sorted(kept, key=lambda one: -len(_left(spec, *one)))


def _on_nf_link(promised: Promised, port: int, frame: bytes) -> int:
    way = promised.way(port, frame)
    return int(way["to_nf"] + way["from_nf"])


def _left(spec: Spec, port: int, frame: bytes) -> bytes:
    """As the NF sends it; empty if it does not."""
    copies = _run(spec, port, [frame])[0].copies
    return copies[0].data if copies else b""


def _all_leave(spec: Spec, port: int, frames: list[bytes]) -> bool:
    return not any(fate.dropped for fate in _run(spec, port, frames))


def _run(spec: Spec, port: int, frames: list[bytes]) -> tuple[Fate, ...]:
    arrivals = tuple(Arrival(port, 10**18 + n * GAP, frame) for n, frame in enumerate(frames))
    return ENGINES["interp"].run(spec.program, Trace(captured(spec).config, arrivals, ()), RunOptions()).fates


# ---------------------------------------------------------------- changed packets


def resized(eyes: Eyes, port: int, frame: bytes, length: int) -> bytes | None:
    """The packet with other data, so that it claims, or has, `length`; None if that is not enough.

    Transport checksums stay what they were, as wrong as any.
    """
    packet = eyes.parse(port, frame)
    end = len(frame) if packet.claimed is None else packet.claimed
    if packet.short or length < packet.payload:
        return None
    more = length - end
    kept = frame[: min(length, end)]
    changed = bytearray(kept + pattern(length, max(0, more)))
    for at, name in _headers(eyes, packet):
        if name in LENGTHS:
            place = slice(at + LENGTHS[name], at + LENGTHS[name] + 2)
            changed[place] = (int.from_bytes(changed[place], "big") + more).to_bytes(2, "big")
    return _summed(eyes, packet, changed)


def _headers(eyes: Eyes, packet: Packet) -> list[tuple[int, str]]:
    return [(packet.offset[i], eyes.program.parser.instances[i].header.name) for i in packet.path]


def _summed(eyes: Eyes, packet: Packet, frame: bytearray) -> bytes:
    for at, name in _headers(eyes, packet):
        if name == "ipv4":
            end = at + 4 * (frame[at] & 15)
            frame[at + 10 : at + 12] = bytes(2)
            frame[at + 10 : at + 12] = ipv4_sum(bytes(frame[at:end])).to_bytes(2, "big")
    return bytes(frame)


def _changed(eyes: Eyes, port: int, frame: bytes, change: Callable[[bytearray, int, str], None]) -> bytes:
    packet, changed = eyes.parse(port, frame), bytearray(frame)
    for at, name in _headers(eyes, packet):
        change(changed, at, name)
    return _summed(eyes, packet, changed)


def _sources(eyes: Eyes, port: int, frame: bytes, number: int) -> bytes:
    """From another address of the same network."""

    def change(data: bytearray, at: int, name: str) -> None:
        if name in SOURCES:
            first, size = SOURCES[name]
            data[at + first + size - 2] ^= number >> 8
            data[at + first + size - 1] ^= number & 0xFF

    return _changed(eyes, port, frame, change)


def _ports(eyes: Eyes, port: int, frame: bytes, number: int) -> bytes:
    def change(data: bytearray, at: int, name: str) -> None:
        if name in ("tcp", "udp"):
            data[at] ^= number >> 8
            data[at + 1] ^= number & 0xFF

    return _changed(eyes, port, frame, change)


def _sources_and_ports(eyes: Eyes, port: int, frame: bytes, number: int) -> bytes:
    return _ports(eyes, port, _sources(eyes, port, frame, number), number * 7 % 4096)


def _same(eyes: Eyes, port: int, frame: bytes, number: int) -> bytes:
    return frame
