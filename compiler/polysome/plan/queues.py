"""The queues of the switch's ports: how much may wait in each, so that what waits has left after the time that the plan
counts on, and that the packet buffer has room for all of them.

A traffic manager counts cells. What a cell holds of a frame is more once it is on the wire: egress puts headers on it.
"""

from __future__ import annotations

from polysome.analysis.layout import WIRE
from polysome.plan import frames
from polysome.plan.limits import Limits
from polysome.plan.model import Queues, Store
from polysome.plan.numbers import Number
from polysome.plan.site import Site

TO_NF = WIRE.overhead - frames.BRIDGE + frames.GAP  # bytes that a whole packet, or its fields, is longer on the wire


def queues(site: Site, store: Store | None, limits: Limits) -> Queues:
    """All ports have the same limit: any of them may be the slowest."""
    chip = site.switch
    each, formula = _on_wire(chip.cell_bytes, store)
    cells = chip.queue_limit_bytes // each
    source = (f"targets/{chip.name}",)
    limit = Number(
        cells * chip.cell_bytes,
        "B",
        f"{chip.queue_limit_bytes} B on the wire / {each} B = {cells} cells × {chip.cell_bytes} B: {formula}",
        source,
    )
    first = Number(0, "B", "there is no queue pair") if store is None else store.first_queue(chip)
    ports = sum(map(len, site.traffic)) + len(site.machines) + 1
    servers = 0 if store is None else len(store.machines)
    ports += 1 if servers else 0
    beside = "those of recirculation and controller" if servers else "recirculation"
    total = Number(
        ports * limit.value + servers * first.value,
        "B",
        f"{ports} ports, {beside} among them, × {limit.value} B"
        + (f" + {servers} servers × {first.value} B" if servers else "")
        + f"; of {chip.packet_buffer_bytes} B",
        (*source, site.name),
    )
    limits.buffer(total)
    return Queues(limit, first, total)


def _on_wire(cell: int, store: Store | None) -> tuple[int, str]:
    """How much a cell is on the wire at most, and of which frame."""
    found = [(cell + TO_NF, f"a cell of a packet to the NF takes {cell} + {TO_NF} B at most")]
    if store is not None:
        found += store.on_wire(cell)
    return max(found, key=lambda one: one[0])
