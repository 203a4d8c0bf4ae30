"""The numbers of parking as people read them: in groups, each number with what it is called."""

from __future__ import annotations

from polysome.plan.model import Parking, Plan, Queues
from polysome.plan.numbers import Number

Group = tuple[str, list[tuple[str, Number]]]


def traffic_rows(plan: Plan) -> list[tuple[str, Number]]:
    """What is planned for, and how much of it is split."""
    rows = [("rate", plan.traffic.rate), ("mean packet", plan.traffic.mean), ("packets", plan.traffic.packets)]
    return [*rows, ("go whole", plan.mix.whole), ("are split", plan.mix.split), ("too short", plan.mix.short)]


def groups(p: Parking) -> list[Group]:
    """Titles begin small."""
    region = Number(p.regions[0].bytes, "bytes", f"{p.cells.value} cells × {p.cell.value} B, on every server")
    return [
        ("which packets", [("split above", p.threshold), ("split up to", p.longest)]),
        ("how long", [("held", p.hold), ("queueing", p.queueing), ("being read", p.read), ("parked", p.parked)]),
        (
            "memory of each RDMA server",
            [("cell", p.cell), ("path MTU", p.path_mtu), ("cells", p.cells), ("region", region)],
        ),
        (
            "switch",
            [
                ("slots", p.slots),
                ("SRAM of slots", p.slot_blocks),
                ("queue pairs of a server", p.queue_pairs),
                ("buckets", p.buckets),
                ("timeout", p.timeout),
                ("recirculations", p.tries),
                ("silence", p.silence),
                ("sweep, every", p.sweep),
            ],
        ),
    ]


def queue_group(q: Queues) -> Group:
    return "queues of the switch", [("of a port", q.limit), ("served first", q.first), ("of all ports", q.total)]
