"""Is the traffic manager set as the plan counts on?

Its times are those of queues that hold no more than they were told, drain at the rate of their port, and let the frames
that repair a queue pair go first (PROTOCOL.md, rules 3 and 6).
"""

from __future__ import annotations

from collections.abc import Sequence

from polysome_controller.driver import PortTraffic, SetBuffer, SetPort, Traffic
from polysome_controller.errors import Refused
from polysome_protocol import QUEUES


def check(buffer: SetBuffer, wanted: Sequence[SetPort], found: Traffic, cell: int) -> None:
    """Refused names the first setting that is not as it has to be. `cell`: bytes, as planned; 0: not planned.

    A limit may be rounded down to whole cells: less is lost later than it would have to be, but nothing waits longer.
    """
    if cell and found.cell != cell:
        raise _other("the size of a cell", f"{cell} B", f"{found.cell} B")
    if found.buffer is not None:
        _check_room("room for all queues", buffer.bytes, found.buffer.bytes, cell)
        _check_room("room for the mirror's copies", buffer.mirrored, found.buffer.mirrored, cell)
    ports = {port.port: port for port in found.ports}
    for asked in wanted:
        if asked.queue_bytes:
            _check_port(asked, ports.get(asked.port), cell)


def _check_room(what: str, wanted: int, found: int, cell: int) -> None:
    if found <= wanted - max(cell, 1):
        raise _other(what, f"{wanted} B", f"{found} B")


def _check_port(asked: SetPort, found: PortTraffic | None, cell: int) -> None:
    at = f"port {asked.port}: "
    if found is None:
        raise _other(f"{at}its queues", "as they were set", "no such port")
    if asked.rate and found.rate not in (None, asked.rate):
        raise _other(f"{at}its rate", f"{asked.rate} bit/s", f"{found.rate} bit/s" if found.rate else "no limit")
    if found.held_up:
        raise _other(f"{at}what keeps frames waiting", "nothing but its rate", ", ".join(found.held_up))
    limits = {QUEUES.all: asked.queue_bytes, QUEUES.first: asked.first_queue_bytes}
    for queue, limit in limits.items():
        if not limit:
            continue
        if queue not in found.queues:
            raise _other(f"{at}queue {queue}", f"a limit of {limit} B", "no such queue")
        has = found.queues[queue].limit
        if has is None or not limit - max(cell, 1) < has <= limit:
            raise _other(f"{at}the limit of queue {queue}", f"{limit} B", "none" if has is None else f"{has} B")
    if asked.first_queue_bytes:
        first, other = found.queues[QUEUES.first].priority, found.queues[QUEUES.all].priority
        if first <= other:
            wanted = f"a higher one than queue {QUEUES.all} has, {other}"
            raise _other(f"{at}the priority of queue {QUEUES.first}", wanted, str(first))


def _other(setting: str, wanted: str, found: str) -> Refused:
    return Refused(f"its traffic manager: {setting}: {wanted} is wanted, and it has {found}")
