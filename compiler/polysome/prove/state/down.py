"""A queue pair that has been silent too long goes down: the frame that says so comes round, and is understood (rule 4).

When it goes round `guard` shows; here is what comes of each such frame, from the look that makes it through egress and
the recirculation port to the registers that say which queue pairs are up.
"""

from __future__ import annotations

from collections.abc import Iterator

from polysome import smt
from polysome.p4.types import Bits
from polysome.prove.case import GENERATOR, RECIRCULATION, port_metadata
from polysome.prove.frames import STATION, any_frame
from polysome.prove.p4.expressions import as_term
from polysome.prove.p4.pipe import Passed, bridged, passes
from polysome.prove.p4.store import Access
from polysome.prove.result import NOTHING, Result, Status
from polysome.prove.state.claims import STATE
from polysome.prove.state.guard import GENERATED
from polysome.prove.traffic import Traffic
from polysome.prove.window import Window, same


def down(seen: Traffic, up: tuple[str, ...]) -> Iterator[Result]:
    """One result for each way on which a look goes round. `up`: the registers that say which queue pairs are up."""
    for passed in any_frame(seen, GENERATOR):
        if not passed.lost and passed.port == seen.case.addresses.recirculation:
            why = _wrong(seen, passed, up)
            yield Result(STATE, str(passed.path), Status.refuted if why else Status.proved, why)


def _wrong(seen: Traffic, passed: Passed, up: tuple[str, ...]) -> str:
    """In words; "" if nothing is."""
    comes = False
    for out in seen.egress.passes(*bridged(passed, STATION, seen.case.chip)):
        known = (*passed.conditions, *out.conditions)
        if NOTHING.prove(known, smt.BoolVal(False)):
            continue
        if out.lost:
            return "the frame that says that a queue pair is down does not go round"
        for again in _again(seen, out.leaves):
            if not NOTHING.prove((*known, *again.conditions), smt.BoolVal(False)):
                comes = True
                changed = {access.register: access for access in again.store.accesses if access.changes}
                if not all(register in changed and _is_down(changed[register]) for register in up):
                    return "a queue pair that is silent too long stays up, or another goes down"
    return "" if comes else "no frame says that a queue pair is down"


def _again(seen: Traffic, window: Window) -> tuple[Passed, ...]:
    """What comes round, through ingress."""
    p4 = seen.case.p4
    return passes(p4, p4.ingress, window, name="again.", metadata=port_metadata(p4, RECIRCULATION))


def _is_down(access: Access) -> bool:
    """Is the queue pair that was looked at not up any more?"""
    number = Window(STATION).number(GENERATED, 2)
    index = as_term(access.index, Bits(number.size()))
    own = NOTHING.prove((), index == smt.Extract(index.size() - 1, 0, number))
    return own and same(access.new[""], 0)
