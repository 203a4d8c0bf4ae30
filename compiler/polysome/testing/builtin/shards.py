"""Several cores do what one does."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from polysome.testing.builtin.base import Broken, Builtin, draw
from polysome.testing.builtin.class_order import ClassOrder
from polysome.testing.builtin.compare import complete, copies_of, fate_text
from polysome.testing.builtin.rerun import rerun
from polysome.testing.execution import Execution
from polysome.testing.options import RunOptions


@dataclass(frozen=True)
class Shards(Builtin):
    """Several cores that share the work do what one would: every packet has the same fate and leaves with the same
    bytes by the same ports, and packets of one class in the same order. Tried with 2 and 4 cores.
    """

    name: ClassVar[str] = "shards"

    def cases(self, execution: Execution) -> int:
        cores = (2, 4)[draw(execution.record.trace, self.name, 2)]
        again = rerun(execution, RunOptions(cores=cores))
        complete(execution.record, again, f"on {cores} cores")
        for one, other in zip(execution.record.fates, again.fates, strict=True):
            if (one.reason, copies_of(one)) != (other.reason, copies_of(other)):
                raise Broken(
                    (one.number,),
                    f"on {cores} cores, something else becomes of packet {one.number + 1}",
                    f"expected: {fate_text(execution.record, one)}",
                    f"found:    {fate_text(again, other)}",
                )
        if Counter(m.data for m in execution.record.emitted) != Counter(m.data for m in again.emitted):
            raise Broken((), f"on {cores} cores, other packets are emitted")
        ClassOrder().check(again)
        return len(again.fates)
