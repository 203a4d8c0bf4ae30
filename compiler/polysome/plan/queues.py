"""The queues of the switch's ports: how much may wait in each, so that what waits has left after the time that the plan
counts on, and that the packet buffer has room for all of them.

A traffic manager counts cells. What a cell holds of a frame is more once it is on the wire: egress puts headers on it.
"""

from __future__ import annotations

from polysome.analysis.layout import WIRE
from polysome.plan import frames
from polysome.plan.limits import Limits
from polysome.plan.model import Parking, Queues
from polysome.plan.numbers import Number, ceil_div
from polysome.plan.site import Site

TO_NF = WIRE.overhead - frames.BRIDGE + frames.GAP  # bytes that a whole packet, or its fields, is longer on the wire
TO_SERVER = frames.write(0) - frames.pad(0) + frames.MOST_PAD - frames.BRIDGE + frames.GAP  # and a WRITE
CHECK_SEQUENCE = 4  # may be stored with a frame


def queues(site: Site, parking: Parking | None, limits: Limits) -> Queues:
    """All ports have the same limit: any of them may be the slowest."""
    chip = site.switch
    each, formula = _on_wire(chip.cell_bytes, parking)
    cells = chip.queue_limit_bytes // each
    source = (f"targets/{chip.name}",)
    limit = Number(
        cells * chip.cell_bytes,
        "B",
        f"{chip.queue_limit_bytes} B on the wire / {each} B = {cells} cells × {chip.cell_bytes} B: {formula}",
        source,
    )
    first = _first(site, parking)
    ports = sum(map(len, site.traffic)) + len(site.nf_servers) + len(site.rdma_servers) + 1
    servers = 0 if parking is None else len(parking.regions)
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


def _on_wire(cell: int, parking: Parking | None) -> tuple[int, str]:
    """How much a cell is on the wire at most, and of which frame."""
    found = [(cell + TO_NF, f"a cell of a packet to the NF takes {cell} + {TO_NF} B at most")]
    if parking is not None:
        least = parking.threshold.value + 1
        taken = ceil_div(frames.BRIDGE + least, cell)
        more = ceil_div(TO_SERVER, taken)
        words = f"a cell of a WRITE, which has {taken} at least, takes {cell} + {TO_SERVER} / {taken} B at most"
        found += [(cell + more, words), (frames.READ + frames.GAP, f"a READ takes {frames.READ} + {frames.GAP} B")]
    return max(found, key=lambda one: one[0])


def _first(site: Site, parking: Parking | None) -> Number:
    """Of the queue that is served first (rule 3), at servers' ports: a frame for each queue pair."""
    if parking is None:
        return Number(0, "B", "there is no queue pair")
    cell, frame = site.switch.cell_bytes, frames.BRIDGE + frames.ACK + CHECK_SEQUENCE
    each, pairs = ceil_div(frame, cell) * cell, parking.queue_pairs.value
    return Number(
        pairs * each, "B", f"{pairs} queue pairs × {each} B of cells for a frame of {frame} B that sets a PSN"
    )
