"""What a plan says of a packet's bytes, read at the fixed places of its ways; nothing of what makes packets is used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.plan.branches import branches
from polysome.plan.conditions import Ahead, Box, Key
from polysome.plan.design import Design
from polysome.plan.way import Step, Way


@dataclass(frozen=True)
class Asked:
    """Of header `step` of a way, `kind`: the header is there (there), a key's value lies between `low` and `high`, both
    included (value), the packet goes on (choice: `box` is one in which it does), all options are there (options).
    """

    step: int
    kind: str
    key: Key = -1
    low: int = 0
    high: int = 0
    box: Box = ()


def readers(design: Design) -> list[Reader]:
    """Of all ways that a packet of some length can take."""
    limited = [way.within(design.sizes.least, design.sizes.most) for way in design.ways]
    kept = tuple(way for way in limited if way is not None)
    return [Reader(design.program.parser, way, kept) for way in kept]


class Reader:
    """`way`, one of `ways`, for the packets that are split by their length."""

    def __init__(self, parser: ir.Parser, way: Way, ways: tuple[Way, ...]) -> None:
        self.parser, self.way = parser, way
        self._branches = []
        for number, step in enumerate(way.steps):
            before = [s.node for s in way.steps[: number + 1]]
            alike = [o.steps[number] for o in ways if [s.node for s in o.steps[: number + 1]] == before]
            self._branches.append(branches(parser, step.node, frozenset(s.target for s in alike)))

    def value(self, step: int, key: Key, data: bytes) -> int | None:
        """A field, or what is behind its header; None if that is not all in the frame."""
        at, header = self.way.steps[step].offset, self._header(step)
        if isinstance(key, Ahead):
            first, width = (at + header.fixed) * 8 + key.first, key.width
        else:
            first, width = at * 8 + header.fields[key].offset, header.fields[key].width
        behind = len(data) * 8 - first - width
        return int.from_bytes(data, "big") >> behind & ((1 << width) - 1) if behind >= 0 else None

    def width(self, step: int, key: Key) -> int:
        return key.width if isinstance(key, Ahead) else self._header(step).fields[key].width

    def failing(self, data: bytes) -> list[Asked]:
        """What does not hold, in its order; none: the packet is split. Ends where the frame does."""
        found: list[Asked] = []
        for number, step in enumerate(self.way.steps):
            if step.offset + self._header(number).fixed > len(data):
                return [*found, Asked(number, "there")]
            found += [c for c in self.asked(number) if c.kind == "value" and not self._within(c, data)]
            if not self._goes_on(number, step, data):
                found.append(Asked(number, "choice"))
        if not found and self._options_end(data) > len(data):
            found.append(Asked(len(self.way.steps) - 1, "options"))
        return found

    def asked(self, number: int) -> Iterator[Asked]:
        """All that names a key, at a header."""
        step = self.way.steps[number]
        for c in step.conditions:
            yield Asked(number, "value", c.field, c.low, c.high)
        for branch in self._branches[number]:
            if branch.target == step.target:
                for key, (low, high) in branch.box:
                    yield Asked(number, "choice", key, low, high, branch.box)

    def box_but_for(self, c: Asked, data: bytes) -> bool:
        """Is the packet in the whole box but for this one of its keys?"""
        return all(self._between(c.step, key, found, data) != (key == c.key) for key, found in c.box)

    def _header(self, number: int) -> ir.Header:
        return self.parser.instances[self.way.steps[number].instance].header

    def _within(self, c: Asked, data: bytes) -> bool:
        return self._between(c.step, c.key, (c.low, c.high), data)

    def _between(self, step: int, key: Key, found: tuple[int, int], data: bytes) -> bool:
        value = self.value(step, key, data)
        return value is not None and found[0] <= value <= found[1]

    def _goes_on(self, number: int, step: Step, data: bytes) -> bool:
        """By the first box that it is in."""
        for branch in self._branches[number]:
            if all(self._between(number, key, found, data) for key, found in branch.box):
                return branch.target == step.target
        return False

    def _options_end(self, data: bytes) -> int:
        last = self.way.steps[-1]
        if last.options is None:
            return 0
        units = self.value(len(self.way.steps) - 1, last.options.field, data)
        assert units is not None
        return last.offset + units * last.options.unit
