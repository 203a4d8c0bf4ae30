"""What a way assumes of a packet: the one list of conditions from which the switch's parser and `plan`'s words come.

A packet that meets all of them is taken apart by the switch just as the spec's parser does it: every header has the
size that the way says, is well formed (LANGUAGE.md, L4.2), and lies inside what the headers before it claim (L4.3).
"""

from __future__ import annotations

from polysome.analysis.layout import ClassLayout
from polysome.analysis.relevance import PAYLOAD
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.plan.branches import END, ahead, branches, targets
from polysome.plan.conditions import asked_together
from polysome.plan.order_class import order_key
from polysome.plan.sums import sums
from polysome.plan.values import FieldKey, Known
from polysome.plan.way import Condition, Options, Step, Way

MOST_LENGTH_BITS = 16  # of the length that frames carry (PROTOCOL.md)


def assumed(program: ir.Program, nodes: tuple[int, ...], parse_class: int, layout: ClassLayout) -> Way | str:
    """The way through these nodes, whose packets have this parse class; or why ranges of fields cannot say so."""
    parser = program.parser
    instances = parser.classes[parse_class]
    offsets = _offsets(parser, instances)
    length = _length(parser, instances, offsets)
    if length is None:
        return "no header says in a way that the switch can use where the packet ends"
    known = Known(parser)
    fixed_end = any(s.instance == PAYLOAD for s in layout.fields)
    options = _options(parser, instances[-1], fixed_end)
    if not _reaching(parser, nodes, instances, offsets, options, known):
        return "what a header says of where it ends is more than the switch can check"
    known.cause = "of others, fragments for one, the switch does not know the order class"
    hashed = order_key(program, parse_class, known)
    if not _sized(parser, instances, known, fixed_end):
        return "the headers have no fixed places: the size of one varies"
    if not _well_formed(parser, instances, known):
        return "`valid` of a header asks more than the switch can"
    _plain_sums(parser, instances, layout, known)
    steps = []
    for n, i in enumerate(instances):
        target = nodes[n + 1] if n + 1 < len(nodes) else END
        if target not in targets(parser, nodes[n]) or not _can_be_asked(parser, nodes[n], target):
            return f"where the parser goes on behind {parser.instances[i].name} asks more than the switch can"
        last = n == len(instances) - 1
        steps.append(Step(nodes[n], i, offsets[n], _conditions(known, i), options if last else None, target))
    return Way(0, tuple(steps), layout, parse_class, *length, hashed)


def _can_be_asked(parser: ir.Parser, node: int, target: int) -> bool:
    """Do the keys that decide whether a packet goes on fit one state of the switch's parser?"""
    instance = parser.nodes[node].instance
    assert instance is not None
    keys = {key for branch in branches(parser, node, frozenset({target})) for key, _ in branch.box}
    return asked_together(keys, parser.instances[instance].header)


def _offsets(parser: ir.Parser, instances: tuple[int, ...]) -> tuple[int, ...]:
    sizes = [parser.instances[i].header.fixed for i in instances]
    return tuple(sum(sizes[:n]) for n in range(len(sizes)))


def _conditions(known: Known, instance: int) -> tuple[Condition, ...]:
    return tuple(
        Condition(f, *found, known.reasons.get((i, f), ()))
        for (i, f), found in sorted(known.ranges.items())
        if i == instance and found != (0, (1 << known.width((i, f))) - 1)
    )


# ---------------------------------------------------------------- lengths


def _length(parser: ir.Parser, instances: tuple[int, ...], offsets: tuple[int, ...]) -> tuple[FieldKey, int] | None:
    """The field that says where the packet ends, and what to add for the frame's bytes up to there."""
    for i, offset in zip(instances, offsets, strict=True):
        if parser.instances[i].header.end is not None:
            found = _end(parser, i)
            if found is None or parser.instances[i].header.fields[found[0]].width > MOST_LENGTH_BITS:
                return None
            return (i, found[0]), offset + found[1]
    return None


def _end(parser: ir.Parser, instance: int) -> tuple[int, int] | None:
    """`end` as (field, what is added to it)."""
    end, plus = parser.instances[instance].header.end, 0
    match end:
        case ir.Binary(op="+", left=left, right=ir.Const(value=int() as value)):
            end, plus = left, value
    while isinstance(end, ir.Cast) and _keeps_all(end):
        end = end.value
    if isinstance(end, ir.HeaderField) and end.instance in (-1, instance):
        return end.field, plus
    return None


def _keeps_all(cast: ir.Cast) -> bool:
    own, inner = t.width(cast.type), t.width(cast.value.type)
    return own is not None and inner is not None and own >= inner


def _reaching(
    parser: ir.Parser,
    nodes: tuple[int, ...],
    instances: tuple[int, ...],
    offsets: tuple[int, ...],
    options: Options | None,
    known: Known,
) -> bool:
    """Whatever says where something ends says so behind all headers, their options, and all that choices look at."""
    reach = offsets[-1] + (options.most * options.unit if options else parser.instances[instances[-1]].header.fixed)
    for node, i, offset in zip(nodes, instances, offsets, strict=True):
        reach = max(reach, offset + parser.instances[i].header.fixed + ahead(parser, node))
    for i, offset in zip(instances, offsets, strict=True):
        if parser.instances[i].header.end is None:
            continue
        found = _end(parser, i)
        if found is None:
            return False
        field, plus = found
        known.cause = f"{parser.instances[i].name} claims at least {reach - offset} B: all headers are inside"
        if not known.narrow((i, field), max(0, reach - offset - plus), (1 << known.width((i, field))) - 1):
            return False
    return True


# ---------------------------------------------------------------- sizes and forms


def _scaled(parser: ir.Parser, instance: int) -> tuple[int, int] | None:
    """(field, unit) of a header whose size is field · unit."""
    match parser.instances[instance].header.size:
        case ir.Binary(op="*", left=left, right=ir.Const(value=int() as unit), type=type):
            while isinstance(left, ir.Cast) and _keeps_all(left):
                left = left.value
            if isinstance(left, ir.HeaderField) and left.instance in (-1, instance) and unit > 0:
                most = ((1 << parser.instances[instance].header.fields[left.field].width) - 1) * unit
                wide = t.width(type)
                return (left.field, unit) if wide is not None and most < 1 << wide else None
    return None


def _sized(parser: ir.Parser, instances: tuple[int, ...], known: Known, fixed_end: bool) -> bool:
    """Narrows headers to their fixed sizes, or to sizes that `_options` lists; False if ranges cannot say so."""
    for n, i in enumerate(instances):
        header, name = parser.instances[i].header, parser.instances[i].name
        may_be_longer = n == len(instances) - 1 and not fixed_end
        if header.size is None:
            if any(f.rest for f in header.fields) and not may_be_longer:
                return False
            continue
        scaled = _scaled(parser, i)
        if scaled is None or header.fixed % scaled[1]:
            return False
        least, most = header.fixed // scaled[1], (1 << header.fields[scaled[0]].width) - 1
        known.cause = f"{name} has {'at least' if may_be_longer else 'just'} its {header.fixed} B"
        if not known.narrow((i, scaled[0]), least, most if may_be_longer else least):
            return False
    return True


def _options(parser: ir.Parser, instance: int, fixed_end: bool) -> Options | None:
    """What may follow the fixed part of a way's last header."""
    scaled = _scaled(parser, instance)
    if scaled is None or fixed_end:
        return None
    header = parser.instances[instance].header
    return Options(*scaled, header.fixed // scaled[1], (1 << header.fields[scaled[0]].width) - 1)


def _well_formed(parser: ir.Parser, instances: tuple[int, ...], known: Known) -> bool:
    """Narrows fields so that `valid` of every header holds."""
    for i in instances:
        valid = parser.instances[i].header.valid
        known.cause = f"`valid` of {parser.instances[i].name}"
        if valid is not None and not (known.assume(valid, True, i) and known.decide(valid, i) is True):
            return False
    return True


def _plain_sums(parser: ir.Parser, instances: tuple[int, ...], layout: ClassLayout, known: Known) -> None:
    """Zero has two forms, of which an update of nothing would make the one that it writes (PROTOCOL.md, rule 12)."""
    for one in sums(instances, layout.edits, parser):
        if not one.never_zero:
            known.cause = "a checksum of all ones is minus zero"
            known.narrow((one.instance, one.field), 0, 0xFFFE)
        elif not one.zero_is_none:
            known.cause = "a checksum of zero would become all ones"
            known.narrow((one.instance, one.field), 1, 0xFFFF)
