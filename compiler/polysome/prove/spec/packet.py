"""A packet as the spec's parser finds it: headers at known bytes, ends and lengths as terms.

It is what `Expressions` reads, while the parser is under way and when it has ended. All bytes are the frame's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from polysome import smt
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.prove.window import Frame, Term
from polysome.symbolic.expressions import Expressions
from polysome.symbolic.terms import resized
from polysome.symbolic.values import FALSE, TRUE, UNKNOWN, bits, conj, neg
from polysome.syntax.spans import Span

PLACE = 64  # bits of a position or a length in bytes
FAR = 1 << 62  # what a claim of that much or more counts as


def place(k: int) -> Term:
    """A known position."""
    return bits(k, PLACE)


@dataclass(frozen=True)
class Room:
    """Where what is parsed must end: the least of `ends`."""

    ends: tuple[Term, ...]

    def has(self, end: int) -> Term:
        """Are the bytes before `end` all inside?"""
        return smt.simplify(conj(*(smt.UGE(e, place(end)) for e in self.ends)))

    def holds(self, end: Term) -> Term:
        """The same for a position that is a term."""
        return smt.simplify(conj(*(smt.UGE(e, end) for e in self.ends)))

    def byte(self, frame: Frame, k: int) -> Term:
        """Byte k of the frame, 0 outside."""
        return smt.If(self.has(k + 1), frame.byte(k), bits(0, 8))

    @property
    def least(self) -> Term:
        found = self.ends[0]
        for end in self.ends[1:]:
            found = smt.If(smt.ULE(found, end), found, end)
        return smt.simplify(found)

    def narrowed(self, end: Term) -> Room:
        return Room((*self.ends, end))


@dataclass(frozen=True)
class Placed:
    """A header: instance `instance` from byte `offset` on.

    `size` in bytes; None for a quote of which only what is in `room` is there. `room` is where the headers behind it
    must end: its own `end` counts.
    """

    instance: int
    offset: int
    size: int | None
    room: Room

    @property
    def end(self) -> Term:
        """The first byte behind it."""
        return self.room.least if self.size is None else place(self.offset + self.size)

    def has(self, k: int) -> Term:
        """Are its first k bytes there?"""
        if self.size is None:
            return self.room.has(self.offset + k)
        return TRUE if k <= self.size else FALSE


@dataclass(frozen=True)
class Decision:
    """One choice of the parser at a node of its graph, in words, and what it says of the frame."""

    node: str
    words: str
    condition: Term
    span: Span

    def __str__(self) -> str:
        return f"{self.node}: {self.words}"


@dataclass(frozen=True)
class Parsed:
    """The outcome of parsing `frame`, for all frames that meet `conditions` (and what was assumed).

    `decisions` say all that led there, what the assumptions imply too. `pos`: where parsing stopped; None behind a
    quote that was cut, which is at `room`. `claimed`: the packet's end as its header says; None if none says.
    Positions and lengths are terms of PLACE bits.
    """

    program: ir.Program
    frame: Frame
    room: Room
    headers: tuple[Placed, ...] = ()
    pos: int | None = 0
    claimed: Term | None = None
    conditions: tuple[Term, ...] = ()
    decisions: tuple[Decision, ...] = ()

    # ------------------------------------------------------------ what is found

    @property
    def path(self) -> tuple[int, ...]:
        """The instances of its headers, in order: the parse class."""
        return tuple(h.instance for h in self.headers)

    @property
    def number(self) -> int:
        """The parse class as an index of `Parser.classes`."""
        return self.program.parser.classes.index(self.path)

    @cached_property
    def placed(self) -> dict[int, Placed]:
        """The headers by instance."""
        return {h.instance: h for h in self.headers}

    @cached_property
    def condition(self) -> Term:
        """Everything that led here: with it no assumption is needed."""
        return conj(*(d.condition for d in self.decisions))

    @property
    def arrived(self) -> Term:
        """The frame's length."""
        return resized(self.frame.length, PLACE)

    @property
    def short(self) -> Term:
        """Is the frame shorter than its header claims?"""
        return FALSE if self.claimed is None else smt.UGT(self.claimed, self.arrived)

    @property
    def end(self) -> Term:
        """Where the packet ends in the frame."""
        if self.claimed is None:
            return self.arrived
        return smt.If(smt.ULE(self.claimed, self.arrived), self.claimed, self.arrived)

    @property
    def start(self) -> Term:
        """Where the payload begins."""
        return self.room.least if self.pos is None else place(self.pos)

    # ------------------------------------------------------------ what expressions read

    @cached_property
    def in_port(self) -> Term:
        return smt.BitVec(f"{self.frame.name}.in_port", 16)

    @cached_property
    def valid(self) -> Sequence[Term]:
        return [smt.BoolVal(i in self.placed) for i in range(len(self.program.parser.instances))]

    @property
    def length(self) -> Term:
        """`len`, of PLACE bits."""
        return self.arrived if self.claimed is None else self.claimed

    @property
    def payload_length(self) -> Term:
        return self.end - self.start

    def field(self, i: int, f: int) -> Term:
        instance = self.program.parser.instances[i]
        shape = instance.header.fields[f]
        header = self.placed.get(i)
        if header is None:
            term = smt.BitVec(f"{self.frame.name}.no {instance.name}.{shape.name}", max(shape.width, 1))
        else:
            term = self._bits(header, shape.offset, shape.width)
        return term == 1 if isinstance(shape.type, t.Bool) else term

    def payload(self, low: int, high: int) -> Term:
        inside = Room((self.end,))
        if self.pos is not None:
            return _joined([inside.byte(self.frame, self.pos + k) for k in range(low, high)])
        there = [smt.ULT(self.start + place(k), self.end) for k in range(low, high)]
        name = f"{self.frame.name}.behind the cut"  # at no known place
        return _joined([smt.If(c, smt.BitVec(f"{name}[{k}]", 8), bits(0, 8)) for k, c in enumerate(there, low)])

    def rest(self, i: int, low: int, high: int) -> Term:
        header = self.placed.get(i)
        if header is None:
            return smt.BitVec(f"{self.frame.name}.no {i}.rest[{low}..{high}]", 8 * (high - low))
        fixed = self.program.parser.instances[i].header.fixed
        return self._bits(header, 8 * (fixed + low), 8 * (high - low))

    def rest_length(self, i: int) -> Term:
        header = self.placed.get(i)
        if header is None:
            return smt.BitVec(f"{self.frame.name}.no {i}.rest", PLACE)
        behind = place(header.offset + self.program.parser.instances[i].header.fixed)
        return smt.simplify(smt.If(smt.UGE(header.end, behind), header.end - behind, place(0)))

    def peeked(self, count: int) -> Term:
        assert self.pos is not None, "nothing is parsed behind a quote that was cut"
        whole = _joined([self.room.byte(self.frame, self.pos + k) for k in range((count + 7) // 8)])
        return smt.simplify(smt.Extract(whole.size() - 1, whole.size() - count, whole))

    def _bits(self, header: Placed, at: int, width: int) -> Term:
        """`width` bits from bit `at` of a header on; those behind its end are 0."""
        first, last = at // 8, (at + width + 7) // 8
        octets = [self.octet(header, k) for k in range(first, last)]
        high = 8 * last - at - 1
        return smt.simplify(smt.Extract(high, high - width + 1, _joined(octets)))

    def octet(self, header: Placed, k: int) -> Term:
        """Byte k of a header, 0 if it is not there."""
        there = header.has(k + 1)
        byte = self.frame.byte(header.offset + k)
        return byte if smt.is_true(there) else smt.If(there, byte, bits(0, 8))

    # ------------------------------------------------------------ expressions

    def value(self, e: ir.Expr) -> Any:
        """The value of an expression over the packet as it arrived. Equal calls of `hash` are equal."""
        return self._expressions.value(e)

    @cached_property
    def _expressions(self) -> OnArrival:
        return OnArrival(self.program, self)


class OnArrival(Expressions):
    """Expressions over a packet as it arrived. Config items are the same everywhere; hashes are some function."""

    def decision(self, e: ir.Choose, condition: Term) -> Term:
        return smt.simplify(condition)

    def under(self, condition: Term, e: ir.Expr) -> Any:
        return UNKNOWN if smt.is_false(condition) else super().under(condition, e)

    def other(self, e: ir.Expr) -> Any:
        match e:
            case ir.Config(name=name) if (width := t.width(e.type)) is not None:
                return smt.BitVec(f"config {name}", width)
            case ir.Hash(args=args):
                leaves = [leaf for a in args for leaf in _leaves(self.value(a))]
                name = "hash " + " ".join(str(leaf.size()) for leaf in leaves)  # a truth value has no bits
                return smt.uninterpreted(name, leaves, 64)
            case _:
                return super().other(e)


def _leaves(value: Any) -> list[Term]:
    return [leaf for v in value for leaf in _leaves(v)] if isinstance(value, tuple) else [value]


def _joined(octets: list[Term]) -> Term:
    return smt.simplify(octets[0] if len(octets) == 1 else smt.Concat(*octets))


def outside(condition: Term) -> Term:
    """The opposite of a condition, simplified."""
    return smt.simplify(neg(condition))
