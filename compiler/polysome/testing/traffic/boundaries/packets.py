"""A program's boundary packets: a list that is the same every time, for every path, condition and side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice

from polysome.engines.trace import Arrival, Trace
from polysome.testing.spec import Spec
from polysome.testing.traffic.boundaries.bases import STEP, Base, Bases
from polysome.testing.traffic.boundaries.model import FAR, NEAR, Boundary, sized
from polysome.testing.traffic.boundaries.paths import boundaries, routes, splitting
from polysome.testing.traffic.choices import Choices
from polysome.testing.traffic.frames import encode
from polysome.testing.traffic.routes import Route
from polysome.testing.traffic.values import EPOCH
from polysome.testing.traffic.world import World

MOST = 3500
"""Packets in a list, if no other number is asked for."""

OPENING = "none"  # the condition of frames that are as they are, before answers to them
_SHORT = 3  # headers of a path of which all near boundaries are wanted


@dataclass(frozen=True)
class BoundaryPacket:
    """A frame that arrives at `port`. `long`: it was made from one that is long enough to be split; else from one that
    is as short as its path's frames are.
    """

    port: int
    data: bytes
    path: tuple[str, ...]
    condition: str
    side: str
    long: bool

    def __str__(self) -> str:
        return f"{' '.join(self.path)}, {'long' if self.long else 'short'}: {self.condition}: {self.side}"


def boundary_packets(spec: Spec, most: int = MOST) -> Iterator[BoundaryPacket]:
    """At most `most`, in an order in which answers follow what they answer; made as they are asked for.

    All conditions of paths that a switch splits, the near ones of short paths, and as many of the others as there is
    room for. Each is made from a frame that the NF sends, if one was found.
    """
    return islice(_Maker(spec).packets(most), most)


def boundary_pieces(packets: Iterable[BoundaryPacket], size: int) -> Iterator[tuple[BoundaryPacket, ...]]:
    """The packets in parts of `size` and a few, each for a trace of its own: what opens a conversation comes first."""
    opening: list[BoundaryPacket] = []
    piece: list[BoundaryPacket] = []
    for packet in packets:
        opens = packet.condition == OPENING
        if opens and (piece and piece[-1].condition != OPENING):
            yield tuple(piece)
            opening, piece = [], []
        elif len(piece) >= size:
            yield tuple(piece)
            piece = [one for one in opening if one.path == packet.path]
        if opens:
            opening.append(packet)
        piece.append(packet)
    yield tuple(piece)


def boundary_trace(spec: Spec, packets: Sequence[BoundaryPacket]) -> Trace:
    """They arrive one after the other."""
    config = World(spec.program, Choices(b""), spec.config).config
    return Trace(config, tuple(Arrival(p.port, EPOCH + STEP * n, p.data) for n, p in enumerate(packets)))


@dataclass(frozen=True, eq=False)
class _Path:
    """One of the routes of a class."""

    route: Route
    variant: int


class _Maker:
    def __init__(self, spec: Spec) -> None:
        self.program = spec.program
        self.names = tuple(instance.name for instance in spec.program.parser.instances)
        self._all_bases = Bases(spec)
        self._bases: dict[_Path, tuple[Base, ...]] = {}
        self._least = (splitting(spec.program).lengths or (0, 0))[0]
        self._made = 0

    def packets(self, most: int) -> Iterator[BoundaryPacket]:
        """Without those that another condition has already given."""
        seen: set[tuple[int, bytes]] = set()
        split, short, deep = self._paths()
        yield from _new(seen, self._almost_own((split or short)[0]))
        for path in split:
            yield from self._conversation(path)
            for which in reversed(range(len(self._base(path)))):  # answers first: nothing has yet gone wrong
                yield from _new(seen, self._of(path, NEAR, which))
            yield from _new(seen, self._of(path, NEAR, 0, False), self._of(path, FAR, 0))
        for path in short:
            yield from _new(seen, self._of(path, NEAR, 0), self._of(path, NEAR, 0, False))
        yield from _new(seen, self._spread(deep, most - len(seen)))
        for path in short:
            yield from _new(seen, self._of(path, FAR, 0))

    def _paths(self) -> tuple[list[_Path], list[_Path], list[_Path]]:
        """Those that are split, and of the others those with few headers and the rest."""
        known = splitting(self.program)
        numbers = range(len(self.program.parser.classes))
        every = [_Path(one, n) for number in numbers for n, one in enumerate(routes(self.program, number))]
        split = [path for path in every if path.route.path in known.paths]
        others = [path for path in every if path.route.path not in known.paths]
        short = [path for path in others if len(path.route.path) <= _SHORT]
        return split, short, [path for path in others if len(path.route.path) > _SHORT]

    # ------------------------------------------------------------ what is made

    def _of(self, path: _Path, rank: int, which: int, long: bool = True) -> Iterator[BoundaryPacket]:
        """All of a path with a rank, from one of its base frames, if there is that one."""
        for boundary in self._boundaries(path, rank):
            if which < len(self._base(path)) and (long or not boundary.sized):
                yield from self._packet(path, boundary, which, long)

    def _spread(self, paths: list[_Path], most: int) -> Iterator[BoundaryPacket]:
        """At most `most`: near ones of every path, or of every few, others than of the one before."""
        each = max(1, most // max(1, len(paths)))
        stride = max(1, -(-len(paths) // max(1, most)))
        for n, path in enumerate(paths[::stride] if most > 0 else ()):
            cases = self._boundaries(path, NEAR)
            first = n * each % len(cases)
            for k, boundary in enumerate(islice(cycle(cases), first, first + min(each, len(cases)))):
                yield from self._packet(path, boundary, 0, (n + k) % 4 > 0 or boundary.sized)

    def _conversation(self, path: _Path) -> Iterator[BoundaryPacket]:
        """The base frames as they are, so that the NF knows what answers belong to."""
        for port, frame in self._base(path):
            yield self._labelled(path, port, encode(self.program, frame), (OPENING, "as it is"), False)

    def _almost_own(self, path: _Path) -> Iterator[BoundaryPacket]:
        """Frames to and from Ethernet addresses that differ in one bit from the switch's own, which it refuses."""
        own = splitting(self.program).address
        port, frame = self._base(path)[0]
        data = encode(self.program, sized(self._least, frame, 0))
        for bit in range(48 if own is not None and not frame.missing else 0):
            address = ((own or 0) ^ 1 << bit).to_bytes(6, "big")
            for where, changed in (("to", address + data[6:]), ("from", data[:6] + address + data[12:])):
                yield self._labelled(
                    path, port, changed, (f"{where} the switch's own address", f"bit {bit} wrong"), True
                )

    def _packet(self, path: _Path, boundary: Boundary, which: int, long: bool) -> Iterator[BoundaryPacket]:
        port, frame = self._base(path)[which]
        if frame.missing and long:
            return  # what is announced would then be there
        self._made += 1
        data = boundary.make(sized(self._least, frame, self._made % 4) if long else frame)
        if data is not None:
            yield self._labelled(path, port, data, (boundary.condition, boundary.side), long)

    def _labelled(self, path: _Path, port: int, data: bytes, label: tuple[str, str], long: bool) -> BoundaryPacket:
        return BoundaryPacket(port, data, tuple(self.names[i] for i in path.route.path), *label, long)

    def _boundaries(self, path: _Path, rank: int) -> list[Boundary]:
        return [b for b in boundaries(self.program, path.route.number, path.variant) if b.rank == rank]

    def _base(self, path: _Path) -> tuple[Base, ...]:
        if path not in self._bases:
            self._bases[path] = self._all_bases.of(path.route, path.route.path in splitting(self.program).paths)
        return self._bases[path]


def _new(seen: set[tuple[int, bytes]], *several: Iterator[BoundaryPacket]) -> Iterator[BoundaryPacket]:
    """Those that were not yet seen, which they are then."""
    for packet in chain.from_iterable(several):
        if (packet.port, packet.data) not in seen:
            seen.add((packet.port, packet.data))
            yield packet
