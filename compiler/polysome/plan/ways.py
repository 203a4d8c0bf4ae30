"""Finds the ways through the NF's parser that the switch takes packets apart on, and what each assumes of a packet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from graphlib import CycleError

from polysome.analysis.framed import MOST_PORTS, framed_classes
from polysome.analysis.layout import ClassLayout
from polysome.analysis.relevance import PAYLOAD
from polysome.ir import program as ir
from polysome.plan.assumed import assumed
from polysome.plan.sums import sums
from polysome.plan.way import Way, order

# How much rarer packets with a header are, in powers of two or so; headers not listed are what a spec is about.
RARITY = {
    "ethernet": 0,
    "ipv4": 1,
    "tcp": 1,
    "udp": 1,
    "ipv6": 2,
    "vlan": 3,
    "icmp": 3,
    "icmpv6": 3,
    "esp": 4,
    "arp": 9,
    "ah": 9,
    "ipv6_ext": 9,
    "ipv6_fragment": 9,
}
OTHER = 0
# A packet that the parser knows no further, although it knows what may come.
UNKNOWN_BEHIND = 3
RAREST = 7
CHECKSUM_UNITS = 2  # of a Tofino parser
MOST_WITH_OPTIONS = 4  # each takes a tenth of a Tofino parser's rows
MOST_WAYS = 6


def ways(program: ir.Program, layouts: tuple[ClassLayout, ...] | None = None) -> tuple[Way, ...]:
    """The ways that the switch splits, the commonest first; none if it can split nothing.

    `layouts`: of the classes that the NF takes as fields frames, `framed_classes(program)` if not given.
    """
    if len(program.ports) > MOST_PORTS:
        return ()
    known = framed_classes(program) if layouts is None else layouts
    found = []
    for nodes in _walk(program.parser, (0,)):
        way = _way(program, nodes, known)
        if way is not None:
            found.append((_rarity(program.parser, way), way))
    found = sorted((f for f in found if f[0] <= RAREST), key=lambda f: f[0])
    kept = _agreeing(_ordered(_fitting([way for _, way in found], program.parser))[:MOST_WAYS])
    return tuple(replace(way, number=n) for n, way in enumerate(kept, 1))


def _ordered(found: list[Way]) -> list[Way]:
    """Those whose headers have one order, the first ones first."""
    kept: list[Way] = []
    for way in found:
        with suppress(CycleError):
            order([*kept, way])
            kept.append(way)
    return kept


def _agreeing(found: list[Way]) -> list[Way]:
    """Ways that go on alike from a header have the same conditions there: the switch's parser asks once, for all.

    A condition of one is then a condition of all of them. The first ones stay, where that leaves nothing.
    """
    kept: list[Way] = []
    for way in found:
        own: Way | None = way
        for one in kept:
            own = own.joined(one) if own is not None else None
        others = [one.joined(way) for one in kept]
        if own is not None and None not in others:
            kept = [*(one for one in others if one is not None), own]
    return kept


def _fitting(found: list[Way], parser: ir.Parser) -> list[Way]:
    """Those that fit a parser, the first ones first: its rows, and checksums that it keeps running together."""
    kinds: set[tuple[str, ...]] = set()
    kept: list[Way] = []
    for way in found:
        own = {s.kind(parser) for s in sums(way.instances, way.layout.edits, parser)}
        options = way.steps[-1].options is not None
        if options and sum(w.steps[-1].options is not None for w in kept) == MOST_WITH_OPTIONS:
            continue
        if len(kinds | own) <= CHECKSUM_UNITS and not (own and _goes_on(way, found)):
            kinds |= own
            kept.append(way)
    return kept


def _goes_on(way: Way, others: list[Way]) -> bool:
    """Does another way go on where this one ends? The parser hands checksums over at the last header of a way."""
    n = len(way.steps)
    return any(len(o.steps) > n and o.instances[:n] == way.instances for o in others)


def _rarity(parser: ir.Parser, way: Way) -> int:
    last = parser.nodes[way.steps[-1].node]
    known = sum(RARITY.get(parser.instances[i].header.name, OTHER) for i in way.instances)
    return known + (UNKNOWN_BEHIND if last.cases or last.hooks else 0)


def _walk(parser: ir.Parser, nodes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every way from the start, each header once, rare ones not gone into."""
    node = parser.nodes[nodes[-1]]
    instances = [i for n in nodes if (i := parser.nodes[n].instance) is not None]
    if len(set(instances)) != len(instances) or any(parser.instances[i].cut is not None for i in instances):
        return
    if sum(RARITY.get(parser.instances[i].header.name, OTHER) for i in instances) > RAREST:
        return
    yield nodes
    for target in dict.fromkeys([hook for _, hook in node.hooks] + [case.target for case in node.cases]):
        if target >= 0 and target not in nodes:
            yield from _walk(parser, (*nodes, target))


def _way(program: ir.Program, nodes: tuple[int, ...], layouts: tuple[ClassLayout, ...]) -> Way | None:
    """The way through these nodes, if packets on it can be split."""
    parser = program.parser
    instances = tuple(i for n in nodes if (i := parser.nodes[n].instance) is not None)
    if instances not in parser.classes or len(instances) != len(nodes):
        return None
    number = parser.classes.index(instances)
    chosen = next((c for c in layouts if c.classes >> number & 1), None)
    if chosen is None or chosen.number is None or chosen.operations:  # what gets or loses headers goes whole
        return None
    used = {piece.instance for piece in chosen.fields} | {edit.instance for edit in chosen.edits}
    if not used <= {*instances, PAYLOAD}:
        return None  # of a class that this way has in common with another one
    return assumed(program, nodes, number, chosen)
