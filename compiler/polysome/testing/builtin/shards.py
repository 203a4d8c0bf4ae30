"""Several cores do what one does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from polysome.engines.options import RunOptions
from polysome.engines.record import Record
from polysome.ir import types as t
from polysome.resources import MEANING
from polysome.testing.builtin.base import Broken, draw
from polysome.testing.builtin.class_order import ClassOrder
from polysome.testing.builtin.compare import complete, copies_of, fate_text, same
from polysome.testing.builtin.rerun import Comparison, rerun
from polysome.testing.execution import Execution


@dataclass(frozen=True)
class Shards(Comparison):
    """Several cores that share the work do what one would: every packet has the same fate and leaves with the same
    bytes by the same ports, and packets of one class in the same order; unless the NF has `per core` state, or
    something was full on one core, for each core has its own room. All engines do the same on as many cores. Tried
    with 2 and 4 cores.
    """

    name: ClassVar[str] = "shards"
    place: ClassVar[int] = 16

    def cases(self, execution: Execution) -> int:
        cores = (2, 4)[draw(execution.record.trace, self.name, 2)]
        again = rerun(execution, RunOptions(cores=cores))
        complete(execution.record, again, f"on {cores} cores")
        if not _own_state(again) and not _was_full(_with_history(execution)):
            _as_one(execution.record, again, cores)
        if execution.engine.name != MEANING:
            same(rerun(execution, RunOptions(cores=cores), MEANING), again, f"on {cores} cores of this engine")
        ClassOrder().check(again)
        return len(again.fates)


def _as_one(one: Record, again: Record, cores: int) -> None:
    """Broken if several cores did something else than one."""
    for first, other in zip(one.fates, again.fates, strict=True):
        if (first.reason, copies_of(first)) != (other.reason, copies_of(other)):
            raise Broken(
                (first.number,),
                f"on {cores} cores, something else becomes of packet {first.number + 1}",
                f"expected: {fate_text(one, first)}",
                f"found:    {fate_text(again, other)}",
            )
    if Counter(m.data for m in one.emitted) != Counter(m.data for m in again.emitted):
        raise Broken((), f"on {cores} cores, other packets are emitted")


def _own_state(record: Record) -> bool:
    return any(decl.per_core for decl in record.program.state.values())


def _with_history(execution: Execution) -> Record:
    """What one core did, with its state."""
    return execution.record if execution.record.history is not None else rerun(execution, RunOptions(), MEANING)


def _was_full(record: Record) -> bool:
    """Did a capacity decide anything, of a map, a set, or the schedule?"""
    assert record.history is not None
    evicted = t.END.number("evicted")
    if any(end.why == evicted for end in record.ends):
        return True
    for operation in record.history.operations:
        if operation.op == "put" and (operation.result is False or str(operation.result).endswith(" full")):
            return True
    classes = record.program.schedule.options.get("classes")
    used = {offer.order_class for offer in record.history.offers}
    return _buffer_full(record) or (classes is not None and len(used) > int(classes))


def _buffer_full(record: Record) -> bool:
    """Also if it had room for some copies of a packet: what became of the others, its fate does not say."""
    assert record.history is not None
    if "buffer full" in record.drops:
        return True
    copies = Counter(offer.number for offer in record.history.offers)
    limited = "buffer" in record.program.schedule.options
    return limited and any(fate.copies and len(fate.copies) < copies[fate.number] for fate in record.fates)


PROPERTY = Shards()
