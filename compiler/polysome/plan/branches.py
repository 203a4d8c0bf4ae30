"""Where a packet goes from one node of the spec's parser, as a switch's parser asks it: the first box that fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from polysome.ir import program as ir
from polysome.plan.conditions import ANY, Ahead, Box, Boxes, box, boxes, key_of

END, WHOLE = -1, -2  # targets besides nodes: parsing ends here; the packet is not split


@dataclass(frozen=True)
class Branch:
    """A packet in the box goes to node `target`, or END or WHOLE."""

    box: Box
    target: int


def branches(parser: ir.Parser, node: int, wanted: frozenset[int]) -> tuple[Branch, ...]:
    """The choices at a node in their order; the last one takes all. Targets that are not `wanted` are WHOLE.

    To a wanted target goes only what surely goes there, and to WHOLE all that may go elsewhere: hooks come first, then
    the cases of the `select` (LANGUAGE.md, L4.7 and L4.13).
    """
    found: list[Branch] = []
    for asked, target in _choices(parser, node):
        if target in wanted:
            found += [Branch(b, target) for b in asked.inner]
            found += [Branch(b, WHOLE) for b in asked.outer if not asked.exact]
        else:
            # Cheaper for a parser, and only sends more packets whole.
            found += [Branch(_here(b), WHOLE) for b in asked.outer]
        if ANY in asked.outer:
            return tuple(found)
    return (*found, Branch(ANY, END if END in wanted else WHOLE))


def targets(parser: ir.Parser, node: int) -> frozenset[int]:
    """The targets that some packets surely go to."""
    return frozenset(target for asked, target in _choices(parser, node) if asked.inner) | {END}


def ahead(parser: ir.Parser, node: int) -> int:
    """Bytes behind the node's header that its choices look at."""
    keys = [key for asked, _ in _choices(parser, node) for b in asked.inner for key, _ in b]
    return max((-(-(key.first + key.width) // 8) for key in keys if isinstance(key, Ahead)), default=0)


def _here(b: Box) -> Box:
    """Without what is behind the header."""
    return tuple((key, found) for key, found in b if not isinstance(key, Ahead))


def _choices(parser: ir.Parser, node: int) -> Iterator[tuple[Boxes, int]]:
    here = parser.nodes[node]
    assert here.instance is not None
    for condition, hook in here.hooks:
        yield boxes(condition, here.instance, parser), hook
    keys = [key_of(key, here.instance) for key in here.keys]
    for case in here.cases:
        for match in case.matches:
            asked = [(key, found) for key, found in zip(keys, match.ranges, strict=True) if found is not None]
            outer = box((key, found) for key, found in asked if key is not None)
            yield Boxes((outer,) if len(outer) == len(asked) else (), (outer,)), case.target
