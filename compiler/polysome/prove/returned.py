"""What the NF returns whole, or makes itself, leaves as it is, where its verdict says (PROTOCOL.md, "Whole frame").

What it sends besides, and the edits of parked packets, does nothing: nor does what has another tag and is from the
controller (rule 8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polysome import smt
from polysome.prove.answers import EDITS, nf_frame
from polysome.prove.case import CONTROLLER, NF, port_metadata
from polysome.prove.frames import STATION, any_frame
from polysome.prove.p4.pipe import Passed, bridged, passes
from polysome.prove.result import Result, Status, answered
from polysome.prove.traffic import Traffic, unchanged
from polysome.prove.verdicts import asked_for, by_verdict
from polysome.prove.window import Window
from polysome.prove.wire import CONTENT, FIELDS, KIND, OWN, TYPE, WHOLE
from polysome_protocol import FRAMES


def returned(seen: Traffic) -> Iterator[Result]:
    """One result for each pass of a whole frame, and of an own one, through the switch."""
    case = seen.case
    for kind in (WHOLE, OWN):
        known = nf_frame(kind)
        metadata, window = port_metadata(case.p4, NF), Window(EDITS)
        ends = passes(case.p4, case.p4.ingress, window, name="edits.", metadata=metadata, assumptions=known)
        for passed in ends:
            yield _leaves(seen, passed)
        if {passed.port is None for passed in ends if not passed.lost} != {True, False}:
            why = "none of them leaves by one port, or none by several"
            yield Result("returned", f"frames whose tag begins with {kind:02x}", Status.refuted, why)
    for role in (NF, CONTROLLER) if seen.parked else (NF,):  # to prove queue pairs, where there are any
        yield from _misunderstood(seen, role)


def _leaves(seen: Traffic, passed: Passed) -> Result:
    subject = str(passed.path)
    if passed.lost:
        why = "it is dropped, and no table was asked for the port of its verdict"
        return _of_nf(answered("returned", subject, why, EDITS, passed.conditions, asked_for(passed)))
    for out in seen.egress.passes(*bridged(passed, EDITS, seen.case.chip)):
        known = (*passed.conditions, *out.conditions)
        if out.lost:
            why, wanted = f"it is dropped in egress by the {out.lost}", smt.BoolVal(False)
        elif not unchanged(out.leaves, 0, EDITS, CONTENT):
            why, wanted = "it leaves changed", smt.BoolVal(False)
        else:
            why, wanted = "it does not leave where its verdict says", by_verdict(passed)
        result = _of_nf(answered("returned", subject, why, EDITS, known, wanted))
        if result.status != Status.proved:
            return result
    return Result("returned", subject, Status.proved)


def _misunderstood(seen: Traffic, role: int) -> Iterator[Result]:
    """One result for each path on which a frame does something that says nothing which the protocol knows.

    From the controller's port other frames come besides: probes.
    """
    frame = Window(STATION)
    tagged = frame.number(TYPE, 2) == FRAMES.ether_type
    known = smt.Or(*(frame.byte(KIND) == kind for kind in (FIELDS, WHOLE, OWN)))
    wanted = smt.And(tagged, known) if role == NF else smt.Implies(tagged, known)
    does = (p for p in any_frame(seen, role) if not p.lost or any(access.changes for access in p.store.accesses))
    for path in {id(passed.path): passed.path for passed in does}.values():
        why = "it has no tag that the protocol knows, and does something"
        result = answered("returned", str(path), why, STATION, path.conditions, wanted)
        if result.status != Status.proved:
            yield _of_nf(result)


def _of_nf(result: Result) -> Result:
    """The frame that breaks it is the NF's, or the controller's: no packet that arrives at a port of the spec."""
    return replace(result, packet=None)
