"""`config acl` as terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polysome import smt
from polysome.ir import types as t
from polysome.kinds.state.acl import AclRow
from polysome.kinds.values import Prefix
from polysome.symbolic.tables import RowTerms, TableModel, concrete
from polysome.symbolic.terms import in_prefix
from polysome.symbolic.values import TRUE, Term, conj, lift


class AclModel(TableModel):
    def rows(self, type: t.Table, held: Any) -> Sequence[RowTerms]:
        ordered = sorted(held, key=lambda row: -row.priority)
        return [(TRUE, row.matchers, lift(type.value, row.value)) for row in ordered]

    def matches(self, key: Any, of: Any) -> Term:
        parts = key if isinstance(key, tuple) else (key,)
        of = of if isinstance(of, tuple) else (of,)
        return conj(*(_matches(part, one) for part, one in zip(parts, of, strict=True)))

    def concrete(self, type: t.Table, rows: Sequence[RowTerms], model: Term) -> Any:
        whole = [(concrete(type.key, key, model), concrete(type.value, value, model)) for _, key, value in rows]
        return tuple(AclRow(key if isinstance(key, tuple) else (key,), value) for key, value in whole)


def _matches(part: Term, matcher: Any) -> Term:
    match matcher:
        case None:
            return TRUE
        case Prefix():
            return in_prefix(part, lift(t.PREFIX, matcher) if isinstance(matcher.value, int) else matcher)
        case (low, high):
            return conj(smt.UGE(part, low), smt.ULE(part, high))
        case _:
            return part == (int(matcher) if isinstance(matcher, (int, bool)) else matcher)


MODEL = AclModel()
