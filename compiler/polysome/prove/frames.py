"""Any frame that comes in by a port of a role: what an attacker there might send, and all that others do."""

from __future__ import annotations

from functools import lru_cache

from polysome import smt
from polysome.prove.case import FROM_MAC, port_metadata
from polysome.prove.p4.parser import paths
from polysome.prove.p4.pipe import Onward, Passed
from polysome.prove.traffic import Traffic
from polysome.prove.window import Frame, Window

STATION = Frame("station")
SMALLEST = 60  # of an Ethernet frame, without FCS


@lru_cache(maxsize=8)
def any_frame(seen: Traffic, role: int) -> tuple[Passed, ...]:
    """Its passes through ingress; the frame is `STATION`. Frames from a MAC have 60 bytes or more."""
    case = seen.case
    known = (smt.UGE(STATION.length, SMALLEST),) if role in FROM_MAC else ()
    onward = Onward(case.p4, case.p4.ingress, assumptions=known)
    metadata = port_metadata(case.p4, role)
    walked = paths(case.p4, case.p4.ingress, Window(STATION), name="station.", metadata=metadata, assumptions=known)
    return tuple(passed for path in walked for passed in onward.of(path))
