"""A way through the NF's parser that the switch takes packets apart on (DESIGN section 6, *Park*).

A switch's parser knows headers at places that are known when it is compiled. So a way is a sequence of headers of fixed
size (the last one may have options behind it); a packet that goes any other way, or does not meet a condition of its
way (IPv4 options, a fragment whose order class has no ports), goes to the NF whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from itertools import pairwise

from polysome.analysis.layout import ClassLayout
from polysome.analysis.relevance import PAYLOAD
from polysome.ir import program as ir
from polysome.plan.values import FieldKey


@dataclass(frozen=True)
class Options:
    """A last header that may be longer than its fixed part: field `field` says how long, in units of `unit` bytes."""

    field: int
    unit: int
    least: int
    most: int


@dataclass(frozen=True)
class Condition:
    """Field `field` of a header must have a value from `low` to `high`, both included; `why`: the reasons, in words."""

    field: int
    low: int
    high: int
    why: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One header of a way, `offset` bytes from the frame's start; `target`: the next node, or END.

    `conditions`: what its fields must be for a packet to stay on the way, besides that it goes on to `target`.
    """

    node: int
    instance: int
    offset: int
    conditions: tuple[Condition, ...]
    options: Options | None
    target: int

    def condition(self, field: int) -> Condition | None:
        return next((c for c in self.conditions if c.field == field), None)


@dataclass(frozen=True)
class Way:
    """`number` counts from 1. The packet's length is `length_field` + `length_plus`, in bytes of the frame.

    `hashed`: fields that are equal for packets of one order class, to choose a bucket by; empty if there are none.
    """

    number: int
    steps: tuple[Step, ...]
    layout: ClassLayout
    parse_class: int  # in Parser.classes
    length_field: FieldKey
    length_plus: int
    hashed: tuple[FieldKey, ...]

    @property
    def tag(self) -> int:
        """The class number that frames of this way carry."""
        assert self.layout.number is not None
        return self.layout.number

    @property
    def instances(self) -> tuple[int, ...]:
        return tuple(s.instance for s in self.steps)

    @property
    def fields_size(self) -> int:
        return self.layout.fields_size

    @property
    def edits_size(self) -> int:
        return self.layout.edits_size

    def joined(self, other: Way) -> Way | None:
        """With the other's conditions too, at every header from which both go on to the same node.

        None if no packet meets both. What both ways keep there is the same.
        """
        steps = list(self.steps)
        for n, (own, its) in enumerate(zip(self.steps, other.steps, strict=False)):
            if own.node != its.node or own.target != its.target:
                break
            found = joined(own.conditions, its.conditions)
            if found is None:
                return None
            steps[n] = replace(own, conditions=found)
        return replace(self, steps=tuple(steps))

    def within(self, least: int, most: int) -> Way | None:
        """The way for packets that claim `least` to `most` bytes only; None if it takes no such packet."""
        key = self.length_field
        low, high = max(0, least - self.length_plus), most - self.length_plus
        limit = Condition(key[1], low, high, (f"packets of {least} to {most} B are split",))
        steps = []
        for step in self.steps:
            found = joined(step.conditions, (limit,)) if step.instance == key[0] else step.conditions
            if found is None or high < low:
                return None
            steps.append(replace(step, conditions=found))
        return replace(self, steps=tuple(steps))

    def offset(self, instance: int, parser: ir.Parser) -> int:
        """Where a header of the way, or PAYLOAD, begins in the frame."""
        if instance == PAYLOAD:
            last = self.steps[-1]
            return last.offset + parser.instances[last.instance].header.fixed
        return next(s.offset for s in self.steps if s.instance == instance)

    def depth(self, parser: ir.Parser) -> int:
        """Bytes from the frame's start to the last one that the NF sees."""
        return max((self.offset(s.instance, parser) + s.first + s.length for s in self.layout.fields), default=0)

    def header_bytes(self, parser: ir.Parser) -> int:
        """Bytes of headers that the switch parses."""
        return self.offset(PAYLOAD, parser)

    def least_length(self, parser: ir.Parser) -> int:
        """The shortest packet of which all headers, options too, and all fields surely are there."""
        last = self.steps[-1]
        most = 0 if last.options is None else last.options.most * last.options.unit
        end = max(last.offset + most, self.header_bytes(parser))
        return max(end, self.depth(parser))


def joined(a: tuple[Condition, ...], b: tuple[Condition, ...]) -> tuple[Condition, ...] | None:
    """Both lists of conditions as one; None if no value meets both."""
    found = {c.field: c for c in a}
    for c in b:
        old = found.get(c.field, c)
        low, high = max(old.low, c.low), min(old.high, c.high)
        if low > high:
            return None
        tighter = [one for one in (old, c) if (one.low, one.high) == (low, high)] or [old, c]
        found[c.field] = Condition(c.field, low, high, tuple(dict.fromkeys(w for one in tighter for w in one.why)))
    return tuple(found[field] for field in sorted(found))


def order(ways: Iterable[Way]) -> tuple[int, ...]:
    """The headers of all ways, each after those that stand before it on some way: a deparser emits them in one order.

    Raises graphlib.CycleError if there is none.
    """
    before: TopologicalSorter[int] = TopologicalSorter()
    for way in ways:
        before.add(way.instances[0])
        for one, other in pairwise(way.instances):
            before.add(other, one)
    return tuple(before.static_order())
