"""How likely packets of each parse class are: the program says which it treats alike, and which can leave."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from polysome.analysis.paths import distinguishing
from polysome.analysis.relevance import members, partition, passing
from polysome.ir import program as ir
from polysome.ir.classes import split
from polysome.testing.traffic.choices import Weighted

_STOPPED = 0.09  # of the weight of what can leave: that of all that cannot
_QUOTING = 0.12  # errors that quote nothing that went by are rarely of use
_WORK = 1.5  # how much more likely packets are with which the program does more: the exponent
_LONGER = 0.45  # of the weight of a class: that of one with a header more


@dataclass(frozen=True)
class Group:
    """Parse classes that the program treats alike, the short ones first; `sends`: packets of them can leave."""

    classes: Weighted[int]
    sends: bool


@lru_cache(maxsize=256)
def groups(program: ir.Program, port: int) -> Weighted[Group]:
    """All parse classes, divided by what the program tells apart; first those that can leave if they come in at a port,
    short ones first."""
    parser = program.parser
    leaving = _leaving(program, port)
    found: list[tuple[Group, float]] = []
    for part in partition(parser.all_classes, [passing(program), *distinguishing(program)]):
        numbers = sorted(members(part), key=lambda c: len(parser.classes[c]))
        shortest = parser.classes[numbers[0]]
        weights = [(c, _LONGER ** (len(parser.classes[c]) - len(shortest))) for c in numbers]
        quoting = any(parser.instances[i].cut is not None for i in shortest)
        work = sum(
            _work(parser, h.body, part & passing(program))[0] for h in program.packet_handlers if port in h.ports
        )
        weight = (_QUOTING if quoting else 1.0) * _LONGER ** max(0, len(shortest) - 3) * (1 + work) ** _WORK
        found.append((Group(Weighted(weights), bool(part & leaving)), weight))
    sending = sum(weight for group, weight in found if group.sends)
    stopped = sum(weight for group, weight in found if not group.sends)
    scale = _STOPPED * sending / stopped if sending and stopped else 1.0
    found = [(group, weight if group.sends else weight * scale) for group, weight in found]
    return Weighted(sorted(found, key=lambda pair: (not pair[0].sends, -pair[1])))


def _leaving(program: ir.Program, port: int) -> int:
    """The parse classes of which some packet from a port may be sent."""
    contract = program.contract
    found = 0
    for handler in (h for h in program.packet_handlers if port in h.ports):
        found |= _body(program.parser, handler.body, passing(program))[0]
    if contract is not None:
        found |= _body(program.parser, (contract.orelse,), program.parser.all_classes & ~contract.passing)[0]
    return found


def _body(parser: ir.Parser, body: ir.Body, mask: int) -> tuple[int, int]:
    """Of the classes that enter a body: those that may be sent, and those that may get to its end."""
    sent = 0
    for s in body:
        match s:
            case ir.Send() | ir.Bounce():
                return sent | mask, 0
            case ir.Drop():
                return sent, 0
            case ir.If():
                yes, no = split(s.condition, mask, parser)
                branches = ((s.then, yes), (s.orelse, no))
            case ir.Lookup():
                branches = ((s.found, mask), (s.absent, mask))
            case ir.ForRange() | ir.ForEach():
                branches = ((s.body, mask), ((), mask))
            case _:
                continue
        ends = [_body(parser, inner, part) for inner, part in branches]
        sent |= ends[0][0] | ends[1][0]
        mask = ends[0][1] | ends[1][1]
    return sent, mask


def _work(parser: ir.Parser, body: ir.Body, mask: int) -> tuple[int, int]:
    """How many decisions and accesses to state a body has for the classes that enter, and those that get to its end."""
    found = 0
    for s in body:
        if not mask:
            break
        match s:
            case ir.Send() | ir.Bounce() | ir.Drop():
                return found, 0
            case ir.If():
                yes, no = split(s.condition, mask, parser)
                branches = [_work(parser, s.then, yes), _work(parser, s.orelse, no)]
                found += bool(yes & no) + branches[0][0] + branches[1][0]
                mask = branches[0][1] | branches[1][1]
            case ir.Lookup():
                branches = [_work(parser, s.found, mask), _work(parser, s.absent, mask)]
                found += 2 + branches[0][0] + branches[1][0]
                mask = branches[0][1] | branches[1][1]
            case ir.ForRange() | ir.ForEach():
                found += 1 + _work(parser, s.body, mask)[0]
            case (
                ir.MapPut() | ir.MapRemove() | ir.StateWrite() | ir.FieldWrite() | ir.Evaluate() | ir.Emit() | ir.Push()
            ):
                found += 1
    return found, mask
