"""Any frame that comes in by a port of a role: what an attacker there might send, and all that others do."""

from __future__ import annotations

from polysome import smt
from polysome.prove.case import FROM_MAC, port_metadata
from polysome.prove.p4.pipe import Passed, passes
from polysome.prove.traffic import Traffic
from polysome.prove.window import Frame, Window
from polysome_protocol import FRAMES

STATION = Frame("station")


def any_frame(seen: Traffic, role: int) -> tuple[Passed, ...]:
    """Its passes through ingress; the frame is `STATION`. Frames from a MAC are not shorter than Ethernet allows."""
    case = seen.case
    known = (smt.UGE(STATION.length, FRAMES.smallest),) if role in FROM_MAC else ()
    metadata, window = port_metadata(case.p4, role), Window(STATION)
    return passes(case.p4, case.p4.ingress, window, name="station.", metadata=metadata, assumptions=known)
