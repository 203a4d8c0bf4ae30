"""Traces from real captures: a window of packets, brought together on few hosts, and mutated."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from polysome.captures.read import open_capture
from polysome.engines.feed import Turns
from polysome.engines.trace import Trace
from polysome.ir import types as t
from polysome.testing.spec import Spec
from polysome.testing.traffic import later
from polysome.testing.traffic.build import Builder
from polysome.testing.traffic.choices import Choices, Weighted
from polysome.testing.traffic.frames import Frame, encode
from polysome.testing.traffic.fresh import set_length
from polysome.testing.traffic.world import drawn

_MOST = 4000  # packets of one capture
_LONGEST = 9100  # bytes of a packet

# What becomes of the next packet of the window; `made`: one that answers or follows, as in other traces.
_DEEDS = Weighted([("take", 10.0), ("made", 4.0), ("touch", 2.0), ("skip", 1.0), ("again", 1.0), ("early", 0.7)])


@lru_cache(maxsize=16)
def read(paths: tuple[Path, ...]) -> tuple[tuple[bytes, ...], ...]:
    """The packets of captures, of each its first few thousand. CaptureError or OSError if one cannot be read."""
    found = []
    for path in paths:
        packets: list[bytes] = []
        with open_capture(path) as capture:
            for packet in capture:
                if len(packets) == _MOST:
                    break
                packets.append(bytes(packet.data[:_LONGEST]))
        found.append(tuple(packets))
    return tuple(packets for packets in found if packets)


def build_captured(spec: Spec, recorded: tuple[tuple[bytes, ...], ...], first: bytes, blocks: Sequence[bytes]) -> Trace:
    """The trace that the blocks make of a window."""
    builder = Builder(spec, first)
    if not recorded:
        return builder.trace()
    choice = Choices(first[::-1])
    packets = choice.pick(recorded)
    window = _Window(builder, packets, choice.below(len(packets)))
    for block in blocks:
        window.packet(block)
    return builder.trace()


class _Window:
    """Packets of a capture from a place on."""

    def __init__(self, builder: Builder, packets: tuple[bytes, ...], at: int) -> None:
        self.builder, self.packets, self.at = builder, packets, at
        self.turns = Turns(builder.machine)
        self._hosts: dict[tuple[t.Address, int], int] = {}

    def packet(self, block: bytes) -> None:
        """The next packet of the trace."""
        c, churn = Choices(block), Choices(block[::-1])
        deed = c.of(_DEEDS)
        met = self.builder.sink.met
        if deed == "made" and met:
            self.builder.packet(block[2:])
            return
        if deed == "again" and met:
            self.builder.arrive(c, churn, met[-1].port, met[-1].data, met[-1])
            return
        self.at += 2 if deed in ("skip", "early") else 1
        data = self.packets[(self.at - (2 if deed == "early" else 1)) % len(self.packets)]
        frame = self.builder.frame(0, data)
        if frame.layers:
            data = self._rewritten(c, frame, deed)
        port = self.turns.port(data) if self.turns.ports else 0
        if self.builder.mood.damage and c.chance(self.builder.mood.damage):
            data = later.mangled(c, data)
        base = next((m for m in reversed(met) if m.port == port), None)
        self.builder.arrive(c, churn, port, data, base)

    def _rewritten(self, c: Choices, frame: Frame, deed: str) -> bytes:
        """The frame with few different addresses, right checksums, and now and then something else changed."""
        program, world = self.builder.program, self.builder.world
        for layer in frame.layers:
            for field in drawn(program)[layer.shape.number]:
                if isinstance(field.type, t.Address):
                    wanted = world.wanted(field, 0) if field.role == 1 and c.chance(0.5) else []
                    layer.values[field.field] = self._host(field.type, layer.values[field.field], wanted)
        if deed == "touch":
            frame = later.touched(program, c, world, frame, 0, 1)
            if frame.cut is None and c.chance(0.5):
                set_length(program, c, frame, self.builder.mood.lengths)
        return encode(program, frame)

    def _host(self, type: t.Address, address: int, wanted: list[int]) -> int:
        """One of the trace's hosts instead of an address, always the same one; groups stay what they are.

        An address seen for the first time becomes one of `wanted`, if there are any: those that the program asks for.
        """
        if type == t.MAC and address >> 40 & 1:
            return address
        found = self._hosts.get((type, address))
        if found is None:
            number = sum(of == type for of, _ in self._hosts)
            every = [h for port in (0, 1) for h in self.builder.world.hosts(type, port)]
            choice = wanted or [*self.builder.world.known(type), *every]
            found = self._hosts[type, address] = choice[number % 6 % len(choice)]
        return found
