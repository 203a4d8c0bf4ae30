"""count_min against exact counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from polysome.engines.history import Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.sketches import MILLION, Sketch, asked, broken, shown, too_many

MOST = 2**64 - 1
CONFIDENCE = 990_000  # parts per million, if none is given


@dataclass(frozen=True)
class CountMin(Sketch):
    """A count_min never says less than was counted, and says more than its stated error beyond that for no more keys
    than its stated confidence allows.
    """

    name: ClassVar[str] = "count_min"
    section: ClassVar[int] = 6

    def judged(self, record: Record, decl: ir.KindDecl, ops: list[Operation]) -> int:
        keys: set[Any] = set()
        beyond: set[Any] = set()
        cases = 0
        for op, counts in asked(ops):
            cases += 1
            keys.add(op.args[0])
            if self._is_beyond(record, decl, op, counts):
                beyond.add(op.args[0])
                self._confidence(record, decl, op, len(beyond), len(keys))
        return cases

    def _is_beyond(self, record: Record, decl: ir.KindDecl, op: Operation, counts: Counter[Any]) -> bool:
        """Whether an estimate is above the count by more than the error."""
        exact = min(counts[op.args[0]], MOST)
        if op.result < exact:
            key = shown(record, decl, op.args[0])
            raise broken(record, op, f"`{decl.name}` counted {exact} for {key}, but its estimate is {op.result}")
        over: int = op.result - exact
        return over * MILLION > decl.options["error"] * counts.total()

    def _confidence(self, record: Record, decl: ir.KindDecl, op: Operation, beyond: int, keys: int) -> None:
        confidence = decl.options.get("confidence", CONFIDENCE)
        if too_many(beyond, keys, MILLION - confidence):
            raise broken(
                record,
                op,
                f"`{decl.name}` promises its error of {decl.options['error'] / 10**4:g} % for "
                f"{confidence / 10**4:g} % of all keys",
                f"of {keys} keys that were asked for, {beyond} are beyond it, the last one "
                f"{shown(record, decl, op.args[0])}, estimated {op.result}",
            )


INVARIANT = CountMin()
