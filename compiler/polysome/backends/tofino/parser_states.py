"""The states that take a packet apart: a tree of the ways' headers, with what the parser asks at each.

A packet that leaves the tree is not split: its `way` stays 0. At each header come first the conditions that all ways
have which go on from there, then the choice where to go on, with the conditions of just those ways that go there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from polysome.backends.tofino import names
from polysome.ir import program as ir
from polysome.plan.branches import END, branches
from polysome.plan.conditions import Ahead, Key, asked_together, both, place, rows, width
from polysome.plan.sums import Sum
from polysome.plan.values import Range, enclosed
from polysome.plan.way import Options, Step, Way

Row = tuple[dict[Key, tuple[int, int]], str]  # per key (value, mask); the next state


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


class States:
    """Writes the states; `first` is where a packet begins."""

    def __init__(self, parser: ir.Parser, ways: tuple[Way, ...], sums: dict[int, tuple[NamedSum, ...]]) -> None:
        self.parser, self.sums = parser, sums
        self.roots: list[Node] = []
        for way in ways:
            self._add(way)
        self.first = f"parse_{self.roots[0].name}" if self.roots else ""

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

    # ------------------------------------------------------------ conditions

    def _header(self, node: Node) -> ir.Header:
        return self.parser.instances[node.step.instance].header

    def _conditions(self, node: Node) -> dict[int, dict[Key, Range]]:
        """By the node that packets go on to, or END, what is asked of their fields here; the same for all such ways.

        How many options there are is asked when they are gone over.
        """
        found: dict[int, dict[Key, Range]] = {}
        for way in node.ways:
            step = next(s for s in way.steps if s.node == node.step.node)
            counted = None if step.options is None else step.options.field
            own: dict[Key, Range] = {c.field: (c.low, c.high) for c in step.conditions if c.field != counted}
            assert found.setdefault(step.target, own) == own
        return found

    def _transitions(self, node: Node) -> Iterator[str]:
        """The state's transition, in as many states as the parser's match registers take."""
        conditions = self._conditions(node)
        first = next(iter(conditions.values()))
        common = {key: r for key, r in first.items() if all(own.get(key) == r for own in conditions.values())}
        choices = branches(self.parser, node.step.node, frozenset(conditions))
        asked = {key for branch in choices for key, _ in branch.box}
        checked = {key: r for key, r in common.items() if key not in asked}
        yield from self._checks(node, checked, f"parse_{node.name}")
        own = {
            target: {key: r for key, r in found.items() if key not in checked} for target, found in conditions.items()
        }
        guards = {target: self._guard(node, asked, own[target]) for target in own}
        chosen: list[Row] = []
        for branch in choices:
            if branch.target not in own:
                chosen += [(row, "accept") for row in rows(branch.box, self._header(node))]
                continue
            later = guards[branch.target]
            entry = self._guarded(node, branch.target) if later else self._target(node, branch.target)
            at_once = tuple((key, r) for key, r in own[branch.target].items() if key not in later)
            taken = both(branch.box, at_once)
            if taken is not None:
                chosen += [(row, entry) for row in rows(taken, self._header(node))]
            if taken != branch.box:
                chosen += [(row, "accept") for row in rows(branch.box, self._header(node))]
        yield from self._select(node, chosen)
        yield "}"
        for target, later in guards.items():
            if later:
                name = self._guarded(node, target)
                yield f"state {name} {{"
                yield from self._checks(node, later, name)
                yield f"    transition {self._target(node, target)};"
                yield "}"

    def _guard(self, node: Node, asked: set[Key], own: dict[Key, Range]) -> dict[Key, Range]:
        """The conditions that are asked for in a state of their own, after the choice: it cannot look at more keys."""
        looked = set(asked)
        later = {}
        for key, found in own.items():
            if key in asked or (self._one_mask(node, key, found) and self._fit(node, {*looked, key})):
                looked.add(key)
            else:
                later[key] = found
        return later

    def _guarded(self, node: Node, target: int) -> str:
        return f"only_{self._target(node, target)}"

    def _checks(self, node: Node, asked: dict[Key, Range], name: str) -> Iterator[str]:
        """Transitions to `accept` for packets outside these ranges, each to a further state that is left open."""
        groups: list[list[Key]] = []
        for key in asked:
            group = next((g for g in groups if self._fit(node, {*g, key})), None)
            if group is None:
                groups.append([key])
            else:
                group.append(key)
        for n, keys in enumerate(groups, 2):
            said = {key: enclosed(*asked[key], width(key, self._header(node))) for key in keys}
            refusals: list[Row] = [({key: pair}, "accept") for key in keys for pair in said[key][0]]
            allowed = {key: block for key, (_, block) in said.items() if block[1]}
            yield from self._select(node, [*refusals, (allowed, f"{name}_{n}")])
            yield "}"
            yield f"state {name}_{n} {{"

    def _one_mask(self, node: Node, key: Key, allowed: Range) -> bool:
        """Does one mask say all of the allowed values?"""
        others, _ = enclosed(*allowed, width(key, self._header(node)))
        return not others

    def _fit(self, node: Node, keys: set[Key]) -> bool:
        return asked_together(keys, self._header(node))

    # ------------------------------------------------------------ what comes next

    def _target(self, node: Node, target: int) -> str:
        if target == END:
            return f"{'options' if node.ends is not None and node.ends.steps[-1].options else 'end'}_{node.name}"
        return f"parse_{next(c for c in node.children if c.step.node == target).name}"

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
        keys = sorted({key for row, _ in kept for key in row}, key=place)
        if not keys:
            yield f"    transition {kept[-1][1]};"
            return
        yield from _wrapped("    transition select(", [self._value(node, key) for key in keys], ") {")
        for said, target in kept:
            if not said:
                yield f"        default: {target};"
                continue
            patterns = [_pattern(said.get(key), width(key, self._header(node))) for key in keys]
            text = f"({', '.join(patterns)})" if len(patterns) > 1 else patterns[0]
            yield f"        {text}: {target};"
        yield "    }"

    def _value(self, node: Node, key: Key) -> str:
        if isinstance(key, Ahead):
            bits = f"[{key.width - 1}:0]" if key.first else ""
            return f"pkt.lookahead<bit<{key.first + key.width}>>(){bits}"
        return names.field(node.step.instance, key, self.parser)

    # ------------------------------------------------------------ the end of a way

    def _end(self, node: Node, way: Way) -> Iterator[str]:
        options = way.steps[-1].options
        if options is not None:
            yield from self._options(node, options)
        last = f"way_{way.number}"
        yield f"state end_{node.name} {{"
        for sum in self.sums[way.number]:
            if not sum.sum.zero_is_none:
                continue
            value, after = names.field(sum.sum.instance, sum.sum.field, self.parser), f"{last}_after_{sum.name}"
            yield f"    transition select({value}) {{"
            yield f"        0: {after};"
            yield f"        default: {last}_with_{sum.name};"
            yield "    }"
            yield "}"
            yield f"state {last}_with_{sum.name} {{"
            yield f"    md.{sum.name}_there = 1;"
            yield f"    transition {after};"
            yield "}"
            yield f"state {after} {{"
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
