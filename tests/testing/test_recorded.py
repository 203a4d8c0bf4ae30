"""What a run writes down beside what leaves: traps of maps, claims of pools, lookups, what the schedule is offered."""

from __future__ import annotations

import pytest
from tests.testing.builtin.networks import CONFIG, STORE, schedule_trace, scheduled, spec, udp

from polysome.engines import ENGINES
from polysome.engines.history import History
from polysome.engines.options import RunOptions
from polysome.engines.trace import Arrival, Trace


def history(*packets: tuple[int, int, int]) -> History:
    """Of packets (time, source, operation) through `store`; the source port is 3."""
    arrivals = tuple(Arrival(0, time, udp(src, 3, op)) for time, src, op in packets)
    found = ENGINES["interp"].run(spec(STORE).program, Trace(CONFIG, arrivals), RunOptions()).history
    assert found is not None
    return found


def shown(found: History, state: str) -> list[tuple[str, object]]:
    return [(op.op, op.result) for op in found.operations if op.state == state]


def test_a_write_that_traps_is_recorded_with_its_reason() -> None:
    found = history(*((0, src, 3) for src in (1, 2, 3, 4)))
    assert shown(found, "aged") == [("put", True)] * 3 + [("put", "aged full")]


def test_a_write_stands_after_what_it_ended() -> None:
    found = history(*((0, src, 9) for src in (1, 2, 3, 4)))
    (end,) = found.ends
    after = [op for op in found.operations[end.order :] if op.state in ("owned", "short")]
    assert [(op.state, op.op) for op in after] == [("owned", "on end"), ("short", "put"), ("owned", "put")]


def test_pools_show_claims_and_releases() -> None:
    found = history((0, 1, 9), (0, 1, 11))
    assert shown(found, "free") == [("take", 1), ("claim", None), ("release", None), ("give_back", None)]


@pytest.mark.parametrize(("operation", "table"), [(27, "routes"), (28, "rules"), (29, "spread")])
def test_lookups_show_key_and_row(operation: int, table: str) -> None:
    (look,) = history((5, 1, operation)).lookups
    assert (look.stamp, look.time, look.config) == (1, 5, table)
    assert look.result in (1, 2, 3, 4)


def test_reads_of_arrays_scalars_and_loops() -> None:
    found = history((0, 1, 1), (0, 1, 32), (0, 1, 20))
    assert ("items", ((0x0A000001, 3),)) in shown(found, "short")
    assert shown(found, "cells") == [("set", None), ("get", 0), ("set", None)]
    assert shown(found, "total")[0] == ("get", 0)


def test_what_the_schedule_is_offered() -> None:
    trace = schedule_trace(1, 20)
    record = ENGINES["interp"].run(scheduled("priority").program, trace, RunOptions())
    assert record.history is not None
    offers = record.history.offers
    assert {o.number for o in offers} == {f.number for f in record.fates if f.reason != "seven"}
    for offer in offers:
        fate = record.fates[offer.number]
        assert offer.size == len(trace.arrivals[offer.number].data)
        assert (offer.time, offer.order_class) == (fate.at, fate.order_class)
        assert offer.args == (trace.arrivals[offer.number].data[22],)
