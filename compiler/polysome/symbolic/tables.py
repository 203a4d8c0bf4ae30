"""Config as terms: as it is, or any that may be chosen, and back from a model of z3.

A kind of config table says in its folder's `model.py` how it is one: its `MODEL` is a `TableModel`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from polysome import smt
from polysome.ir import types as t
from polysome.kinds.state import TABLE_KINDS, brought
from polysome.kinds.values import Prefix
from polysome.symbolic.values import TRUE, Rows, Term, anything, bits, equal, holds, lift, neg, number

SOME = 2  # rows of a config table that may be chosen
RowTerms = tuple[Term, Any, Any]  # is it there, its key (None if rows have none), its value


class TableModel:
    """A kind of config table as terms. This one is `config map`, whose rows (key, value) are found by equal keys."""

    def rows(self, type: t.Table, held: Any) -> Sequence[RowTerms]:
        """Those of a table in the form of `config.tables.Tables.replace`; those that win a lookup come first."""
        return [(TRUE, lift(type.key, key), lift(type.value, value)) for key, value in held.items()]

    def matches(self, key: Any, of: Any) -> Term:
        """Does a lookup for the key find a row whose key is `of`?"""
        return equal(key, of)

    def chosen(self, type: t.Table, limits: list[Term], ports: int) -> Rows:
        """A few rows that may be any; see `values.anything` for `limits`."""
        rows = [
            (anything(t.BOOL), anything(type.key, limits, ports), chosen(type.value, limits, ports))
            for _ in range(SOME)
        ]
        limits += [neg(equal(a[1], b[1])) for a, b in itertools.combinations(rows, 2)]
        return Rows(tuple(rows))

    def concrete(self, type: t.Table, rows: Sequence[RowTerms], model: Term) -> Any:
        """The rows in a model, in the form that `rows` takes."""
        return {concrete(type.key, key, model): concrete(type.value, value, model) for _, key, value in rows}


class AnyTable(TableModel):
    """A kind that says nothing of itself: any lookup may find any row, and tables that may be chosen are empty."""

    def rows(self, type: t.Table, held: Any) -> Sequence[RowTerms]:
        kind = TABLE_KINDS[type.kind]
        return [(TRUE, None, lift(type.value, kind.value(row))) for row in kind.rows(held)]

    def matches(self, key: Any, of: Any) -> Term:
        return anything(t.BOOL)

    def chosen(self, type: t.Table, limits: list[Term], ports: int) -> Rows:
        return Rows(())

    def concrete(self, type: t.Table, rows: Sequence[RowTerms], model: Term) -> Any:
        return TABLE_KINDS[type.kind].together(())


def table_model(type: t.Table) -> TableModel:
    """How the kind of table is in terms."""
    found: TableModel = brought("model").get(type.kind, _ANY)
    return found


_ANY = AnyTable()


# ---------------------------------------------------------------- config that may be chosen


def chosen(type: t.Type, limits: list[Term], ports: int) -> Any:
    """A config item that may have any value, tables of up to a few rows; see `values.anything` for `limits`."""
    match type:
        case t.SetOf(t.Port() as item):
            return Rows(tuple((anything(t.BOOL), None, bits(p, 16)) for p in range(ports)))
        case t.ListOf(item) | t.SetOf(item):
            rows = tuple((anything(t.BOOL), None, chosen(item, limits, ports)) for _ in range(SOME))
            limits += [smt.Implies(later[0], earlier[0]) for earlier, later in itertools.pairwise(rows)]
            return Rows(rows)
        case t.Table():
            return table_model(type).chosen(type, limits, ports)
        case t.Struct(_, fields):
            return tuple(chosen(f, limits, ports) for _, f in fields)
        case t.Tuple(items):
            return tuple(chosen(i, limits, ports) for i in items)
        case t.Prefix():
            return chosen_prefix(32, 24, limits)
        case _:
            return anything(type, limits, ports)


def chosen_prefix(width: int, length: int, limits: list[Term]) -> Prefix:
    """Any prefix of so many bits."""
    value = anything(t.Bits(width))
    if length < width:
        limits.append(smt.Extract(width - length - 1, 0, value) == 0)
    return Prefix(width, value, length)


# ---------------------------------------------------------------- back from a model


def concrete(type: t.Type, value: Any, model: Term) -> Any:
    """The value in a model, as `config.tables.Tables.replace` takes it."""
    match type:
        case t.Bool():
            return holds(model, value)
        case t.Struct(_, fields):
            return tuple(concrete(f, v, model) for (_, f), v in zip(fields, value, strict=True))
        case t.Tuple(items):
            return tuple(concrete(i, v, model) for i, v in zip(items, value, strict=True))
        case t.Prefix():
            return Prefix(value.bits, number(model, value.value), value.length)
        case t.ListOf(item):
            return tuple(concrete(item, v, model) for _, _, v in _there(value, model))
        case t.SetOf(item):
            return frozenset(concrete(item, v, model) for _, _, v in _there(value, model))
        case t.Table():
            return table_model(type).concrete(type, _there(value, model), model)
        case _:
            return number(model, value)


def _there(table: Rows, model: Term) -> list[RowTerms]:
    return [row for row in table.rows if holds(model, row[0])]
