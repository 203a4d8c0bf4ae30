"""The numbers of a plan as people read them: in groups, each number with what it is called."""

from __future__ import annotations

from polysome.plan.model import Plan
from polysome.plan.numbers import Group, Number


def traffic_rows(plan: Plan) -> list[tuple[str, Number]]:
    """What is planned for, and how much of it is split."""
    rows = [("rate", plan.traffic.rate), ("mean packet", plan.traffic.mean), ("packets", plan.traffic.packets)]
    return [*rows, ("go whole", plan.mix.whole), ("are split", plan.mix.split), ("too short", plan.mix.short)]


def sizes(plan: Plan) -> list[Group]:
    """Of the store, if there is one, and of the switch's queues. Titles begin small."""
    queues = plan.queues
    of_queues = [("of a port", queues.limit), ("served first", queues.first), ("of all ports", queues.total)]
    return [*(plan.store.groups() if plan.store is not None else []), ("queues of the switch", of_queues)]
