"""Health is the data path's: where many frames go in and none comes out, something is broken, whatever the parts say.

Three steps are looked at, by the counters of both ends: from the switch to the NF, from the NF to the switch, and from
there, through cells and slots, out of a port. A step at which all is lost over some looks makes the part that should
have received it *failing*. What the NF drops it has decided about, and part of the frames may be lost by load: neither
is a fault here.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from polysome_controller.context import Context
from polysome_controller.events import EventWatch
from polysome_controller.layout import SECOND
from polysome_controller.load import LoadMonitor
from polysome_controller.nfs import NfServer, NfServers
from polysome_controller.switch import Switch

LOOKS = 3  # in which all is lost
LEAST = 20  # frames: of fewer nothing is said


@dataclass
class Step:
    """`what` was sent by one end, and received by the other, look by look."""

    what: str
    lost: int = 0  # all of the last so many
    _looks: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=LOOKS + 2))

    def look(self, sent: int, received: int) -> None:
        """Both read since the look before: so what is received is of later than what was sent up to there."""
        looks = self._looks
        if looks and (sent < looks[-1][0] or received < looks[-1][1]):
            looks.clear()  # an end began anew
        looks.append((sent, received))
        if len(looks) < LOOKS + 2:
            return
        out, back = looks[-2][0] - looks[0][0], looks[-1][1] - looks[0][1]
        if back:
            self.lost = 0
        elif out >= LEAST:
            self.lost = out

    def clear(self) -> None:
        self._looks.clear()
        self.lost = 0


class DataPath:
    """Of the NF server that has the traffic."""

    def __init__(self, context: Context, switch: Switch, nfs: NfServers, load: LoadMonitor, events: EventWatch) -> None:
        polling = context.config.polling
        self.period = max(polling.load, polling.health) / SECOND
        self._switch, self._nfs, self._load, self._events = switch, nfs, load, events
        self._at: NfServer | None = None
        self._read: tuple[object, ...] = ()  # of the look before
        self._to_nf = Step("frames that the switch sent")
        self._from_nf = Step("frames that the NF sent")
        self._out = Step("packets that came back from the NF")

    async def look(self) -> None:
        active = self._nfs.active
        if active is not self._at:
            if self._at is not None:
                self._at.trouble = ""
            for step in (self._to_nf, self._from_nf, self._out):
                step.clear()
            self._at = active
        reading, statistics, totals = self._load.reading, active.statistics, self._events.totals
        link = next((port for port in reading.ports if port.port == active.config.port), None)
        counted = {counter.name: counter.value for counter in statistics.counters}
        if link is None or "frames in" not in counted:
            return
        if any(one is before for one, before in zip((reading, statistics, totals), self._read)):
            return  # a busy part answers late
        self._read = reading, statistics, totals
        self._to_nf.look(link.frames_out, counted["frames in"])
        self._from_nf.look(counted["frames out"], link.frames_in)
        back = sum(totals.get(f"ingress.{name}", 0) for name in ("edits", "returned"))
        left = sum(totals.get(f"ingress.{name}", 0) for name in ("merged", "returned"))
        self._out.look(back, left)
        active.trouble = _said(self._to_nf, "the NF")
        self._switch.trouble = _said(self._from_nf, "the switch") or _said(self._out, "a port")


def _said(step: Step, to: str) -> str:
    return f"none of {step.lost} {step.what} reached {to}" if step.lost else ""
