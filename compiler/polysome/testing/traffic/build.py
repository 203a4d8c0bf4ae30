"""Traces, built packet by packet: the interpreter runs along, so that later packets can answer what has left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from polysome.config.tables import Tables
from polysome.engines.trace import Arrival, Change, Trace
from polysome.interp.code import code_of
from polysome.interp.machine import Machine
from polysome.ir import program as ir
from polysome.testing.spec import Spec
from polysome.testing.traffic import later, tables, times
from polysome.testing.traffic.boundaries.choose import at_boundary
from polysome.testing.traffic.boundaries.model import mislead
from polysome.testing.traffic.choices import Choices, Weighted
from polysome.testing.traffic.constants import constants
from polysome.testing.traffic.frames import Frame, dissect, encode
from polysome.testing.traffic.fresh import fresh, set_length
from polysome.testing.traffic.values import EPOCH
from polysome.testing.traffic.world import World

_COMING = 18  # bytes of a block for time, length and damage
_PATIENCE = 2  # packets of a kind that may all be dropped before there are fewer of it
_BROKEN = 0.05  # share of damaged frames at least, among boundary packets
_RECENT = 6  # packets that the next one most likely has to do with

# What the next packet is. `new`: of a new conversation; `same`: of one there is; `answer` to a packet as it left;
# `back`: to it as it arrived; `error`: about one as it left; `hairpin`: from the port of one, to where it left from;
# `touched`: one, or an answer, with another value somewhere; `again`: the very same bytes; `returned`: what left;
# `boundary`: one, or an answer, next to where some condition of the parser changes; `beside`: one with another address
# or port, so that both have in common what should be told apart.
_KINDS = {
    "usual": Weighted(
        [
            *(("new", 3.5), ("same", 5.0), ("answer", 5.0), ("error", 1.0), ("touched", 1.6)),
            *(("hairpin", 0.7), ("back", 0.6), ("again", 0.6), ("returned", 0.4)),
            ("boundary", 0.6),
        ]
    ),
    "many": Weighted([("new", 12.0), ("same", 1.0), ("answer", 2.0), ("touched", 2.0), ("boundary", 0.5)]),
    "boundaries": Weighted([("boundary", 9.0), ("same", 3.0), ("answer", 3.0), ("new", 3.0)]),
    "flood": Weighted([("again", 40.0), ("same", 1.0), ("new", 1.5)]),
    "crowd": Weighted([("again", 14.0), ("beside", 9.0), ("same", 1.0), ("new", 1.5)]),
    "dialog": Weighted([("answer", 9.0), ("same", 6.0), ("new", 0.7), ("again", 0.3)]),
    "few": Weighted(
        [
            ("same", 6.0),
            ("answer", 6.0),
            ("new", 1.0),
            ("error", 1.0),
            ("touched", 1.0),
            ("hairpin", 0.5),
            ("back", 0.5),
            ("boundary", 0.5),
        ]
    ),
}


@dataclass(frozen=True)
class Mood:
    """What one trace is like, so that traces differ more than packets do."""

    kinds: str
    lengths: str
    pace: str
    exact: float  # share of packets whose time is a boundary
    damage: float
    churn: float
    variety: float


_PLAIN = Mood("usual", "small", "calm", 0.12, 0.0, 0.0, 0.0)
_MOODS = ("usual", "few", "usual", "many", "usual", "flood", "few", "usual", "dialog", "crowd", "boundaries")
_LIMITED = (*_MOODS, "flood", "crowd", "flood", "crowd")  # where rates are limited


def _mood(program: ir.Program, c: Choices) -> Mood:
    if not c.chance(0.9):
        return _PLAIN
    kinds = c.pick(_LIMITED if constants(program).rates else _MOODS)
    lengths = c.pick(("small", "any", "any", "large"))
    if kinds in ("flood", "crowd") and constants(program).bitrates:  # it takes bytes to reach one
        lengths = c.pick(("small", "large", "any", "large", "large"))
    if kinds in ("flood", "crowd") and c.chance(0.75):
        return Mood(kinds, lengths, "burst", 0.02, 0.0, 0.0, 0.0)
    if kinds == "dialog":  # each packet goes on where the one before it was: conversations get as far as they can
        return Mood(kinds, lengths, "calm", 0.2, 0.0, 0.0, 0.0)
    return Mood(
        kinds,
        lengths,
        c.pick(("calm", "calm", "burst", "calm", "calm", "burst", "calm", "keep")),
        c.pick((0.12, 0.05, 0.3)),
        max(c.pick((0.0, 0.05, 0.05, 0.3)), _BROKEN if kinds == "boundaries" else 0.0),
        c.pick((0.0, 0.0, 0.1, 0.25)),
        c.pick((0.0, 0.1, 0.3)),
    )


@dataclass(slots=True)
class _Met:
    """A packet of the trace and what left because of it, ports and bytes."""

    port: int
    time: int
    data: bytes
    left: list[tuple[int, bytes]] = field(default_factory=list)
    conversation: int = 0


class _Watch:
    """The sink: what left, by the number of the packet."""

    def __init__(self) -> None:
        self.met: list[_Met] = []

    def leave(self, port: int, time: int, data: bytes, order: int) -> None:
        self.met[order].left.append((port, data))

    def emitted(self, port: int, time: int, data: bytes) -> None:
        if self.met:
            self.met[-1].left.append((port, data))


class Builder:
    """One trace from blocks of choices: `first` for config and mood, then one block per packet."""

    def __init__(self, spec: Spec, first: bytes) -> None:
        c = Choices(first)
        program = spec.program
        self.program = program
        self.mood = _mood(program, c)
        self.world = World(program, c, spec.config)
        self.works = times.clockwork(program, self.world.config)
        self.sink = _Watch()
        self.machine = Machine(program, Tables(program, self.world.config), self.sink, code_of(program))
        self.handled = sorted({port for handler in program.packet_handlers for port in handler.ports}) or [0]
        self.arrivals: list[Arrival] = []
        self.changes: list[Change] = []
        self.present = dict(self.world.config)
        self.now = EPOCH
        self._conversations = 0
        self._tries: dict[str, list[int]] = {}  # by kind, and port: how many, and of them got through

    def trace(self) -> Trace:
        return Trace(self.world.config, tuple(self.arrivals), tuple(self.changes))

    # ------------------------------------------------------------ a packet

    def packet(self, block: bytes) -> None:
        """The next packet, decided by a block: first when it comes and what happens to it, then what it is."""
        c, coming = Choices(block[_COMING:]), Choices(block[:_COMING])
        base = self._base(c)
        kind = self._promising(c, c.of(_KINDS[self.mood.kinds]))
        kind, port, frame, data = self._content(c, kind, base)
        if frame is not None:
            data = self._finished(coming, frame)
        if self.mood.damage and coming.chance(self.mood.damage / 2):
            data = later.mangled(coming, data)
        self.arrive(coming, Choices(block[::-1]), port, data, None if kind == "new" else base)
        for what in (kind, f"{kind} {port}"):
            tries = self._tries.setdefault(what, [0, 0])
            tries[0] += 1
            tries[1] += bool(self.sink.met[-1].left)

    def arrive(self, c: Choices, churn: Choices, port: int, data: bytes, base: _Met | None) -> None:
        """The packet comes when `c` says; config may change before, as `churn` says. Without `base` it opens a flow."""
        self._conversations += base is None
        conversation = self._conversations if base is None else base.conversation
        time = self._time(c, conversation)
        if self.present and self.mood.churn and churn.chance(self.mood.churn):
            self._change(churn, time)
        self.now = max(self.now, time)
        self.sink.met.append(_Met(port, time, data, conversation=conversation))
        self.arrivals.append(Arrival(port, time, data))
        with suppress(Exception):  # an interpreter that fails is for the campaign to find, by running this trace
            self.machine.arrive(port, time, data)

    def _promising(self, c: Choices, kind: str) -> str:
        """Another kind, mostly, if none of this one ever got through in this trace."""
        tried, passed = self._tries.get(kind, (0, 0))
        if tried < _PATIENCE or passed or kind in ("new", "same") or c.chance(0.3):
            return kind
        return "same" if c.chance(0.5) else "new"

    def _base(self, c: Choices) -> _Met | None:
        """What the next packet has to do with: a recent one, rather one that got through."""
        met = self.sink.met
        if met and self.mood.kinds == "dialog" and not c.chance(0.15):
            return met[-1]
        if not c.chance(0.2):
            met = [m for m in met if m.left] or met
        if not met:
            return None
        return met[-1 - (c.below(min(len(met), _RECENT)) if not c.chance(0.2) else c.below(len(met)))]

    def _content(self, c: Choices, kind: str, base: _Met | None) -> tuple[str, int, Frame | None, bytes]:
        """What it is in the end, where it arrives, and what: a frame to finish, or bytes."""
        if base is None or kind == "new":
            return "new", *self._new(c), b""
        left = c.pick(base.left) if base.left else None
        if left is not None and left[0] not in self.handled and not c.chance(0.1):
            left = None  # nothing that comes from there is handled
        match kind:
            case "again":
                return kind, base.port, None, base.data
            case "returned" if left is not None:
                return kind, left[0], None, left[1]
            case "back":
                port = self._other(c, base.port) if left is None else left[0]
                return kind, port, later.answer(self.program, c, self.frame(base.port, base.data)), b""
            case "error":
                return kind, *self._error(c, base, left), b""
            case "hairpin" if left is not None and left[0] != base.port:
                inner, outer = self.frame(base.port, base.data), self.frame(*left)
                return kind, base.port, later.hairpin(c, self.world, inner, outer, base.port), b""
            case "touched":
                return kind, *self._touched(c, base, left), b""
            case "beside":
                peer, frame = self._other(c, base.port), self.frame(base.port, base.data)
                return kind, base.port, later.beside(self.program, c, self.world, frame, base.port, peer), b""
            case "boundary" if self.mood.damage:  # half of them are wrong somewhere
                return kind, *self._boundary(c, base, left)
            case "answer" if left is not None:
                return kind, left[0], later.answer(self.program, c, self.frame(*left)), b""
        if c.chance(0.6 if not base.left else 0.0 if kind == "same" else 0.4):
            return "new", *self._new(c), b""
        return "same", base.port, later.following(c, self.frame(base.port, base.data)), b""

    def frame(self, port: int, data: bytes) -> Frame:
        """Bytes as the program's parser sees them."""
        return dissect(self.program, self.machine.parse(port, data))

    def _new(self, c: Choices) -> tuple[int, Frame]:
        port = c.pick(self.handled) if not c.chance(0.01) else c.below(len(self.program.ports))
        tried, passed = self._tries.get(f"new {port}", (0, 0))
        if tried >= _PATIENCE and not passed and not c.chance(0.25):
            others = [p for p in self.handled if self._tries.get(f"new {p}", (0, 1))[1]]
            port = c.pick(others) if others else self._other(c, port)
        return port, fresh(self.program, c, self.world, port, self._other(c, port))

    def _other(self, c: Choices, port: int) -> int:
        """Another port, mostly one with a handler."""
        others = [p for p in self.handled if p != port] or [p for p in range(len(self.program.ports)) if p != port]
        return c.pick(others) if others else port

    def _error(self, c: Choices, base: _Met, left: tuple[int, bytes] | None) -> tuple[int, Frame]:
        if left is None or c.chance(0.12):
            left = (self._other(c, base.port), base.data)
        about = self.frame(*left)
        found = later.error(self.program, c, self.world, about, left[0], base.port, left[1])
        if found is None:
            return left[0], later.answer(self.program, c, about)
        return left[0], found

    def _touched(self, c: Choices, base: _Met, left: tuple[int, bytes] | None) -> tuple[int, Frame]:
        port, frame = base.port, self.frame(base.port, base.data)
        if left is not None and c.chance(0.6):
            port, frame = left[0], later.answer(self.program, c, self.frame(*left))
        found = later.touched(self.program, c, self.world, frame, port, self._other(c, port))
        if c.chance(0.1):  # at a port where it does not belong
            port = self._other(c, port)
        return port, found

    def _boundary(self, c: Choices, base: _Met, left: tuple[int, bytes] | None) -> tuple[int, Frame | None, bytes]:
        port, frame = base.port, self.frame(base.port, base.data)
        if left is not None and c.chance(0.4):
            port, frame = left[0], later.answer(self.program, c, self.frame(*left))
        elif c.chance(0.3):
            port, frame = self._new(c)
        if c.chance(0.5):
            mislead(self.program, frame)
        data = at_boundary(self.program, c, frame)
        return port, frame if data is None else None, data or b""

    def _finished(self, c: Choices, frame: Frame) -> bytes:
        """The frame's bytes, with another length and a few more values now and then, and damage."""
        if self.mood.variety and c.chance(self.mood.variety):
            later.varied(c, frame)
        if c.chance(0.4 if self.mood.lengths == "small" else 0.7) and frame.cut is None and not frame.missing:
            set_length(self.program, c, frame, self.mood.lengths)
        if self.mood.damage and c.chance(self.mood.damage):
            later.damaged(self.program, c, frame)
        return encode(self.program, frame)

    # ------------------------------------------------------------ time and config

    def _time(self, c: Choices, conversation: int) -> int:
        if not self.arrivals:
            return self.now
        if c.chance(self.mood.exact):
            since = [m.time for m in self.sink.met if m.conversation == conversation][-2:] or [self.now]
            exact = times.boundary(c, self.works, self.now, self.arrivals[0].time, since)
            if exact >= self.now or c.chance(0.05):
                return min(exact, self.now + self.works.longest)
        if c.chance(0.012):
            return max(0, self.now - c.pick((1, 1000, 10**6, 10**9)))
        if c.chance(0.008):
            return self.now + times.leap(c, self.works)
        return self.now + times.step(c, self.mood.pace, self.works)

    def _change(self, c: Choices, time: int) -> None:
        """Config items change right before the packet, at its instant or a little earlier, and what has left stays."""
        earliest = self.now + 1 if self.arrivals else self.now  # what is due at `now` comes before the packet there
        at = max([earliest, time - c.pick((0, 1, 1000)), *(change.time for change in self.changes[-1:])])
        if at > time:
            return
        names = list(self.present)
        chosen = {c.pick(names)} | ({c.pick(names)} if c.chance(0.1) else set())
        values = {n: tables.changed(self.program, c, n, self.present[n]) for n in names if n in chosen}
        self.present |= values
        self.changes.append(Change(at, values))
        self.machine.change_at(at, values)


def trace_of(spec: Spec, first: bytes, blocks: Sequence[bytes]) -> Trace:
    """The trace that the blocks say."""
    builder = Builder(spec, first)
    for block in blocks:
        builder.packet(block)
    return builder.trace()


def configuration(spec: Spec, first: bytes) -> Mapping[str, Any]:
    """The config of the trace that begins with `first`."""
    c = Choices(first)
    _mood(spec.program, c)
    return World(spec.program, c, spec.config).config


def lone_frame(spec: Spec, first: bytes, block: bytes) -> bytes:
    """A frame that begins something, in a trace that begins with `first`."""
    builder = Builder(spec, first)
    builder.packet(block)
    return builder.arrivals[0].data
