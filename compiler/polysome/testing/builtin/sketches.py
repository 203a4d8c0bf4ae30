"""What the properties of sketches share: their operations, and when a share of cases is too large to be bad luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from polysome.analysis.values_text import text
from polysome.engines.history import Operation
from polysome.engines.record import Record
from polysome.ir import program as ir
from polysome.testing.builtin.base import Broken, KindInvariant, around, history_of, occasion

MILLION = 10**6
UNLIKELY = 1e-12  # of such cases in a sketch that keeps its promise


@dataclass(frozen=True)
class Sketch(KindInvariant):
    """A promise of one kind of sketch; `name` is the kind."""

    def concerns(self, program: ir.Program) -> bool:
        return any(isinstance(decl, ir.KindDecl) and decl.kind == self.name for decl in program.state.values())

    def check(self, record: Record) -> int:
        return sum(self.judged(record, decl, ops) for decl, ops in operations(record, self.name))

    def judged(self, record: Record, decl: ir.KindDecl, ops: list[Operation]) -> int:
        """How often one sketch was asked, by its operations in order. Raises Broken."""
        raise NotImplementedError


def operations(record: Record, kind: str) -> Iterator[tuple[ir.KindDecl, list[Operation]]]:
    """Each sketch of the kind with its operations, in order."""
    history = history_of(record)
    for decl in record.program.state.values():
        if isinstance(decl, ir.KindDecl) and decl.kind == kind:
            yield decl, [op for op in history.operations if op.state == decl.name]


def too_many(cases: int, of: int, share: int) -> bool:
    """Whether `cases` of `of` cannot be chance, if a case has a chance of `share` parts per million."""
    p = share / MILLION
    if of == 0 or cases <= of * p:
        return False
    return sum(comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(cases, of + 1)) < UNLIKELY


def broken(record: Record, op: Operation, first: str, *rest: str) -> Broken:
    said = f"{occasion(record, op.stamp, op.time)}: {first}"
    return Broken(around(record, op.stamp), said, *rest)


def shown(record: Record, decl: ir.KindDecl, key: Any) -> str:
    """A key as the spec would write it."""
    return text(key, decl.params[0], record.program)


def asked(ops: Sequence[Operation]) -> Iterator[tuple[Operation, Counter[Any]]]:
    """Whatever a sketch that counts was asked, with the exact counts of its keys by then."""
    counts: Counter[Any] = Counter()
    for op in ops:
        match op.op, op.args:
            case "add", (key,):
                counts[key] += 1
            case "add", (key, n):
                counts[key] += n
            case "clear", _:
                counts.clear()
            case _:
                yield op, counts
