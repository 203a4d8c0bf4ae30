"""`config lpm` as terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome.ir import types as t
from polysome.symbolic.tables import RowTerms, TableModel, chosen, chosen_prefix, concrete
from polysome.symbolic.terms import in_prefix
from polysome.symbolic.values import TRUE, Rows, Term, anything, lift


class LpmModel(TableModel):
    def rows(self, type: t.Table, held: Any) -> Sequence[RowTerms]:
        longest_first = sorted(held, key=lambda row: -row[0].length)
        return [(TRUE, lift(t.PREFIX, prefix), lift(type.value, value)) for prefix, value in longest_first]

    def matches(self, key: Any, of: Any) -> Term:
        return in_prefix(key, of)

    def chosen(self, type: t.Table, limits: list[Term], ports: int) -> Rows:
        """One row of each length: a whole address, half of one, none of it."""
        width = t.width(type.key)
        assert width is not None
        return Rows(
            tuple(
                (anything(t.BOOL), chosen_prefix(width, length, limits), chosen(type.value, limits, ports))
                for length in (width, width // 2, 0)
            )
        )

    def concrete(self, type: t.Table, rows: Sequence[RowTerms], model: Term) -> Any:
        return tuple((concrete(t.PREFIX, key, model), concrete(type.value, value, model)) for _, key, value in rows)


MODEL = LpmModel()
