"""What is split is what the spec's parser takes apart so, and all that the plan says is split is (DESIGN section 14).

*Forward*: each path of the switch's parser that parks a packet as class c implies that the spec's parser finds a class
whose frames are c's, and the length that the frame names. *Converse*: what meets the plan's conditions of a way is
parked as its class; some packet meets them.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysome import smt
from polysome.analysis.layout import ClassLayout
from polysome.plan.branches import Branch, branches
from polysome.plan.conditions import Ahead, Box, width
from polysome.plan.way import Way
from polysome.prove.case import Case
from polysome.prove.order import DEEPEST
from polysome.prove.p4.parser import Path
from polysome.prove.result import NOTHING, Facts, Result, Status, answered
from polysome.prove.spec.packet import PLACE
from polysome.prove.spec.parse import TooManySizes, parses
from polysome.prove.traffic import Parked, Traffic
from polysome.prove.window import LENGTH, Term
from polysome.prove.wire import SIZE
from polysome.symbolic.values import conj, disj


def forward(seen: Traffic) -> Iterator[Result]:
    """One result for each path through the switch's parser that parks packets."""
    for path, passes in seen.by_path:
        yield _forward(seen, path, passes[0])


def _forward(seen: Traffic, path: Path, parked: Parked) -> Result:
    case, frame, subject = seen.case, seen.case.frame, str(path)
    layout = case.layout(parked.number) if parked.number is not None else None
    known = path.conditions
    if layout is None:
        why = "it is parked, and its frame to the NF names no class that the NF knows"
        return answered("forward", subject, why, frame, known, smt.BoolVal(False), port=seen.port)
    try:
        outcomes = seen.outcomes(path)
    except TooManySizes as error:
        return _tried(case, path, layout) or Result("forward", subject, Status.undecided, str(error))
    length = smt.Concat(parked.copy.leaves.byte(SIZE), parked.copy.leaves.byte(SIZE + 1))
    for found in outcomes:
        headers = case.headers(found.path)
        if not layout.classes >> found.number & 1:
            wrong = smt.BoolVal(False)
            why = f"it is parked as class {layout.number}, and the spec's parser finds {headers or 'nothing'}"
        elif found.claimed is None:
            wrong, why = smt.BoolVal(False), f"it is parked, and {headers} claims no length"
        else:
            wrong = smt.ZeroExt(PLACE - LENGTH, length) == found.claimed
            why = "the length that the NF is told is not what the packet claims"
        result = answered("forward", subject, why, frame, (*known, *found.conditions), wrong, port=seen.port)
        if result.status != Status.proved:
            return result
    return Result("forward", subject, Status.proved)


def _tried(case: Case, path: Path, layout: ClassLayout) -> Result | None:
    """Is some packet that takes the path none of the class? Where there are too many to be walked, one is tried."""
    model = NOTHING.against(path.conditions)
    if not isinstance(model, smt.Model):
        return None
    packet, frame = case.frame.content(model), case.frame
    known = [frame.byte(k) == octet for k, octet in enumerate(packet[:DEEPEST])]
    for found in parses(case.program, frame, (*path.conditions, *known, frame.length == len(packet))):
        if not layout.classes >> found.number & 1:
            headers = case.headers(found.path) or "nothing"
            why = f"it is parked as class {layout.number}, and the spec's parser finds {headers}"
            return Result("forward", str(path), Status.refuted, why, packet)
    return None


# ---------------------------------------------------------------- converse


def converse(seen: Traffic) -> Iterator[Result]:
    """One result for each way of the plan. A proof's packet is one that takes the way."""
    splitting: dict[int, list[tuple[int | None, Term]]] = {}
    for path, passes in seen.by_path:
        parts = [(p.number, *_parts(seen, p)) for p in passes]
        splitting[id(path)] = [(number, inside) for number, inside, possible in parts if possible]
    all_paths = list({id(p.path): p.path for p in seen.passed}.values())
    for way in seen.case.ways:
        yield _converse(seen, way, splitting, all_paths)


def _parts(seen: Traffic, parked: Parked) -> tuple[Term, bool]:
    """What the pass asks of the packet behind the parser, and whether what it asks of all else can be."""
    behind = parked.conditions[len(parked.passed.path.conditions) :]
    outside = [c for c in behind if not seen.outside.of_packet(c)]
    inside = [c for c in behind if seen.outside.of_packet(c)]
    return conj(*inside), not NOTHING.prove(outside)


def _converse(
    seen: Traffic, way: Way, splitting: dict[int, list[tuple[int | None, Term]]], all_paths: list[Path]
) -> Result:
    case, frame = seen.case, seen.case.frame
    subject = case.headers(way.instances)
    facts = Facts(*assumed(case, way), smt.Not(case.own_address))
    for path in all_paths:
        parked = disj(*{c.get_id(): c for number, c in splitting.get(id(path), ()) if number == way.tag}.values())
        why = f"it meets all conditions of the way, and is not parked as class {way.tag}: {path}"
        result = answered("converse", subject, why, frame, path.conditions, parked, port=seen.port, facts=facts)
        if result.status != Status.proved:
            return result
    model = facts.against((frame.length == claimed(case, way),))
    if not isinstance(model, smt.Model):
        return Result("converse", subject, Status.refuted, "no packet can meet the conditions of the way")
    return Result("converse", subject, Status.proved, "", frame.content(model))


def assumed(case: Case, way: Way) -> tuple[Term, ...]:
    """The plan's conditions of a way, on the frame: what its headers say, and that all of the packet is there."""
    parser, frame = case.program.parser, case.frame
    found: list[Term] = []
    for n, step in enumerate(way.steps):
        header = parser.instances[step.instance].header
        for c in step.conditions:
            field = header.fields[c.field]
            found.append(_between(case.bits(8 * step.offset + field.offset, field.width), c.low, c.high))
        before = tuple(s.node for s in way.steps[: n + 1])
        alike = [w.steps[n] for w in case.ways if tuple(s.node for s in w.steps[: n + 1]) == before]
        choices = branches(parser, step.node, frozenset(s.target for s in alike))
        found.append(_taken(case, step.offset, choices, step.target, step.instance))
    found.append(smt.UGE(frame.length, claimed(case, way)))
    return tuple(found)


def claimed(case: Case, way: Way) -> Term:
    """The length that a packet of the way claims, in bytes of the frame."""
    parser, ((instance, f), plus) = case.program.parser, (way.length_field, way.length_plus)
    field = parser.instances[instance].header.fields[f]
    value = case.bits(8 * way.offset(instance, parser) + field.offset, field.width)
    return (smt.ZeroExt(LENGTH - field.width, value) if field.width < LENGTH else value) + plus


def _taken(case: Case, offset: int, choices: tuple[Branch, ...], target: int, instance: int) -> Term:
    """Is the first box that fits one that leads to the target?"""
    taken: Term = smt.BoolVal(False)
    for branch in reversed(choices):
        taken = smt.If(_within(case, offset, branch.box, instance), smt.BoolVal(branch.target == target), taken)
    return smt.simplify(taken)


def _within(case: Case, offset: int, box: Box, instance: int) -> Term:
    header = case.program.parser.instances[instance].header
    found = []
    for key, (low, high) in box:
        first = 8 * header.fixed + key.first if isinstance(key, Ahead) else header.fields[key].offset
        found.append(_between(case.bits(8 * offset + first, width(key, header)), low, high))
    return smt.And(*found) if found else smt.BoolVal(True)


def _between(value: Term, low: int, high: int) -> Term:
    return smt.And(smt.UGE(value, low), smt.ULE(value, high))
