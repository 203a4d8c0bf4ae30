"""Which packets are split, by the ways through the switch's parser, which go whole, and the frames they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from polysome.analysis.framed import edits_frame, framed_classes, unframed
from polysome.analysis.layout import WIRE, Carry, ClassLayout, Whole, layout
from polysome.analysis.patterns import patterns, words
from polysome.analysis.relevance import members, passing
from polysome.analysis.words import place
from polysome.ir import program as ir
from polysome.plan import frames
from polysome.plan.branches import END, WHOLE, branches
from polysome.plan.conditions import Box, Key
from polysome.plan.model import Asked, Frames
from polysome.plan.site import Site
from polysome.plan.targets import Switch
from polysome.plan.usual import growth, usual
from polysome.plan.values import Range
from polysome.plan.way import Condition, Step, Way
from polysome.plan.ways import Survey, survey


def kinds(program: ir.Program, site: Site, carry: Carry, mean: int) -> list[Frames]:
    """The ways that the switch splits, in their order, then what goes whole and why; `mean`: bytes of such a packet."""
    layouts = layout(program, carry).classes
    found = seen(program, site, carry)
    common = usual(program)
    edits = edits_frame(program, carry)
    split = [
        replace(_frames(program, way, site.switch, edits), usual=bool(common >> way.parse_class & 1))
        for way in found.ways
    ]
    taken = sum({1 << way.parse_class for way in found.ways})
    whole: list[Frames] = []
    for one, cause in zip(layouts, unframed(program, carry), strict=True):
        whole += _rest(program, one, cause, found.refused, one.classes & ~taken, common, mean)
    return split + whole


def seen(program: ir.Program, site: Site, carry: Carry) -> Survey:
    """The ways whose fields the chip's egress sees, and that the NF knows as fields frames, numbered from 1."""
    surveyed = survey(program, framed_classes(program, carry))
    most = site.switch.egress_depth_most_bytes
    ways, refused = list[Way](), dict(surveyed.refused)
    for way in surveyed.ways:
        depth = way.depth(program.parser)
        if frames.BRIDGE + depth <= most:
            ways.append(replace(way, number=len(ways) + 1))
            continue
        refused[way.parse_class] = (
            f"{frames.BRIDGE} B of mirror header and {depth} B of packet are more than the {most} B that "
            f"{site.switch.name}'s egress parser sees"
        )
    return Survey(tuple(ways), refused)


def all_whole(program: ir.Program, mean: int, why: str) -> list[Frames]:
    """Where the switch splits nothing, and why it does not."""
    common, layouts = usual(program), layout(program).classes
    refused = dict.fromkeys(range(len(program.parser.classes)), why)
    return [f for one in layouts for f in _rest(program, one, None, refused, one.classes, common, mean)]


def _frames(program: ir.Program, way: Way, chip: Switch, from_nf: int) -> Frames:
    depth = way.depth(program.parser)
    return Frames(
        headers=" / ".join(program.parser.instances[i].name for i in way.instances),
        number=way.tag,
        fields=way.fields_size,
        edits=way.edits_size,
        to_nf=WIRE.frame(way.fields_size),
        from_nf=from_nf,
        depth=depth,
        mirror_length=mirror_length(chip, depth),
        least_length=way.least_length(program.parser),
        asked=(
            *(_asked(program.parser, step, c) for step in way.steps for c in step.conditions),
            *_ends(program.parser, way.steps[-1]),
        ),
    )


def _asked(parser: ir.Parser, step: Step, condition: Condition) -> Asked:
    instance = parser.instances[step.instance]
    field = instance.header.fields[condition.field]
    low, high, most = condition.low, condition.high, (1 << field.width) - 1
    said = (
        f"is {low}" if low == high else f"≥ {low}" if high == most else f"≤ {high}" if not low else f"{low} to {high}"
    )
    return Asked(f"{instance.name}.{field.name} {said}", "; ".join(condition.why))


def _ends(parser: ir.Parser, last: Step) -> Iterator[Asked]:
    """That no header follows: behind one that is not well formed the spec's parser ends too, but the switch does not
    know that it is not."""
    instance = parser.instances[last.instance]
    follows: dict[tuple[str, ...], list[Box]] = {}
    for branch in branches(parser, last.node, frozenset({END})):
        box = tuple((key, found) for key, found in branch.box if not _sure(last, key, found))
        if branch.target == WHOLE and box:
            names = (instance.header.fields[key].name for key, _ in box if isinstance(key, int))
            follows.setdefault(tuple(f"{instance.name}.{name}" for name in names), []).append(box)
    for fields, boxes in follows.items():
        values = [" with ".join(_values(found) for _, found in box) for box in sorted(set(boxes))]
        what = f"{' with '.join(fields)} is none of {', '.join(values)}"
        yield Asked(what, f"no header follows {instance.name}, not even one that is not well formed")


def _sure(step: Step, key: Key, found: Range) -> bool:
    """Is the key within that range in all packets of the way?"""
    own = step.condition(key) if isinstance(key, int) else None
    return own is not None and found[0] <= own.low and own.high <= found[1]


def _values(found: Range) -> str:
    low, high = found
    return str(low) if low == high else f"{low} to {high}"


def mirror_length(chip: Switch, depth: int) -> int:
    """The longest length of the session that brings `depth` bytes of a packet."""
    header = frames.BRIDGE if chip.mirror_length_counts_header else 0
    return header + depth + chip.mirror_length_counts_fcs_bytes


def _rest(
    program: ir.Program,
    one: ClassLayout,
    cause: Whole | None,
    refused: Mapping[int, str],
    mask: int,
    common: int,
    mean: int,
) -> Iterator[Frames]:
    """The parse classes of a layout that no way goes through, by why, and by how many bytes they grow."""
    groups: dict[tuple[str, bool, int], int] = {}
    for c in members(mask):
        why = cause.reason if cause is not None else refused[c]
        key = why, bool(common >> c & 1), growth(program, one, c)
        groups[key] = groups.get(key, 0) | 1 << c
    where = "" if cause is None else place(program, cause.span)
    for (why, often, grows), classes in groups.items():
        to_nf, from_nf = frames.whole(mean), frames.whole(max(0, mean + grows))
        found = Frames(_headers(program, classes), None, one.fields_size, one.edits_size, to_nf, from_nf)
        yield replace(found, why=why, place=where, usual=often, grows=grows)


@lru_cache(maxsize=4096)
def _headers(program: ir.Program, classes: int) -> str:
    """Of parse classes, as people read them. Remembered: a site is fitted to what is then planned on it again."""
    shown = [words(p, program.parser) for p in patterns(classes, passing(program), program.parser)]
    return shown[0] if len(shown) == 1 else f"{shown[0]} and {len(shown) - 1} more"
