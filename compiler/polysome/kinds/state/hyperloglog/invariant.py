"""hyperloglog against the exact number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.engines.history import Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.sketches import MILLION, Sketch, broken

DEVIATIONS = 8  # of its standard error that an estimate may be off
FEW = 2  # by which it may be off beyond that: keys that meet in one register


@dataclass(frozen=True)
class HyperLogLog(Sketch):
    """A hyperloglog estimates the number of different keys within eight times its stated standard error and two keys
    (it is off by more in less than one case of 10^12); without any key it says 0, and a key that is added again changes
    nothing.
    """

    name: ClassVar[str] = "hyperloglog"
    section: ClassVar[int] = 8

    def judged(self, record: Record, decl: ir.KindDecl, ops: list[Operation]) -> int:
        added: set[Any] = set()
        last: tuple[int, int] | None = None  # keys and estimate when it was asked last
        cases = 0
        for op in ops:
            match op.op:
                case "add":
                    added.add(op.args[0])
                case "clear":
                    added.clear()
                    last = None
                case "estimate":
                    cases += 1
                    n, found = len(added), op.result
                    off = abs(found - n)
                    said = f"{n} different keys were added to `{decl.name}`, and its estimate is {found}"
                    if (n == 0 and found) or (off - FEW) * MILLION > DEVIATIONS * decl.options["error"] * n:
                        raise broken(record, op, said)
                    if last is not None and last[0] == n and last[1] != found:
                        raise broken(record, op, said, f"it was {last[1]} before, for the same keys")
                    last = (n, found)
        return cases


INVARIANT = HyperLogLog()
