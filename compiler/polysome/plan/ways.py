"""Finds the ways through the NF's parser that the switch takes packets apart on, and what each assumes of a packet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError

from polysome.analysis.framed import MOST_PORTS, framed_classes
from polysome.analysis.layout import ClassLayout
from polysome.analysis.relevance import PAYLOAD, members
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
RARE = "packets with these headers are rare, and the switch's parser has room for common ways only"


@dataclass(frozen=True)
class Survey:
    """`ways`: those that the switch splits, the commonest first. `refused`: why no way goes through a parse class."""

    ways: tuple[Way, ...]
    refused: Mapping[int, str]


def ways(program: ir.Program, layouts: tuple[ClassLayout, ...] | None = None) -> tuple[Way, ...]:
    """The ways that the switch splits, the commonest first; none if it can split nothing.

    `layouts`: of the classes that the NF takes as fields frames, `framed_classes(program)` if not given.
    """
    return survey(program, framed_classes(program) if layouts is None else layouts).ways


def survey(program: ir.Program, layouts: tuple[ClassLayout, ...]) -> Survey:
    """The ways among packets of these layouts, and why the others of their parse classes have none."""
    refused = _Refused(program, layouts)
    if len(program.ports) > MOST_PORTS:
        refused.all(f"a tag can tell {MOST_PORTS} ports apart, and the NF has {len(program.ports)}")
        return Survey((), refused.why)
    found = []
    for nodes in _walk(program.parser, (0,)):
        way = _way(program, nodes, layouts, refused)
        if way is not None:
            found.append((_rarity(program.parser, way), way))
    for rarity, way in found:
        if rarity > RAREST:
            refused.ways([way], RARE)
    common = [way for rarity, way in sorted(found, key=lambda f: f[0]) if rarity <= RAREST]
    kept = _ordered(_fitting(common, program.parser, refused), refused)
    refused.ways(kept[MOST_WAYS:], f"there are {MOST_WAYS} commoner ways, and the switch's parser has room for no more")
    kept = _agreeing(kept[:MOST_WAYS], refused)
    numbered = tuple(replace(way, number=n) for n, way in enumerate(kept, 1))
    return Survey(numbered, {c: why for c, why in refused.why.items() if c not in {w.parse_class for w in kept}})


class _Refused:
    """Collects why packets of parse classes go whole: what was told last is what a class got furthest with."""

    def __init__(self, program: ir.Program, layouts: tuple[ClassLayout, ...]) -> None:
        parser = program.parser
        self.why = {c: _unwalked(parser, parser.classes[c]) for one in layouts for c in members(one.classes)}

    def all(self, why: str) -> None:
        self.why = dict.fromkeys(self.why, why)

    def ways(self, ways: Iterable[Way], why: str) -> None:
        self.why |= dict.fromkeys((way.parse_class for way in ways), why)


def _unwalked(parser: ir.Parser, instances: tuple[int, ...]) -> str:
    """Why a sequence of headers is not gone into, or not all of the way."""
    cut = next((parser.instances[i].name for i in instances if parser.instances[i].cut is not None), "")
    if cut:
        return f"{cut} may be cut short, so its places are not fixed"
    if not instances:
        return "not even its first header is all there"
    return RARE


def _ordered(found: list[Way], refused: _Refused) -> list[Way]:
    """Those whose headers have one order, the first ones first."""
    kept: list[Way] = []
    for way in found:
        try:
            order([*kept, way])
            kept.append(way)
        except CycleError:
            refused.ways([way], "its headers stand in another order than those of commoner ways")
    return kept


def _agreeing(found: list[Way], refused: _Refused) -> list[Way]:
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
        else:
            refused.ways([way], "no packet meets its conditions and those of commoner ways on the same headers")
    return kept


def _fitting(found: list[Way], parser: ir.Parser, refused: _Refused) -> list[Way]:
    """Those that fit a parser, the first ones first: its rows, and checksums that it keeps running together."""
    kinds: set[tuple[str, ...]] = set()
    kept: list[Way] = []
    for way in found:
        own = {s.kind(parser) for s in sums(way.instances, way.layout.edits, parser)}
        options = way.steps[-1].options is not None
        if options and sum(w.steps[-1].options is not None for w in kept) == MOST_WITH_OPTIONS:
            refused.ways(
                [way], f"{MOST_WITH_OPTIONS} commoner ways end with options, and the parser has room for no more"
            )
        elif len(kinds | own) > CHECKSUM_UNITS:
            refused.ways([way], "with it, the switch's parser would keep more kinds of checksums than it can")
        elif own and _goes_on(way, found):
            refused.ways([way], "another way goes on where it ends, and checksums are handed over at a way's end")
        else:
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


def _way(
    program: ir.Program, nodes: tuple[int, ...], layouts: tuple[ClassLayout, ...], refused: _Refused
) -> Way | None:
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
        refused.why[number] = "the NF's frames are the same as those of packets with other headers"
        return None
    found = assumed(program, nodes, number, chosen)
    if isinstance(found, str):
        refused.why[number] = found
        return None
    return found
