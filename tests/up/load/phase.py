"""What a test sent between two silences of a deployment, and what each packet caused on its links."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests import tags
from tests.system import wire
from tests.up.load.carried import Carried, Counted
from tests.up.load.promised import Promised

from polysome.captures.read import Captured
from polysome.plan import frames

SWITCH = bytes.fromhex("02706f6c7901")  # its MAC address


@dataclass(frozen=True)
class Packet:
    """One that a traffic port sent. `way`: the kind of the plan that is split, None: it goes whole."""

    port: int
    data: bytes
    way: Any
    claimed: int

    @property
    def trailer(self) -> int:
        return len(self.data) - self.claimed


class Phase:
    def __init__(self, promised: Promised, carried: Carried) -> None:
        self.carried = carried
        self.packets = [Packet(p, d, promised.way(p, d), promised.length(p, d)) for p, d in carried.sent]
        self.to_nf, self.from_nf = _ways(one for seen in carried.nf.values() for one in seen)
        self.requests, self.answers = _ways(one for seen in carried.servers.values() for one in seen)

    @property
    def fields(self) -> list[bytes]:
        return _of(self.to_nf, wire.kind, wire.SPLIT)

    @property
    def edits(self) -> list[bytes]:
        return _of(self.from_nf, wire.kind, wire.SPLIT)

    @property
    def whole_to_nf(self) -> list[bytes]:
        return _of(self.to_nf, wire.kind, wire.WHOLE)

    @property
    def whole_from_nf(self) -> list[bytes]:
        """Also packets that the NF made."""
        return _of(self.from_nf, wire.kind, wire.WHOLE) + _of(self.from_nf, wire.kind, wire.OWN)

    @property
    def writes(self) -> list[bytes]:
        return _of(self.requests, wire.opcode, wire.WRITE)

    @property
    def reads(self) -> list[bytes]:
        return _of(self.requests, wire.opcode, wire.READ)

    @property
    def responses(self) -> list[bytes]:
        return _of(self.answers, wire.opcode, wire.RESPONSE)

    @property
    def acks(self) -> list[bytes]:
        return _of(self.answers, wire.opcode, wire.ACK)

    @property
    def left(self) -> list[bytes]:
        return [one.data for seen in self.carried.left.values() for one in seen]

    @cached_property
    def parked(self) -> dict[int, Packet]:
        """By seq: the packets that were written, as far as they are of those that were sent."""
        known = {packet.data: packet for packet in self.packets}
        return {wire.cell_seq(one): known[data] for one in self.writes if (data := wire.written(one)) in known}

    @property
    def answered(self) -> list[Packet]:
        """Parked packets whose edits came back."""
        return [self.parked[wire.tag_seq(one)] for one in self.edits]

    @property
    def in_nf(self) -> list[int]:
        """For how long the NF had each of the fields that it answered, in ns."""
        return _between(_times(self.to_nf, wire.tag_seq), _times(self.from_nf, wire.tag_seq))

    @property
    def in_cell(self) -> list[int]:
        """How long after its WRITE each packet was there again, in ns."""
        wrote = [one for one in self.requests if wire.opcode(one.data) == wire.WRITE]
        read = [one for one in self.answers if wire.opcode(one.data) == wire.RESPONSE]
        return _between(_times(wrote, wire.cell_seq), _times(read, wire.read_seq))

    def each(self, seen: Iterable[bytes]) -> int:
        """Bits on the wire for each packet that was sent: as many for all, but for what the NF makes itself."""
        total = sum(bits(len(one)) for one in seen if not _own(one))
        assert total % len(self.packets) == 0
        return total // len(self.packets)


def bits(length: int) -> int:
    """Of a frame, on the wire."""
    return 8 * (length + frames.GAP)


def counted(seen: list[Captured]) -> Counted:
    """What the interface where that was captured must count."""
    came, went = ([one.data for one in seen if (one.data[:6] == SWITCH) is out] for out in (False, True))
    return Counted(len(came), sum(map(len, came)), len(went), sum(map(len, went)))


def _own(frame: bytes) -> bool:
    """Is it from the NF, without a packet that it answers?"""
    return tags.is_tagged(frame) and wire.kind(frame) == wire.OWN


def _ways(seen: Iterable[Captured]) -> tuple[list[Captured], list[Captured]]:
    """From the switch, and to it."""
    every = list(seen)
    away, back = ([one for one in every if (one.data[:6] == SWITCH) is out] for out in (False, True))
    return away, back


def _of(seen: list[Captured], what: Callable[[bytes], int], value: int) -> list[bytes]:
    return [one.data for one in seen if what(one.data) == value]


def _times(seen: list[Captured], name: Callable[[bytes], int]) -> dict[int, int]:
    return {name(one.data): one.time for one in seen}


def _between(first: dict[int, int], then: dict[int, int]) -> list[int]:
    return [time - first[seq] for seq, time in then.items() if seq and seq in first]
