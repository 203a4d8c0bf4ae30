"""Packets that are simple: first port, few headers, no payload, zeros, and addresses that count from 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count

from polysome.analysis import frames
from polysome.engines.trace import Change, Trace
from polysome.testing.counterexample.parts import Shrinking, with_arrivals, with_frames
from polysome.testing.counterexample.simpler_config import addresses, exchanged

Name = tuple[str, int]  # kind of an address or port, and which

FIRST = {
    frames.MAC: 0x020000000001,  # a locally administered one (IEEE 802, section 8.2.2)
    frames.IPV4: 0x0A000001,
    frames.IPV6: 0x20010DB8 << 96 | 1,  # for documentation (RFC 3849)
    frames.PORT: 1001,
}
_HEADERS = 256  # bytes that are looked at one by one; what lies behind is payload, zeroed as a whole
_CHUNKS = (64, 16, 8, 4, 2, 1)
_HOPS = 64  # a usual time to live


def simplify(search: Shrinking) -> None:
    """The steps, each kept if the property still fails."""
    _ports(search)
    _names(search)
    every = range(len(search.best.arrivals))
    _frames(search, every)  # what must be alike in all can only change in all at once
    for number in every:
        _frames(search, [number])


def _ports(search: Shrinking) -> None:
    for number, arrival in enumerate(search.best.arrivals):
        for port in range(arrival.port):
            arrivals = list(search.best.arrivals)
            arrivals[number] = replace(arrival, port=port)
            if search.fails(with_arrivals(search.best, arrivals)):
                break


# ---------------------------------------------------------------- addresses and ports


def _names(search: Shrinking) -> None:
    """Addresses and ports become the first ones of their kind: all, else kind by kind, else one by one."""
    if search.fails(_renamed(search, _in_order(search, FIRST))):
        return
    for kind in FIRST:
        new = _in_order(search, [kind])
        if search.fails(_renamed(search, new)):
            continue
        for name in new:
            _one_name(search, name, len(new))


def _one_name(search: Shrinking, name: Name, many: int) -> None:
    kind, value = name
    usual = range(FIRST[kind], FIRST[kind] + many)
    taken = {v for k, v in _appearing(search) if k == kind}
    free = next((v for v in usual if v not in taken), None)
    if value not in usual and free is not None:
        search.fails(_renamed(search, {name: free}))


def _in_order(search: Shrinking, kinds: Iterable[str]) -> dict[Name, int]:
    """New values for all that appears, counted in the order of appearance."""
    numbers = {kind: count(FIRST[kind]) for kind in kinds}
    return {name: next(numbers[name[0]]) for name in _appearing(search) if name[0] in numbers}


def _appearing(search: Shrinking) -> dict[Name, None]:
    """What stands in packets, then what stands in config only."""
    trace, config = search.best, search.program.config
    found = {(f.kind, f.get(a.data)): None for a in trace.arrivals for f in frames.fields(a.data)}
    for values in (trace.config, *(c.values for c in trace.changes)):
        for name, value in values.items():
            found |= dict.fromkeys(addresses(value, config[name].type))
    return found


def _renamed(search: Shrinking, new: dict[Name, int]) -> Trace:
    """The trace, its config too, with addresses and ports exchanged."""
    trace, config = search.best, search.program.config
    return Trace(
        {name: exchanged(value, config[name].type, new) for name, value in trace.config.items()},
        tuple(replace(a, data=frames.with_fields(a.data, new)) for a in trace.arrivals),
        tuple(
            Change(c.time, {name: exchanged(value, config[name].type, new) for name, value in c.values.items()})
            for c in trace.changes
        ),
    )


# ---------------------------------------------------------------- bytes


def _frames(search: Shrinking, numbers: Iterable[int]) -> None:
    """The same steps for some packets at once."""
    chosen = list(numbers)

    def step(change: Callable[[bytes], bytes]) -> bool:
        old = {n: search.best.arrivals[n].data for n in chosen}
        new = {n: change(data) for n, data in old.items()}
        return new != old and search.fails(with_frames(search.best, new))

    step(lambda data: frames.repaired(_without_padding(data)))
    step(_without_padding)
    while any(step(lambda data, n=n: _nth(frames.simpler(data), n, data)) for n in range(8)):  # type: ignore[misc]
        pass
    step(_usual_hops)
    for size in _lengths([search.best.arrivals[n].data for n in chosen]):
        if step(lambda data, size=size: _mended(data, data[:size])):  # type: ignore[misc]
            break
    step(lambda data: _zeroed(data, _HEADERS, len(data)))
    for chunk in _CHUNKS:
        for start in range(0, min(_HEADERS, max(len(search.best.arrivals[n].data) for n in chosen)), chunk):
            step(lambda data, start=start, chunk=chunk: _zeroed(data, start, start + chunk))  # type: ignore[misc]


def _mended(old: bytes, new: bytes) -> bytes:
    """`new` with right lengths and checksums, if those of the old frame were."""
    return frames.repaired(new) if frames.repaired(old) == old else new


def _without_padding(data: bytes) -> bytes:
    """Without what follows the packet in the frame."""
    for layer in frames.layers(data):
        if layer.kind == "ipv4":
            return data[: layer.start + int.from_bytes(data[layer.start + 2 : layer.start + 4], "big")]
        if layer.kind == "ipv6":
            return data[: layer.end + int.from_bytes(data[layer.start + 4 : layer.start + 6], "big")]
        if layer.kind == "arp":
            return data[: layer.end]
    return data


def _nth(found: Iterator[bytes], n: int, otherwise: bytes) -> bytes:
    return next((data for i, data in enumerate(found) if i == n), otherwise)


def _lengths(found: list[bytes]) -> list[int]:
    """Where the frames may end: at the end of a header, or at any byte of the last one's payload, shortest first."""
    ends = {layer.end for data in found for layer in frames.layers(data)} or {14}
    longest = max(map(len, found))
    steps = {max(ends) + (1 << n) for n in range(16)} | {max(ends) + n for n in range(8)}
    return sorted(size for size in ends | steps if size < longest)


def _usual_hops(data: bytes) -> bytes:
    found = bytearray(data)
    for layer in frames.layers(data):
        if layer.kind in ("ipv4", "ipv6") and not layer.quoted:
            found[layer.start + (8 if layer.kind == "ipv4" else 7)] = _HOPS
    return _mended(data, bytes(found))


def _zeroed(data: bytes, start: int, end: int) -> bytes:
    """Zeros from `start` to `end`, but in addresses, ports and times to live."""
    kept = {n for f in frames.fields(data) for n in range(f.start, f.end)}
    for layer in frames.layers(data):
        if layer.kind in ("ipv4", "ipv6"):
            kept.add(layer.start + (8 if layer.kind == "ipv4" else 7))
    found = bytes(0 if start <= n < end and n not in kept else byte for n, byte in enumerate(data))
    return _mended(data, found)
