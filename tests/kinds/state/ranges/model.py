"""`config ranges` as terms."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from polysome import smt
from polysome.ir import types as t
from polysome.symbolic.tables import SOME, RowTerms, TableModel, chosen, concrete
from polysome.symbolic.values import TRUE, Rows, Term, anything, conj, disj, lift


class RangesModel(TableModel):
    def rows(self, type: t.Table, held: Any) -> Sequence[RowTerms]:
        return [(TRUE, tuple(lift(type.key, end) for end in ends), lift(type.value, value)) for ends, value in held]

    def matches(self, key: Any, of: Any) -> Term:
        return conj(smt.UGE(key, of[0]), smt.ULE(key, of[1]))

    def chosen(self, type: t.Table, limits: list[Term], ports: int) -> Rows:
        rows = [
            (anything(t.BOOL), (anything(type.key), anything(type.key)), chosen(type.value, limits, ports))
            for _ in range(SOME)
        ]
        limits += [smt.ULE(low, high) for _, (low, high), _ in rows]
        limits += [
            disj(smt.ULT(a[1], b[0]), smt.ULT(b[1], a[0])) for (_, a, _), (_, b, _) in itertools.combinations(rows, 2)
        ]
        return Rows(tuple(rows))

    def concrete(self, type: t.Table, rows: Sequence[RowTerms], model: Term) -> Any:
        return tuple(
            (tuple(concrete(type.key, end, model) for end in ends), concrete(type.value, value, model))
            for _, ends, value in rows
        )


MODEL = RangesModel()
