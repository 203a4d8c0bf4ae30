"""The states that take a packet apart: a tree of the ways' headers, with what the parser asks at each.

A packet that leaves the tree is not split: its `way` stays 0. So rows that reject come first, then those that go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from polysome.backends.tofino import names
from polysome.ir import program as ir
from polysome.plan.sums import Sum
from polysome.plan.values import masks
from polysome.plan.ways import Options, Step, Way

Row = tuple[dict[int, tuple[int, int]], str]  # per field (value, mask); the next state


@dataclass(frozen=True)
class NamedSum:
    """A checksum with the name that it has in the program."""

    name: str
    sum: Sum


@dataclass
class Node:
    """A header that some ways have in common up to there."""

    step: Step
    name: str
    children: list[Node] = field(default_factory=list)
    ends: Way | None = None
    ways: list[Way] = field(default_factory=list)


@dataclass(frozen=True)
class Lengths:
    """The packets that are split, by their claimed length in bytes of the frame, both included."""

    least: int
    most: int


class States:
    """Writes the states; `first` is where a packet begins."""

    def __init__(
        self, parser: ir.Parser, ways: tuple[Way, ...], sums: dict[int, tuple[NamedSum, ...]], lengths: Lengths
    ) -> None:
        self.parser, self.sums, self.lengths = parser, sums, lengths
        self.roots: list[Node] = []
        for way in ways:
            self._add(way)
        self.first = f"parse_{self.roots[0].name}" if self.roots else "accept"

    def _add(self, way: Way) -> None:
        level, name = self.roots, ""
        node: Node | None = None
        for step in way.steps:
            own = names.instance(step.instance, self.parser)
            name = f"{name}_{own}" if name else own
            node = next((n for n in level if n.step.node == step.node), None)
            if node is None:
                node = Node(step, name)
                level.append(node)
            node.ways.append(way)
            name = "" if level is self.roots else name  # every name would begin with it
            level = node.children
        assert node is not None
        node.ends = way

    def text(self) -> str:
        lines = [line for root in self.roots for line in self._node(root, ())]
        return "\n".join("    " + line if line else "" for line in lines)

    # ------------------------------------------------------------ one header

    def _node(self, node: Node, before: tuple[int, ...]) -> Iterator[str]:
        instance = names.instance(node.step.instance, self.parser)
        on_the_way = (*before, node.step.instance)
        yield f"state parse_{node.name} {{"
        yield f"    pkt.extract(hdr.{instance});"
        for sum in self._open_sums(node):
            subtracted = self._subtracted(sum.sum, node.step.instance)
            if subtracted:
                yield f"    {sum.name}_sum.subtract({{{', '.join(subtracted)}}});"
            if node.ends is not None and sum in self.sums[node.ends.number]:
                yield f"    md.{sum.name}_residual = {sum.name}_sum.get();"
        yield from self._transitions(node)
        if node.ends is not None:
            yield from self._end(node, node.ends)
        for child in node.children:
            yield from self._node(child, on_the_way)

    def _open_sums(self, node: Node) -> list[NamedSum]:
        return list(dict.fromkeys(s for way in node.ways for s in self.sums[way.number]))

    def _subtracted(self, sum: Sum, instance: int) -> list[str]:
        fields = [names.field(i, f, self.parser) for i, f in sum.covered if i == instance]
        if sum.instance == instance:
            fields.append(names.field(instance, sum.field, self.parser))
        return fields

    def _width(self, node: Node, f: int) -> int:
        return self.parser.instances[node.step.instance].header.fields[f].width

    def _allowed(self, node: Node) -> dict[int, tuple[int, int]]:
        """Ranges of fields for all ways that have the header; lengths are those that are split."""
        allowed: dict[int, tuple[int, int]] = {}
        options = node.step.options
        for f, _, _ in node.step.allowed:
            if options is not None and f == options.field:
                continue  # asked for when the options are gone over
            ranges = [found for w in node.ways if (found := step_range(w, node.step, f)) is not None]
            if len(ranges) == len(node.ways):
                allowed[f] = (min(low for low, _ in ranges), max(high for _, high in ranges))
        way = node.ways[0]
        if way.length_field[0] == node.step.instance:
            f = way.length_field[1]
            low, high = allowed.get(f, (0, (1 << self._width(node, f)) - 1))
            allowed[f] = (
                max(low, self.lengths.least - way.length_plus),
                min(high, self.lengths.most - way.length_plus),
            )
        return allowed

    def _transitions(self, node: Node) -> Iterator[str]:
        """The state's transition, in as many states as the parser's match registers take."""
        onward = self._onward(node)
        asked = {f for row, _ in onward for f in row}
        allowed = self._allowed(node)
        checked = [f for f in allowed if f not in asked]
        for named in self._open_sums(node):
            own = named.sum.instance == node.step.instance and not named.sum.zero_is_none
            if own and named.sum.field not in (*checked, *asked):
                checked.append(named.sum.field)  # all ones is minus zero: an update of nothing would make it zero
                allowed[named.sum.field] = (0, 0xFFFE)
        groups = self._groups(node, checked)
        for n, group in enumerate(groups, 2):
            single = {f: said for f in group if (said := self._one_mask(node, f, allowed[f])) is not None}
            refusals = [row for f in group if f not in single for row in self._outside(node, f, allowed[f])]
            yield from self._select(node, [*refusals, (single, f"parse_{node.name}_{n}")])
            yield "}"
            yield f"state parse_{node.name}_{n} {{"
        refusals = [
            row
            for f in allowed
            if f in asked and self._one_mask(node, f, allowed[f]) is None
            for row in self._outside(node, f, allowed[f])
        ]
        yield from self._select(node, [*refusals, *onward])
        yield "}"

    def _groups(self, node: Node, fields: list[int]) -> list[list[int]]:
        """Fields that one state can look at together."""
        groups: list[list[int]] = []
        for f in fields:
            for group in groups:
                if _fit([self._width(node, g) for g in (*group, f)]):
                    group.append(f)
                    break
            else:
                groups.append([f])
        return groups

    def _outside(self, node: Node, f: int, allowed: tuple[int, int]) -> list[Row]:
        """Rows for values that are not split."""
        width, (low, high) = self._width(node, f), allowed
        outside = [*(masks(0, low - 1, width) if low else ()), *masks(high + 1, (1 << width) - 1, width)]
        return [({f: pair}, "accept") for pair in outside]

    def _one_mask(self, node: Node, f: int, allowed: tuple[int, int]) -> tuple[int, int] | None:
        """What one mask says of the allowed values; None if it takes several."""
        said = list(masks(*allowed, self._width(node, f)))
        return said[0] if len(said) == 1 else None

    # ------------------------------------------------------------ what comes next

    def _onward(self, node: Node) -> list[Row]:
        """The node's cases in their order: to the next header of a way, or away from all ways."""
        steps = [self._step_of(way, node) for way in node.ways]
        fields = {f for keys in steps[0].keys for f, _, _ in keys}
        allowed = self._allowed(node)
        single = {
            f: said
            for f in fields
            if f in allowed and (said := self._one_mask(node, f, allowed[f])) is not None and said[1]
        }
        rows: list[Row] = []
        for number, keys in enumerate(steps[0].keys):
            target = "accept"
            for way, step in zip(node.ways, steps, strict=True):
                if step.goes_on[number]:
                    target = self._target(node, way)
            for row in self._said(node, keys):
                merged = _both(single, row)
                if merged is not None:
                    rows.append((merged, target))
        ending = next((w for w, s in zip(node.ways, steps, strict=True) if s.otherwise), None)
        rows.append((single, self._target(node, ending) if ending else "accept"))
        return rows

    def _step_of(self, way: Way, node: Node) -> Step:
        return next(s for s in way.steps if s.node == node.step.node)

    def _said(self, node: Node, keys: tuple[tuple[int, int, int], ...]) -> list[dict[int, tuple[int, int]]]:
        """A row of ranges as rows of masks."""
        rows: list[dict[int, tuple[int, int]]] = [{}]
        for f, low, high in keys:
            rows = [{**row, f: pair} for row in rows for pair in masks(low, high, self._width(node, f))]
        return rows

    def _target(self, node: Node, way: Way) -> str:
        if node.ends is way:
            return f"{'options' if way.steps[-1].options else 'end'}_{node.name}"
        child = next(c for c in node.children if way in c.ways)
        return f"parse_{child.name}"

    def _select(self, node: Node, rows: list[Row]) -> Iterator[str]:
        """The transition; rows that cannot be met because an earlier one takes all are left out."""
        kept: list[Row] = []
        for row in rows:
            kept.append(row)
            if not row[0]:
                break
        if kept[-1][0]:
            kept.append(({}, "accept"))
        while len(kept) > 1 and kept[-2][1] == kept[-1][1]:
            del kept[-2]
        fields = sorted({f for row, _ in kept for f in row})
        if not fields:
            yield f"    transition {kept[-1][1]};"
            return
        keys = [names.field(node.step.instance, f, self.parser) for f in fields]
        yield from _wrapped("    transition select(", keys, ") {")
        for said, target in kept:
            if not said:
                yield f"        default: {target};"
                continue
            patterns = [_pattern(said.get(f), self._width(node, f)) for f in fields]
            text = f"({', '.join(patterns)})" if len(patterns) > 1 else patterns[0]
            yield f"        {text}: {target};"
        yield "    }"

    # ------------------------------------------------------------ the end of a way

    def _end(self, node: Node, way: Way) -> Iterator[str]:
        options = way.steps[-1].options
        if options is not None:
            yield from self._options(node, options)
        unsummed = [s for s in self.sums[way.number] if s.sum.zero_is_none]
        last = f"way_{way.number}"
        yield f"state end_{node.name} {{"
        for sum in unsummed:
            value = names.field(sum.sum.instance, sum.sum.field, self.parser)
            yield f"    transition select({value}) {{"
            yield f"        0: {last};"
            yield f"        default: summed_{way.number};"
            yield "    }"
            break
        else:
            yield f"    transition {last};"
        yield "}"
        if unsummed:
            yield f"state summed_{way.number} {{"
            yield f"    md.{unsummed[0].name}_there = 1;"
            yield f"    transition {last};"
            yield "}"
        yield f"state {last} {{"
        yield f"    hdr.bridge.way = {way.number};"
        yield f"    hdr.bridge.parse_class = {way.tag};"
        yield "    transition accept;"
        yield "}"

    def _options(self, node: Node, options: Options) -> Iterator[str]:
        """Options are parsed, so that a frame which ends among them is not split."""
        name = names.field(node.step.instance, options.field, self.parser)
        yield f"state options_{node.name} {{"
        yield f"    transition select({name}) {{"
        yield f"        {options.least}: end_{node.name};"
        for size in range(options.least + 1, options.most + 1):
            yield f"        {size}: options_{node.name}_{size};"
        yield "        default: accept;"
        yield "    }"
        yield "}"
        for size in range(options.least + 1, options.most + 1):
            yield f"state options_{node.name}_{size} {{"
            for part in option_parts(options, size):
                yield f"    pkt.extract(hdr.options_{part});"
            yield f"    transition end_{node.name};"
            yield "}"


def option_parts(options: Options, size: int) -> list[int]:
    """The headers, by their bytes, that hold options of a header of `size` units: powers of two, the largest first."""
    count = size - options.least
    return [options.unit * (1 << k) for k in reversed(range(count.bit_length())) if count >> k & 1]


def step_range(way: Way, step: Step, f: int) -> tuple[int, int] | None:
    """The values of a field with which packets go the way."""
    for own in way.steps:
        if own.node == step.node:
            return next(((low, high) for g, low, high in own.allowed if g == f), None)
    return None


def _fit(widths: list[int]) -> bool:
    """Do fields fit the registers that a parser state compares: one of 16 bits and two of 8?"""
    small, large = 2, 1
    for width in sorted(widths, reverse=True):
        if width > 8 and large:
            large, width = 0, width - 16
        while width > 0 and small:
            small, width = small - 1, width - 8
        if 0 < width <= 8 and large:
            large, width = 0, 0
        if width > 0:
            return False
    return True


def _both(a: dict[int, tuple[int, int]], b: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]] | None:
    """What both say; None if nothing fits."""
    merged = dict(a)
    for f, (value, mask) in b.items():
        if f in merged:
            other, known = merged[f]
            if (value ^ other) & mask & known:
                return None
            merged[f] = ((value & mask) | (other & known), mask | known)
        else:
            merged[f] = (value, mask)
    return {f: pair for f, pair in merged.items() if pair[1]}


def _wrapped(start: str, items: list[str], end: str) -> Iterator[str]:
    """`start a, b, c end` in lines that fit a page."""
    line = start
    for n, item in enumerate(items):
        piece = item + (", " if n < len(items) - 1 else end)
        if len(line) + len(piece.rstrip()) > 116:
            yield line.rstrip()
            line = " " * len(start)
        line += piece
    yield line


def _pattern(pair: tuple[int, int] | None, width: int) -> str:
    if pair is None:
        return "_"
    value, mask = pair
    if mask == (1 << width) - 1:
        return hex(value)
    return f"{hex(value)} &&& {hex(mask)}"
