"""`config maglev` as terms: rows with a weight, of which a hash chooses any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.ir import types as t
from polysome.symbolic.tables import RowTerms, TableModel, chosen, concrete
from polysome.symbolic.values import TRUE, Rows, Term, lift


class MaglevModel(TableModel):
    def rows(self, type: t.Table, held: Any) -> Sequence[RowTerms]:
        return [(TRUE, None, lift(type.value, value)) for value, weight in held if weight]

    def chosen(self, type: t.Table, limits: list[Term], ports: int) -> Rows:
        rows: Rows = chosen(t.ListOf(type.value), limits, ports)
        return rows

    def concrete(self, type: t.Table, rows: Sequence[RowTerms], model: Term) -> Any:
        return tuple((concrete(type.value, value, model), 1) for _, _, value in rows)


MODEL = MaglevModel()
