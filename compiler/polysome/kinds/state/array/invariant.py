"""Arrays and scalars hold what was written to them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.analysis.values_text import text
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.base import Broken, KindInvariant, around, history_of, occasion


@dataclass(frozen=True)
class Memory(KindInvariant):
    """What is read from an array or a variable is what was written there last, or its initial value."""

    name: ClassVar[str] = "memory"
    section: ClassVar[int] = 3

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(decl, ir.ArrayDecl | ir.ScalarDecl) for decl in program.state.values())

    def check(self, record: Record) -> int:
        state = record.program.state
        cells: dict[tuple[str, Hashable], Any] = {}
        cases = 0
        for op in history_of(record).operations:
            decl = state[op.state]
            if not isinstance(decl, (ir.ArrayDecl, ir.ScalarDecl)) or op.op not in ("get", "set"):
                continue
            *place, value = (*op.args, op.result) if op.op == "get" else op.args
            key = (op.state, place[0] if place else None)
            if op.op == "set":
                cells[key] = value
                continue
            cases += 1
            expected = cells.get(key, decl.initial)
            if value != expected:
                type = decl.item if isinstance(decl, ir.ArrayDecl) else decl.type
                raise Broken(
                    around(record, op.stamp),
                    f"{occasion(record, op.stamp, op.time)}: `{op.state}{place or ''}` was read",
                    f"expected: {text(expected, type, record.program)}",
                    f"found:    {text(value, type, record.program)}",
                )
        return cases


INVARIANT = Memory()
