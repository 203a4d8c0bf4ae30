"""The ways through the NF's parser that the switch takes packets apart on (DESIGN section 6, *Park*).

A switch's parser knows headers at places that are known when it is compiled. So a way is a sequence of headers of fixed
size (the last one may have options behind it); a packet that goes any other way, or has a value that the way does not
allow (IPv4 options, a fragment whose order class has no ports), goes to the NF whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from polysome.analysis.framed import MOST_PORTS, framed_classes
from polysome.analysis.layout import ClassLayout
from polysome.analysis.relevance import PAYLOAD
from polysome.analysis.symbolic import Normal, members
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.plan.sums import sums
from polysome.plan.values import FieldKey, Known

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

Rows = tuple[tuple[tuple[int, int, int], ...], ...]


@dataclass(frozen=True)
class Options:
    """A last header that may be longer than its fixed part: field `field` says how long, in units of `unit` bytes."""

    field: int
    unit: int
    least: int
    most: int


@dataclass(frozen=True)
class Step:
    """One header of a way, `offset` bytes from the frame's start.

    `allowed`: of its fields (index, low, high), values with which a packet may go on. `keys`: for the next step, or for
    the end of the way, rows of such triples, in order: the first that fits decides, `goes_on` says which do.
    """

    node: int
    instance: int
    offset: int
    allowed: tuple[tuple[int, int, int], ...]
    options: Options | None
    keys: Rows
    goes_on: tuple[bool, ...]
    otherwise: bool  # does the way go on if no row fits?


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
    kept = _ordered(_fitting([way for _, way in found], program.parser))[:MOST_WAYS]
    return tuple(replace(way, number=n) for n, way in enumerate(kept, 1))


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


def _ordered(found: list[Way]) -> list[Way]:
    """Those whose headers have one order, the first ones first."""
    kept: list[Way] = []
    for way in found:
        with suppress(CycleError):
            order([*kept, way])
            kept.append(way)
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
    length = _length(parser, instances)
    if length is None:
        return None
    known = Known(parser)
    offsets = _offsets(parser, instances)
    # Whatever the threshold is, a packet is split only if its claimed length covers its headers.
    enough = offsets[-1] + parser.instances[instances[-1]].header.fixed + _most_options(parser, instances[-1])
    if not known.narrow(length[0], max(0, enough - length[1]), (1 << known.width(length[0])) - 1):
        return None
    hashed = _order_key(program, number, known)
    steps = _steps(parser, nodes, instances, offsets, known, any(s.instance == PAYLOAD for s in chosen.fields))
    if steps is None:
        return None
    return Way(0, steps, chosen, number, *length, hashed)


def _offsets(parser: ir.Parser, instances: tuple[int, ...]) -> tuple[int, ...]:
    sizes = [parser.instances[i].header.fixed for i in instances]
    return tuple(sum(sizes[:n]) for n in range(len(sizes)))


def _length(parser: ir.Parser, instances: tuple[int, ...]) -> tuple[FieldKey, int] | None:
    """The field that says where the packet ends, and what to add for the frame's bytes up to there."""
    for i, offset in zip(instances, _offsets(parser, instances), strict=True):
        end = parser.instances[i].header.end
        if end is not None:
            plus = 0
            match end:
                case ir.Binary(op="+", left=left, right=ir.Const(value=int() as value)):
                    end, plus = left, value
            while isinstance(end, ir.Cast):
                end = end.value
            if isinstance(end, ir.HeaderField) and end.instance in (-1, i):
                return (i, end.field), offset + plus
            return None
    return None


# ---------------------------------------------------------------- steps


def _steps(
    parser: ir.Parser,
    nodes: tuple[int, ...],
    instances: tuple[int, ...],
    offsets: tuple[int, ...],
    known: Known,
    fixed_end: bool,
) -> tuple[Step, ...] | None:
    """What the parser asks at each header; None if it cannot be asked of constant ranges."""
    options: list[Options | None] = []
    for n, i in enumerate(instances):
        last = n == len(instances) - 1
        found = _sized(parser, i, known, last and not fixed_end)
        if found is False:
            return None
        options.append(found if isinstance(found, Options) else None)
        valid = parser.instances[i].header.valid
        if valid is not None and not known.assume(valid, True, i):
            return None
        if valid is not None and known.decide(valid, i) is not True:
            return None
    steps = []
    for n, i in enumerate(instances):
        target = nodes[n + 1] if n + 1 < len(nodes) else -1
        asked = _next(parser, nodes[n], target, known)
        if asked is None:
            return None
        allowed = tuple((f, *r) for (at, f), r in sorted(known.ranges.items()) if at == i)
        steps.append(Step(nodes[n], i, offsets[n], allowed, options[n], *asked))
    return tuple(steps)


def _most_options(parser: ir.Parser, instance: int) -> int:
    """Bytes of options that the last header of a way may have."""
    found = _scaled(parser, instance)
    if found is None:
        return 0
    (key, unit) = found
    header = parser.instances[instance].header
    return ((1 << header.fields[key].width) - 1) * unit - header.fixed


def _scaled(parser: ir.Parser, instance: int) -> tuple[int, int] | None:
    """(field, unit) of a header whose size is field · unit."""
    match parser.instances[instance].header.size:
        case ir.Binary(op="*", left=left, right=ir.Const(value=int() as unit)):
            while isinstance(left, ir.Cast):
                left = left.value
            if isinstance(left, ir.HeaderField) and left.instance in (-1, instance):
                return left.field, unit
    return None


def _sized(parser: ir.Parser, instance: int, known: Known, may_be_longer: bool) -> Options | bool | None:
    """Narrows a header to its fixed size, or says which options it may have; False if its size cannot be told."""
    header = parser.instances[instance].header
    if header.size is None:
        return False if any(f.rest for f in header.fields) and not may_be_longer else None
    found = _scaled(parser, instance)
    if found is None or header.fixed % found[1]:
        return False
    field, unit = found
    least, most = header.fixed // unit, (1 << header.fields[field].width) - 1
    if may_be_longer:
        return Options(field, unit, least, most) if known.narrow((instance, field), least, most) else False
    return None if known.narrow((instance, field), least, least) else False


def _next(parser: ir.Parser, node: int, target: int, known: Known) -> tuple[Rows, tuple[bool, ...], bool] | None:
    """The rows that say whether a packet goes from a node on to `target` (-1: the way ends); hooks are tried first."""
    here = parser.nodes[node]
    rows: list[tuple[tuple[int, int, int], ...]] = []
    on: list[bool] = []
    for condition, hook in here.hooks:
        for row in _condition(condition, known, here.instance):
            rows.append(row)
            on.append(hook == target)
        if condition is None:
            return (tuple(rows), tuple(on), False)
    keys = [_plain(k, here.instance) for k in here.keys]
    for case in here.cases:
        for match in case.matches:
            own: list[tuple[int, int, int]] = []
            sure = True
            for key, wanted in zip(keys, match.ranges, strict=True):
                if wanted is None:
                    continue
                if key is None:
                    sure = False
                else:
                    own.append((key, *wanted))
            rows.append(tuple(own))
            on.append(sure and case.target == target)
    return tuple(rows), tuple(on), target == -1


def _plain(e: ir.Expr, instance: int | None) -> int | None:
    """The field of the header just extracted that a key is."""
    return e.field if isinstance(e, ir.HeaderField) and e.instance in (-1, instance) else None


def _condition(e: ir.Expr | None, known: Known, instance: int | None) -> list[tuple[tuple[int, int, int], ...]]:
    """A hook's condition as rows of which any may fit; a single empty row (fits always) if it is none of these."""
    if e is None or instance is None:
        return [()]
    match e:
        case ir.Binary(op="or", left=left, right=right):
            return [*_condition(left, known, instance), *_condition(right, known, instance)]
    alone = Known(known.parser)
    if alone.assume(e, True, instance) and all(i == instance for i, _ in alone.ranges):
        return [tuple((f, *r) for (_, f), r in sorted(alone.ranges.items()))]
    return [()]


# ---------------------------------------------------------------- order


def _order_key(program: ir.Program, parse_class: int, known: Known) -> tuple[FieldKey, ...]:
    """Fields that packets of one order class have in common; conditions on fields are made false (no fragments)."""
    e = Normal(program).of(program.schedule.cls, 1 << parse_class)
    while isinstance(e, ir.Choose):
        trial = known.copy()
        if not trial.assume(e.condition, False, -1):
            return ()
        known.ranges = trial.ranges
        e = e.orelse
    found: list[FieldKey] = []
    for leaf in _components(e):
        while isinstance(leaf, ir.Cast) and _keeps(leaf):
            leaf = leaf.value
        if isinstance(leaf, ir.HeaderField):
            found.append((leaf.instance, leaf.field))
    return tuple(dict.fromkeys(found))


def _keeps(cast: ir.Cast) -> bool:
    """Does a cast keep different values apart?"""
    if isinstance(cast.type, t.Bits) and isinstance(cast.value.type, t.Bits):
        return cast.type.width >= cast.value.type.width
    return cast.mapped


def _components(e: ir.Expr) -> Iterator[ir.Expr]:
    if isinstance(e, ir.Make) and members(e.type):
        for item in e.items:
            yield from _components(item)
    else:
        yield e
