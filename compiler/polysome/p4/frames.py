"""Frames that take the transitions of a parser, one after the other: found by walking with values, not by proof.

A frame is followed through the parser, and for each outcome of a state that it goes through and that no frame had yet,
the bits of the frame that the state selects on are set so that it goes there. What is found is kept and followed again.
Outcomes that no frame is found for may still be possible.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from polysome.p4 import program as pr
from polysome.p4.points import ENDS, NO_MATCH, Points
from polysome.p4.types import Composite, width

TRIES = 24  # values for the bits that a case leaves open
ROOM = 320  # bytes that a frame has at least while it is followed: a parser goes less deep


@dataclass(frozen=True, slots=True)
class Frame:
    """`metadata`: of its port, as `port_metadata_unpack` reads it."""

    metadata: bytes
    data: bytes


@dataclass(frozen=True, slots=True)
class Value:
    """Bits with where in the frame each one is, the highest first; None: it is not the frame's."""

    value: int
    places: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One state on a frame's way. `at`: the byte at which it began. `keys`: what it selects on, if it came to that."""

    state: pr.State
    outcome: int
    at: int
    keys: tuple[Value, ...]


def frames(points: Points, parser: pr.Parser, seeds: Iterable[Frame], seed: int = 0) -> dict[int, Frame]:
    """A frame for each outcome of the parser's states that one was found for, by the outcome's number.

    The same seed, the same frames. O(outcomes * TRIES) walks.
    """
    random, found = Random(seed), dict[int, Frame]()
    todo = deque(Frame(s.metadata, s.data.ljust(ROOM, b"\0")) for s in seeds)
    while todo:
        frame = todo.popleft()
        steps = walk(points, parser, frame)
        new = [step for step in steps if step.outcome not in found]
        found.update((step.outcome, frame) for step in new)
        for step in steps if new else ():
            todo += _others(points, parser, frame, step, found, random)
    return found


def _others(
    points: Points, parser: pr.Parser, frame: Frame, step: Step, found: dict[int, Frame], random: Random
) -> Iterator[Frame]:
    """The frame changed so that it leaves a state by outcomes that no frame had."""
    for n, case in enumerate(step.state.cases):
        number = points.transition(step.state, n)
        if number not in found and step.keys:
            yield from _steered(points, parser, frame, step, number, case.keys, random)
    unmatched, ends = points.other(step.state, NO_MATCH), points.other(step.state, ENDS)
    if unmatched is not None and unmatched not in found:
        yield from _steered(points, parser, frame, step, unmatched, tuple((0, 0) for _ in step.keys), random)
    if ends is not None and ends not in found:
        yield from _cut(points, parser, frame, step, ends)


def _cut(points: Points, parser: pr.Parser, frame: Frame, step: Step, wanted: int) -> Iterator[Frame]:
    """The shortest frame that ends within the state."""
    for size in range(step.at, len(frame.data)):
        made = Frame(frame.metadata, frame.data[:size])
        last = walk(points, parser, made)[-1]
        if last.outcome == wanted:
            yield made
        if last.state is step.state or last.at > step.at:
            return


def _steered(
    points: Points,
    parser: pr.Parser,
    frame: Frame,
    step: Step,
    number: int,
    wanted: tuple[tuple[int, int], ...],
    random: Random,
) -> Iterator[Frame]:
    """The first of some frames with these values and masks that has the outcome, if one has."""
    for attempt in range(TRIES):
        data = bytearray(frame.data)
        for key, (value, mask) in zip(step.keys, wanted, strict=True):
            _set(data, key, value, mask, attempt, random)
        made = Frame(frame.metadata, bytes(data))
        if any(s.outcome == number for s in walk(points, parser, made)):
            yield made
            return


def _set(data: bytearray, key: Value, value: int, mask: int, attempt: int, random: Random) -> None:
    """Open bits stay at first, then they are all zeros, all ones, and then anything."""
    bits = len(key.places)
    other = (key.value, 0, (1 << bits) - 1)[attempt] if attempt < 3 else random.getrandbits(bits)
    wanted = value & mask | other & ~mask
    for n, place in enumerate(key.places):
        if place is not None:
            bit = 0x80 >> place % 8
            data[place // 8] = data[place // 8] & ~bit | (bit if wanted >> bits - 1 - n & 1 else 0)


# ---------------------------------------------------------------- following a frame


def walk(points: Points, parser: pr.Parser, frame: Frame) -> list[Step]:
    """The states that a frame goes through. Checksums are 0 here: no transition may depend on one."""
    walker, state, steps = _Walk(frame), parser.state("start"), list[Step]()
    while True:
        at = walker.at
        try:
            walker.through(state)
            keys = tuple(walker.value(v) for v in state.values)
        except _Ends:
            return [*steps, Step(state, _known(points.other(state, ENDS)), at, ())]
        case = _chosen(state, keys)
        if case is None:
            return [*steps, Step(state, _known(points.other(state, NO_MATCH)), at, keys)]
        steps.append(Step(state, points.transition(state, case), at, keys))
        if state.cases[case].state in ("accept", "reject"):
            return steps
        state = parser.state(state.cases[case].state)


def _known(outcome: int | None) -> int:
    """What happens is an outcome."""
    assert outcome is not None
    return outcome


def _chosen(state: pr.State, keys: tuple[Value, ...]) -> int | None:
    for n, case in enumerate(state.cases):
        if all(key.value & mask == value for key, (value, mask) in zip(keys, case.keys, strict=True)):
            return n
    return None


class _Ends(Exception):
    """The frame does."""


class _Walk:
    """What is known of a frame on its way: a value for each place that was set."""

    def __init__(self, frame: Frame) -> None:
        self.frame, self.at = frame, 0
        self._known: dict[tuple[str, ...], Value] = {}

    def through(self, state: pr.State) -> None:
        for s in state.body:
            match s:
                case pr.Extract():
                    self._extract(s.header)
                case pr.Advance():
                    self._need(s.bits // 8)
                    self.at += s.bits // 8
                case pr.PortMetadata() if s.target is not None:
                    self._unpack(s.target)
                case pr.Assign() if isinstance(s.target, pr.Place):
                    self._known[s.target.key] = self.value(s.value)
                case _:
                    pass

    def value(self, e: pr.Expr) -> Value:
        bits = width(e.type)
        match e:
            case pr.Const():
                return Value(e.value, (None,) * bits)
            case pr.Place():
                return self._known.get(e.key, Value(0, (None,) * bits))
            case pr.Slice():
                inner = self.value(e.value)
                low, high = len(inner.places) - e.low, len(inner.places) - 1 - e.high
                return Value(inner.value >> e.low & (1 << bits) - 1, inner.places[high:low])
            case pr.Cast():
                inner = self.value(e.value)
                places = ((None,) * bits + inner.places)[len(inner.places) :]
                return Value(inner.value & (1 << bits) - 1, places)
            case pr.Binary() if e.op == "++":
                left, right = self.value(e.left), self.value(e.right)
                return Value(left.value << len(right.places) | right.value, left.places + right.places)
            case pr.Lookahead():
                self._need((bits + 7) // 8)
                return self._bits(8 * self.at, bits)
            case _:
                return Value(0, (None,) * bits)

    def _need(self, size: int) -> None:
        if self.at + size > len(self.frame.data):
            raise _Ends

    def _bits(self, first: int, count: int) -> Value:
        last = first + count
        whole = int.from_bytes(self.frame.data[first // 8 : (last + 7) // 8], "big")
        return Value(whole >> -last % 8 & (1 << count) - 1, tuple(range(first, last)))

    def _extract(self, header: pr.Place) -> None:
        assert isinstance(header.type, Composite)
        self._need(header.type.width // 8)
        bit = 8 * self.at
        for name, kind in header.type.fields:
            self._known[*header.key, name] = self._bits(bit, width(kind))
            bit += width(kind)
        self.at += header.type.width // 8

    def _unpack(self, target: pr.Place) -> None:
        assert isinstance(target.type, Composite)
        left, whole = 8 * len(self.frame.metadata), int.from_bytes(self.frame.metadata, "big")
        for name, kind in target.type.fields:
            left -= width(kind)
            value = whole >> left & (1 << width(kind)) - 1
            self._known[*target.key, name] = Value(value, (None,) * width(kind))
