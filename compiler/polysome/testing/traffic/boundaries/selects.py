"""Where the parser goes next: every field, and every bit behind a header, that a select or a hook asks for.

Values on both sides of all that they are compared with, and the value on the path with each of its bits wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from polysome.ir import program as ir
from polysome.testing.traffic.boundaries.model import FAR, NEAR, Boundary, copied, forced, name, read
from polysome.testing.traffic.frames import Frame, encode
from polysome.testing.traffic.headers import shapes
from polysome.testing.traffic.routes import PEEK, Leaf, Step, candidates_of, leaves_of


def selects(program: ir.Program, chain: tuple[Step, ...]) -> Iterator[Boundary]:
    """Of all nodes of a chain. Of those before the last two, which shorter paths have too, all but bits are far."""
    path = [program.parser.nodes[s.node].instance for s in chain if s.extracts]
    at = -1
    for number, step in enumerate(chain):
        at += step.extracts
        own = number >= len(chain) - 2
        for leaf in leaves_of(program, program.parser.nodes[step.node]):
            if leaf[0] == PEEK:
                yield from _peeked(program, step, leaf, at, NEAR if own else FAR)
            elif leaf[0] in path:
                yield from _field(program, step, leaf, path.index(leaf[0]), own)


def _field(program: ir.Program, step: Step, leaf: Leaf, layer: int, own: bool) -> Iterator[Boundary]:
    shape = shapes(program)[leaf[0]]
    field = shape.header.fields[leaf[1]]
    condition = f"what follows by {name(program, *leaf)}"
    for value in candidates_of(program, program.parser.nodes[step.node], leaf):
        rank = NEAR if own or field.width == 1 else FAR
        yield Boundary(condition, f"{value:#x}", rank, partial(forced, program, layer, leaf[1], value))
    for bit in range(field.width):
        yield Boundary(condition, f"bit {bit} wrong", FAR, partial(_flipped, program, layer, leaf[1], bit))


def _flipped(program: ir.Program, layer: int, field: int, bit: int, frame: Frame) -> bytes:
    before = read(frame, layer, field, encode(program, frame))
    return forced(program, layer, field, before ^ 1 << bit, frame)


def _peeked(program: ir.Program, step: Step, leaf: Leaf, layer: int, rank: int) -> Iterator[Boundary]:
    """`leaf` says how many bits the node looks at, `step.peeked` which of them matter."""
    bits, mask = leaf[1], step.peeked
    ranks = {value & mask: rank for value in candidates_of(program, program.parser.nodes[step.node], leaf)}
    for bit in range(bits):
        ranks.setdefault(1 << bit & mask, FAR)
    for value, how in ranks.items():
        condition = f"what follows by the {bits} bits behind header {layer + 1}"
        yield Boundary(condition, f"{value:#x}", how, partial(_behind, program, (layer, bits, mask, value)))


def _behind(program: ir.Program, peek: tuple[int, int, int, int], frame: Frame) -> bytes:
    found = copied(frame)
    found.peeks.append(peek)
    return encode(program, found)
