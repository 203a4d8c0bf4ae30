"""bloom against the exact set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.engines.history import Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.sketches import Sketch, broken, shown, too_many


@dataclass(frozen=True)
class Bloom(Sketch):
    """What was added to a bloom filter is in it. While it holds no more keys than its capacity, what was not added is
    in it no more often than its stated error allows.
    """

    name: ClassVar[str] = "bloom"
    section: ClassVar[int] = 7

    def judged(self, record: Record, decl: ir.KindDecl, ops: list[Operation]) -> int:
        added: set[Any] = set()
        others: set[Any] = set()
        wrong: set[Any] = set()
        cases = 0
        for op in ops:
            match op.op:
                case "add":
                    added.add(op.args[0])
                case "clear":
                    added.clear()
                case "contains":
                    cases += 1
                    key = op.args[0]
                    if key in added:
                        if not op.result:
                            named = shown(record, decl, key)
                            raise broken(record, op, f"{named} was added to `{decl.name}`, but is not in it")
                    elif len(added) <= decl.options["capacity"]:
                        others.add(key)
                        wrong |= {key} if op.result else set()
                        self._error(record, decl, op, len(wrong), len(others))
        return cases

    def _error(self, record: Record, decl: ir.KindDecl, op: Operation, wrong: int, others: int) -> None:
        if too_many(wrong, others, decl.options["error"]):
            raise broken(
                record,
                op,
                f"`{decl.name}` promises an error of {decl.options['error'] / 10**4:g} %",
                f"of {others} keys that were not added, {wrong} are in it, the last one "
                f"{shown(record, decl, op.args[0])}",
            )


INVARIANT = Bloom()
