"""ring against the list of all that was pushed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.engines.history import Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.sketches import Sketch, broken, shown


@dataclass(frozen=True)
class Ring(Sketch):
    """A ring holds the values that were pushed last, as many as it has room for, and no others."""

    name: ClassVar[str] = "ring"
    section: ClassVar[int] = 13

    def judged(self, record: Record, decl: ir.KindDecl, ops: list[Operation]) -> int:
        pushed: list[Any] = []
        cases = 0
        for op in ops:
            last = pushed[-decl.options["room"] :]
            match op.op:
                case "push":
                    pushed.append(op.args[0])
                case "clear":
                    pushed.clear()
                case "contains":
                    cases += 1
                    if op.result != (op.args[0] in last):
                        named = shown(record, decl, op.args[0])
                        raise broken(record, op, f"`{decl.name}` says of {named}, among its last: {op.result}")
                case "held":
                    cases += 1
                    if op.result != len(last):
                        raise broken(record, op, f"`{decl.name}` says that it holds {op.result} of {len(last)}")
        return cases


INVARIANT = Ring()
