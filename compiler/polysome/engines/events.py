"""What an engine says of a run, in the order in which it happens. Times in ns; packets by number, from 0, as they
arrived, or in an observed run of an engine that `sees_frames`, as the NF decided on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from polysome.engines.trace import Arrival
from polysome.interp.machine import Headers


class Decided(NamedTuple):
    """A packet came to its handler at `time`; told in observed runs. `order_class`: in the schedule, None without one.

    `arrival`: the packet as the NF knew it, where an engine `sees_frames`.
    """

    packet: int
    time: int
    order_class: Any
    arrival: Arrival | None = None


class Dropped(NamedTuple):
    """No copy of the packet leaves."""

    packet: int
    reason: str


class Left(NamedTuple):
    """A copy of the packet leaves. In observed runs, `time` is when the NF let it go."""

    packet: int
    port: int
    time: int
    data: bytes


class Emitted(NamedTuple):
    """A packet that the NF made leaves. `cause`: the packet whose handler made it; None: a timer, an end, not known."""

    port: int
    time: int
    data: bytes
    cause: int | None = None
    headers: Headers | None = None


class Lost(NamedTuple):
    """The NF sent the packet, and a copy got lost afterwards; told in observed runs."""

    packet: int
    cause: str


class Framed(NamedTuple):
    """A frame is put on a link, one of `Run.links`; `incoming`: towards the switch. At most 10 ms out of order."""

    link: str
    incoming: bool
    time: int
    data: bytes


Event = Decided | Dropped | Left | Emitted | Lost | Framed
