"""A packet of which everything may be chosen: its parse class, its fields, its payload, its port.

`node_n` says that node n of the parse graph extracts its header. At most one way through the graph is true at a time;
the fields of a header are terms whether or not it is there. `limits` are what every packet obeys; `layout` what is
demanded besides of packets that `frame` builds: whole headers, lengths that fit, nothing behind the packet's end.
"""

from __future__ import annotations

from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

from polysome import smt
from polysome.interp.packet import write_bits
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.ir.classes import split
from polysome.ir.walk import walk
from polysome.symbolic.terms import resized
from polysome.symbolic.values import (
    FALSE,
    TRUE,
    Term,
    bits,
    conj,
    disj,
    holds,
    neg,
    number,
)
from polysome.testing.coverage.points import Points
from polysome.testing.coverage.symbolic.evaluate import Evaluator

SIZE = 64  # bits of a length in bytes
LONGEST = 1514  # bytes of a frame


class AnyPacket:
    """The terms of one packet of the program. Those of packets with different tags are different ones."""

    def __init__(self, program: ir.Program, points: Points, tag: str = "") -> None:
        self.program, self._tag = program, tag
        self.parser = program.parser
        self.in_port = smt.BitVec(f"{tag}in_port", 16)
        self.length = smt.BitVec(f"{tag}len", SIZE)
        self.payload_length = smt.BitVec(f"{tag}payload_len", SIZE)
        self.limits: list[Term] = [smt.ULE(self.payload_length, self.length)]
        self._own = _HeaderTerms(self, points)
        self._fields: dict[tuple[int, int], Term] = {}
        self._bytes: dict[tuple[str, int], Term] = {}
        self._node = -1
        self.nodes: list[Term] = [FALSE] * len(self.parser.nodes)
        self._edges: list[list[tuple[Term, int]]] = [[] for _ in self.parser.nodes]
        self.valid: list[Term] = [FALSE] * len(self.parser.instances)
        self._order = _wire_order(self.parser)
        self._graph()

    # ------------------------------------------------------------ what it holds

    def field(self, i: int, f: int) -> Term:
        """A field of a header: a Bool if that is its type."""
        if (i, f) not in self._fields:
            shape = self.parser.instances[i].header.fields[f]
            self._fields[i, f] = smt.BitVec(
                f"{self._tag}{self.parser.instances[i].name}.{shape.name}", max(shape.width, 1)
            )
        term = self._fields[i, f]
        return term == 1 if isinstance(self.parser.instances[i].header.fields[f].type, t.Bool) else term

    def payload(self, low: int, high: int) -> Term:
        """Bytes of the payload; those beyond the end are 0."""
        return self._slice("payload", self.payload_length, low, high)

    def rest(self, i: int, low: int, high: int) -> Term:
        """Bytes of a header's `rest`; those beyond the header are 0."""
        return self._slice(self._rest_name(i), self.rest_length(i), low, high)

    def rest_length(self, i: int) -> Term:
        fixed = self.parser.instances[i].header.fixed
        size = self.size(i)
        whole = smt.If(smt.UGT(size, fixed), size - fixed, bits(0, SIZE))
        cut = self._cut(i)
        return (
            whole if smt.is_false(cut) else smt.If(cut, smt.BitVec(f"{self._tag}{self._rest_name(i)}.len", SIZE), whole)
        )

    def _cut(self, i: int) -> Term:
        """Is only the beginning of the header there?"""
        if self.parser.instances[i].cut is None:
            return FALSE
        return disj(*(smt.Bool(f"{self._tag}cut{n}") for n, node in enumerate(self.parser.nodes) if node.instance == i))

    def size(self, i: int) -> Term:
        """A header's size in bytes."""
        header = self.parser.instances[i].header
        return bits(header.fixed, SIZE) if header.size is None else self._own.size(i, header.size)

    def passing(self, mask: int) -> Term:
        """Is the parse class one of `mask`?"""
        return self._passing(mask, self.parser.all_classes)

    def peeked(self, count: int) -> Term:
        """The bits after the header that is just extracted."""
        return smt.BitVec(f"{self._tag}peek{self._node}_{count}", count)

    def _slice(self, name: str, length: Term, low: int, high: int) -> Term:
        parts = [smt.If(smt.ULT(bits(k, SIZE), length), self._byte(name, k), bits(0, 8)) for k in range(low, high)]
        return parts[0] if len(parts) == 1 else smt.Concat(*parts)

    def _byte(self, name: str, k: int) -> Term:
        if (name, k) not in self._bytes:
            self._bytes[name, k] = smt.BitVec(f"{self._tag}{name}[{k}]", 8)
        return self._bytes[name, k]

    def _rest_name(self, i: int) -> str:
        return f"{self.parser.instances[i].name}.rest"

    def _passing(self, mask: int, among: int) -> Term:
        """By the header that divides the classes best, then by the next."""
        if not among & ~mask or not mask & among:
            return TRUE if mask & among else FALSE

        def mixed(i: int) -> int:
            sides = (among & self.parser.having[i], among & ~self.parser.having[i])
            return sum(min((s & mask).bit_count(), (s & ~mask).bit_count()) for s in sides)

        dividing = [i for i, having in enumerate(self.parser.having) if among & having and among & ~having]
        best = min(dividing, key=mixed)
        with_it, without = split(ir.Valid(self.program.span, t.BOOL, best), among, self.parser)
        valid = self.valid[best]
        return disj(conj(valid, self._passing(mask, with_it)), conj(neg(valid), self._passing(mask, without)))

    # ------------------------------------------------------------ the parse graph

    def _graph(self) -> None:
        """Which nodes extract, in an order in which every node comes after those that lead to it."""
        incoming: dict[int, list[Term]] = {0: [TRUE]}
        for n in _sorted(self.parser):
            node = self.parser.nodes[n]
            reached = disj(*incoming.get(n, []))
            self.nodes[n] = smt.Bool(f"{self._tag}node{n}") if node.instance is not None else reached
            if node.instance is not None:
                self.limits.append(self.nodes[n] == conj(reached, self._extracted(n, node.instance)))
                self.valid[node.instance] = disj(self.valid[node.instance], self.nodes[n])
            self._node = n
            for condition, target in self._successors(node):
                edge = conj(self.nodes[n], condition)
                self._edges[n].append((edge, target))
                incoming.setdefault(target, []).append(edge)

    def _extracted(self, n: int, i: int) -> Term:
        """Is the header there and well formed? Whether it fits is open, but that an empty one does."""
        instance = self.parser.instances[i]
        formed = self._formed(i)
        if instance.cut is not None:
            formed = disj(smt.Bool(f"{self._tag}cut{n}"), formed)
        return formed if instance.header.fixed == 0 else conj(smt.Bool(f"{self._tag}fits{n}"), formed)

    def _formed(self, i: int) -> Term:
        header = self.parser.instances[i].header
        found = [smt.UGE(self.size(i), header.fixed)] if header.size is not None else []
        if header.valid is not None:
            found.append(self._own.of(i, header.valid))
        if header.end is not None:
            found.append(smt.UGE(self._end(i), self.size(i)))
        return conj(*found)

    def _end(self, i: int) -> Term:
        end = self.parser.instances[i].header.end
        assert end is not None
        return self._own.size(i, end)

    def _successors(self, node: ir.ParseNode) -> list[tuple[Term, int]]:
        """Where it goes from here, if so: hooks in order, then the first case that matches."""
        found: list[tuple[Term, int]] = []
        open_: Term = TRUE
        for hook, target in node.hooks:
            condition = TRUE if hook is None else self._own.plain(hook)
            found.append((conj(open_, condition), target))
            open_ = conj(open_, neg(condition))
        keys = [self._own.plain(key) for key in node.keys] if node.cases else []
        for case in node.cases:
            condition = disj(*(_matches(keys, match) for match in case.matches))
            if case.target >= 0:
                found.append((conj(open_, condition), case.target))
            open_ = conj(open_, neg(condition))
        return found

    # ------------------------------------------------------------ frames

    @cached_property
    def layout(self) -> list[Term]:
        """What makes a frame of the terms, besides `limits`."""
        offsets = {}
        position: Term = bits(0, SIZE)
        sizes = [smt.ULE(self.size(i), LONGEST) for i in self._order] + [smt.ULE(self.payload_length, LONGEST)]
        for i in self._order:
            offsets[i] = position
            position = position + smt.If(self.valid[i], self.size(i), bits(0, SIZE))
        total = position + self.payload_length
        found = [self.length == total, smt.ULE(total, LONGEST), *sizes, *self._unextracted(), *self._peeks()]
        for i in self._order:
            instance = self.parser.instances[i]
            if instance.header.end is not None:
                exact = self._end(i) == total - offsets[i]
                longer = smt.UGE(self._end(i), total - offsets[i]) if instance.cut is not None else exact
                found.append(smt.Implies(self.valid[i], longer))
        return found

    @cached_property
    def usual(self) -> list[Term]:
        """Length fields that no parser looks at say what is there."""
        found = []
        behind = self.payload_length
        for i in reversed(self._order):
            header = self.parser.instances[i].header
            for f, shape in enumerate(header.fields):
                if shape.length is not None and self.parser.instances[i].cut is None:
                    right = self._own.size(i, shape.length, {False: self.size(i), True: behind})
                    found.append(smt.Implies(self.valid[i], self.field(i, f) == resized(right, shape.width)))
            behind = behind + smt.If(self.valid[i], self.size(i), bits(0, SIZE))
        return found

    def _unextracted(self) -> list[Term]:
        """A header that would come next and does not, does not fit; those that are there are whole."""
        found = []
        for n, edges in enumerate([[(TRUE, 0)], *self._edges], -1):
            for edge, target in edges:
                i = self.parser.nodes[target].instance
                if i is not None:
                    instance = self.parser.instances[i]
                    least = instance.header.fixed if instance.cut is None else min(instance.cut, instance.header.fixed)
                    found.append(smt.Implies(conj(edge, neg(self.nodes[target])), smt.ULT(self.payload_length, least)))
            i = self.parser.nodes[n].instance if n >= 0 else None
            if i is not None and self.parser.instances[i].cut is not None:
                found.append(neg(smt.Bool(f"{self._tag}cut{n}")))
        return found

    def _peeks(self) -> list[Term]:
        """What a node peeks at are the first bits of what comes next."""
        found = []
        for n, node in enumerate(self.parser.nodes):
            for count in {key.bits for key in _peeking(node)}:
                self._node = n
                peeked = self.peeked(count)
                others: list[Term] = []
                for edge, target in self._edges[n]:
                    i = self.parser.nodes[target].instance
                    if i is not None:
                        there = conj(edge, self.nodes[target])
                        others.append(there)
                        found.append(smt.Implies(there, self._begins(i, peeked)))
                ends = conj(self.nodes[n], neg(disj(*others)))
                found.append(smt.Implies(ends, peeked == _first(count, self.payload(0, (count + 7) // 8))))
        return found

    def _begins(self, i: int, peeked: Term) -> Term:
        """The header's first fields say what `peeked` says."""
        found = []
        for f, shape in enumerate(self.parser.instances[i].header.fields):
            last = min(shape.offset + shape.width, peeked.size())
            if shape.width and shape.offset < last:
                self.field(i, f)
                term = self._fields[i, f]
                have = smt.Extract(shape.width - 1, shape.width - (last - shape.offset), term)
                found.append(smt.Extract(peeked.size() - 1 - shape.offset, peeked.size() - last, peeked) == have)
        return conj(*found)

    def frame(self, model: Term) -> bytes:
        """The bytes that a model of `limits` and `layout` stands for; what it leaves open is 0."""
        data = bytearray()
        n: int | None = 0
        while n is not None:
            i = self.parser.nodes[n].instance
            if i is not None:
                if not holds(model, self.nodes[n]):
                    break
                data += self._header(i, model)
            n = next((target for edge, target in self._edges[n] if holds(model, edge)), None)
        return bytes(data + self._content("payload", number(model, self.payload_length), model))

    def _header(self, i: int, model: Term) -> bytes:
        header = self.parser.instances[i].header
        size = number(model, self.size(i))
        data = bytearray(header.fixed)
        for f, shape in enumerate(header.fields):
            if shape.width and (i, f) in self._fields:
                write_bits(data, shape.offset, shape.width, number(model, self._fields[i, f]), len(data))
        return bytes(data) + self._content(self._rest_name(i), size - header.fixed, model)

    def _content(self, name: str, length: int, model: Term) -> bytes:
        named = {k: term for (of, k), term in self._bytes.items() if of == name}
        return bytes(number(model, named[k]) if k in named else 0 for k in range(max(0, length)))


class _HeaderTerms(Evaluator):
    """Expressions of headers and of the parse graph."""

    def __init__(self, packet: AnyPacket, points: Points) -> None:
        super().__init__(packet.program, points, packet, None)  # type: ignore[arg-type]
        self._this = -1
        self._sizes: dict[bool, Term] = {}

    def of(self, i: int, e: ir.Expr) -> Any:
        """`e`, a rule of header instance i."""
        self._this = i
        return self.value(e)

    def size(self, i: int, e: ir.Expr, sizes: dict[bool, Term] | None = None) -> Term:
        """The same for bytes; `sizes`: of this header, and of what is behind it."""
        self._sizes = sizes or {}
        return resized(self.of(i, e), SIZE)

    def plain(self, e: ir.Expr) -> Any:
        """`e`, a key or a condition of the graph."""
        return self.value(e)

    def value(self, e: ir.Expr) -> Any:
        if isinstance(e, ir.HeaderBytes):
            return resized(self._sizes[e.rest], t.width(e.type) or SIZE)
        return super().value(e)

    def decided(self, first: int | None, condition: Term) -> Term:
        return condition

    def field(self, i: int, f: int) -> Term:
        return self.packet.field(self._this if i < 0 else i, f)


def _first(count: int, term: Term) -> Term:
    """The first bits."""
    return smt.Extract(term.size() - 1, term.size() - count, term)


def _peeking(node: ir.ParseNode) -> list[ir.Peek]:
    return [e for e in walk(node.keys) if isinstance(e, ir.Peek)]


def _matches(keys: list[Term], match: ir.Match) -> Term:
    found = []
    for key, bounds in zip(keys, match.ranges, strict=True):
        if bounds is not None:
            if smt.is_bool(key):
                key = smt.If(key, bits(1, 1), bits(0, 1))
            low, high = bounds
            found.append(key == low if low == high else smt.And(smt.UGE(key, low), smt.ULE(key, high)))
    return conj(*found)


def _targets(node: ir.ParseNode) -> list[int]:
    found = [*(target for _, target in node.hooks), *(case.target for case in node.cases)]
    return [target for target in found if target >= 0]


def _sorted(parser: ir.Parser) -> list[int]:
    """The nodes that the start leads to, each after those that lead to it."""
    before: dict[int, set[int]] = {0: set()}
    waiting = [0]
    while waiting:
        n = waiting.pop()
        for target in _targets(parser.nodes[n]):
            if target not in before:
                before[target] = set()
                waiting.append(target)
            before[target].add(n)
    return list(TopologicalSorter(before).static_order())


def _wire_order(parser: ir.Parser) -> list[int]:
    """The header instances, each after all that can stand before it on the wire.

    Where a parser lets two headers stand in either order, frames of one of the orders come out wrong; running them
    shows it.
    """
    before: dict[tuple[str, int], set[tuple[str, int]]] = {}
    place: dict[tuple[str, int], None] = {}

    def named(n: int) -> tuple[str, int]:
        i = parser.nodes[n].instance
        return ("node", n) if i is None else ("header", i)

    for n in _sorted(parser):
        place[named(n)] = None
        before.setdefault(named(n), set())
        for target in _targets(parser.nodes[n]):
            before.setdefault(named(target), set()).add(named(n))
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        order = list(place)
    return [i for kind, i in order if kind == "header"]
