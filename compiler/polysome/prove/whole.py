"""What is not split goes to the NF whole and unchanged; only frames that speak for the switch are dropped."""

from __future__ import annotations

from collections.abc import Iterator

from polysome import smt
from polysome.prove.p4.pipe import Passed
from polysome.prove.result import Result, Status, answered
from polysome.prove.traffic import Traffic, known_byte, to_the_nf, unchanged
from polysome.prove.window import same
from polysome.prove.wire import CLASS, CONTENT, KIND, WHOLE


def whole(seen: Traffic) -> Iterator[Result]:
    """One result for each way through ingress on which a packet is not parked, and one for each that goes on."""
    for passed in seen.unparked:
        yield _unparked(seen, passed)
    for parked in seen.parked:
        yield _foreign(seen, parked.passed)


def _unparked(seen: Traffic, passed: Passed) -> Result:
    case, frame, subject = seen.case, seen.case.frame, str(passed.path)
    if passed.lost:
        why = f"it is dropped by the {passed.lost}, and is neither from nor to the switch"
        return answered("whole", subject, why, frame, passed.conditions, case.own_address, port=seen.port)
    own = _foreign(seen, passed)
    if own.status != Status.proved:
        return own
    if not to_its_nf(seen, passed):
        why = "it does not go where a table says for its port"
        return answered("whole", subject, why, frame, passed.conditions, smt.BoolVal(False), port=seen.port)
    delivered = seen.delivered(passed)
    for copy in delivered:
        known = (*passed.conditions, *copy.conditions)
        if copy.lost:
            # A meter may say that the NF's link has no room. Nothing about the packet may.
            if not any(seen.outside.of_packet(c) for c in copy.conditions) and any(not c.lost for c in delivered):
                continue
            why = f"it is dropped in egress by the {copy.lost}"
        elif (known_byte(copy.leaves, KIND), known_byte(copy.leaves, CLASS)) != (WHOLE, 0):
            why = "it goes to the NF in a frame that is none for whole packets"
        elif not unchanged(copy.leaves, CONTENT, frame):
            why = "it reaches the NF changed"
        else:
            why, wanted = "its frame to the NF is not addressed to it, or names another port", to_the_nf(seen, copy)
            result = answered("whole", subject, why, frame, known, smt.simplify(wanted), port=seen.port)
            if result.status != Status.proved:
                return result
            continue
        result = answered("whole", subject, why, frame, known, smt.BoolVal(False), port=seen.port)
        if result.status != Status.proved:
            return result
    return Result("whole", subject, Status.proved)


def _foreign(seen: Traffic, passed: Passed) -> Result:
    """Nobody on a traffic port speaks for the switch."""
    why = "it is from or to the switch itself, and goes on"
    subject, case = str(passed.path), seen.case
    return answered("whole", subject, why, case.frame, passed.conditions, smt.Not(case.own_address), port=seen.port)


def to_its_nf(seen: Traffic, passed: Passed) -> bool:
    """Is its port what a table gave, if anything, that was asked for the port where the packet arrived?"""
    asked = [ran for ran in passed.store.ran if ran.keys and same(ran.keys[0], seen.port)]
    given = [arg for ran in asked for arg in ran.args]
    return bool(asked) and (not given or any(same(arg, passed.port) for arg in given))
