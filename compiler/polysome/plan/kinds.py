"""Which packets are split, by the ways through the switch's parser, which go whole, and the frames they take."""

from __future__ import annotations

from collections.abc import Iterator

from polysome.analysis.framed import framed_classes
from polysome.analysis.layout import WIRE, Carry, ClassLayout, layout
from polysome.analysis.patterns import patterns, words
from polysome.analysis.relevance import passing
from polysome.analysis.words import place
from polysome.ir import program as ir
from polysome.plan import frames
from polysome.plan.model import Asked, Frames
from polysome.plan.site import Site
from polysome.plan.targets import Switch
from polysome.plan.way import Condition, Step, Way
from polysome.plan.ways import ways


def kinds(program: ir.Program, site: Site, carry: Carry, mean: int) -> list[Frames]:
    """The ways that the switch splits, in their order, then what goes whole and why; `mean`: bytes of such a packet."""
    layouts = layout(program, carry).classes
    split, deep = [], []
    for way in ways(program, framed_classes(program, carry)):
        found = _frames(program, way, site.switch)
        if frames.BRIDGE + found.depth > site.switch.egress_depth_most_bytes:
            deep.append((way, found))
        else:
            split.append((way, found))
    taken = sum({1 << way.parse_class for way, _ in (*split, *deep)})
    whole = [
        Frames(
            f.headers,
            None,
            f.fields,
            f.edits,
            *_whole(mean),
            why=f"{frames.BRIDGE} B of mirror header and {f.depth} B of packet are more than the "
            f"{site.switch.egress_depth_most_bytes} B that {site.switch.name}'s egress parser sees",
        )
        for _, f in deep
    ]
    for one in layouts:
        whole += _rest(program, one, one.classes & ~taken, mean)
    return [f for _, f in split] + whole


def _frames(program: ir.Program, way: Way, chip: Switch) -> Frames:
    depth = way.depth(program.parser)
    return Frames(
        headers=" / ".join(program.parser.instances[i].name for i in way.instances),
        number=way.tag,
        fields=way.fields_size,
        edits=way.edits_size,
        to_nf=WIRE.frame(way.fields_size),
        from_nf=WIRE.frame(way.edits_size),
        depth=depth,
        mirror_length=mirror_length(chip, depth),
        least_length=way.least_length(program.parser),
        asked=tuple(_asked(program.parser, step, c) for step in way.steps for c in step.conditions),
    )


def _asked(parser: ir.Parser, step: Step, condition: Condition) -> Asked:
    instance = parser.instances[step.instance]
    field = instance.header.fields[condition.field]
    low, high, most = condition.low, condition.high, (1 << field.width) - 1
    said = (
        f"is {low}" if low == high else f"≥ {low}" if high == most else f"≤ {high}" if not low else f"{low} to {high}"
    )
    return Asked(f"{instance.name}.{field.name} {said}", "; ".join(condition.why))


def mirror_length(chip: Switch, depth: int) -> int:
    """The longest length of the session that brings `depth` bytes of a packet."""
    header = frames.BRIDGE if chip.mirror_length_counts_header else 0
    return header + depth + chip.mirror_length_counts_fcs_bytes


def _whole(mean: int) -> tuple[int, int]:
    return frames.whole(mean), frames.whole(mean)


def _rest(program: ir.Program, one: ClassLayout, mask: int, mean: int) -> Iterator[Frames]:
    """The parse classes of a layout that no way goes through."""
    if not mask:
        return
    shown = [words(p, program.parser) for p in patterns(mask, passing(program), program.parser)]
    headers = shown[0] if len(shown) == 1 else f"{shown[0]} and {len(shown) - 1} more"
    if one.whole is not None:
        why, where = one.whole.reason, place(program, one.whole.span)
    else:
        why, where = "the switch's parser goes only common ways of headers at fixed places", ""
    yield Frames(headers, None, one.fields_size, one.edits_size, *_whole(mean), why=why, place=where)
