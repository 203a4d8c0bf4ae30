"""top_k against exact counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.engines.history import Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.sketches import MILLION, Sketch, asked, broken, shown

MOST = 2**64 - 1


@dataclass(frozen=True)
class TopK(Sketch):
    """A top_k never says less than was counted, and at most (all counts) / (its counters) more. Every key counted more
    often than that is listed, unless as many others with at least its count are; the list falls and has no key twice.
    """

    name: ClassVar[str] = "top_k"
    section: ClassVar[int] = 9

    def judged(self, record: Record, decl: ir.KindDecl, ops: list[Operation]) -> int:
        cases = 0
        for op, counts in asked(ops):
            cases += 1
            if op.op == "estimate":
                self._estimate(record, decl, op, op.args[0], op.result, counts)
            else:
                self._list(record, decl, op, counts)
        return cases

    def _estimate(
        self, record: Record, decl: ir.KindDecl, op: Operation, key: Any, found: int, counts: Counter[Any]
    ) -> None:
        exact, total = min(counts[key], MOST), counts.total()
        if not exact <= found or (found - exact) * counters(decl) > total:
            raise broken(
                record,
                op,
                f"`{decl.name}` counted {exact} for {shown(record, decl, key)}, and {total} in all, with "
                f"{counters(decl)} counters",
                f"its count must be between {exact} and {exact + total // counters(decl)}; it is {found}",
            )

    def _list(self, record: Record, decl: ir.KindDecl, op: Operation, counts: Counter[Any]) -> None:
        keys = {key for key, _ in op.result}
        values = [count for _, count in op.result]
        if len(keys) != len(values) or len(values) > decl.options["k"] or values != sorted(values, reverse=True):
            raise broken(
                record,
                op,
                f"`{decl.name}` must list at most {decl.options['k']} keys, each once, by falling count",
                _listed(record, decl, op),
            )
        for key, count in op.result:
            self._estimate(record, decl, op, key, count, counts)
        for key, exact in counts.items():
            listed = len(values) == decl.options["k"] and values[-1] >= exact
            if exact * counters(decl) > counts.total() and key not in keys and not listed:
                raise broken(
                    record,
                    op,
                    f"`{decl.name}` must list {shown(record, decl, key)}, counted {exact} times of {counts.total()}",
                    _listed(record, decl, op),
                )


def counters(decl: ir.KindDecl) -> int:
    """How many it has (S9.1)."""
    error = decl.options.get("error", MILLION)
    return max(decl.options["k"], -(-MILLION // error))


def _listed(record: Record, decl: ir.KindDecl, op: Operation) -> str:
    found = [f"{shown(record, decl, key)} ({count})" for key, count in op.result]
    return "it lists " + (", ".join(found) or "nothing")


INVARIANT = TopK()
