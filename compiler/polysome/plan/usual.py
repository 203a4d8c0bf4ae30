"""What is assumed of packets that nobody has counted: which kinds are usual. And by how much the NF lengthens them."""

from __future__ import annotations

from polysome.analysis.layout import ClassLayout
from polysome.analysis.paths import popped
from polysome.analysis.relevance import members, passing
from polysome.ir import program as ir
from polysome.plan.ways import OTHER, RARITY

USUAL = 2  # of RARITY: headers up to this are in packets of which there may be any number


def usual(program: ir.Program) -> int:
    """The parse classes (a mask) of which all packets of a link may be, of those that the NF takes.

    They have no header that is rarer than IPv6's, and the parser knows nothing that could follow them. If there are
    none, all are.
    """
    passed = passing(program)
    found = sum(1 << c for c in members(passed) if _usual(program.parser, program.parser.classes[c]))
    return found or passed


def _usual(parser: ir.Parser, instances: tuple[int, ...]) -> bool:
    if not instances or any(RARITY.get(parser.instances[i].header.name, OTHER) > USUAL for i in instances):
        return False
    return any(not node.cases and not node.hooks for node in parser.nodes if node.instance == instances[-1])


def growth(program: ir.Program, layout: ClassLayout, parse_class: int) -> int:
    """Bytes by which packets of the class leave longer at most: headers pushed less headers popped, by fixed sizes."""
    path, instances = program.parser.classes[parse_class], program.parser.instances
    found = []
    for shape in layout.shapes:
        grown = 0
        for operation in (layout.operations[n] for n in shape):
            match operation:
                case ir.Push(header=header):
                    grown += program.headers[header].fixed
                case ir.Pop():
                    grown -= sum(instances[i].header.fixed for i in popped(operation, path))
        found.append(grown)
    return max(found, default=0)
