"""The rows of `config maglev` in files: a value, and `weight`; a value that is no struct may stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from polysome.config.convert import Converter
from polysome.config.items import Item, collect
from polysome.config.rows import Form, TableRows, Write
from polysome.config.shapes import sample
from polysome.ir import program as ir
from polysome.ir import types as t
from polysome.kinds.hashing import encoder
from polysome.kinds.state.maglev import Maglev, places
from polysome.syntax.diagnostics import Report


class MaglevRows(TableRows):
    names = ("weight",)
    by_key = False

    def check(self, decl: ir.ConfigDecl, report: Report) -> None:
        assert isinstance(decl.type, t.Table)
        try:
            Maglev(decl.name, (), int.from_bytes, encoder(decl.type.value), places(decl.options))
        except ValueError as error:
            why = "Each row walks through the places in steps of its own; with a prime it reaches all of them."
            mend = "Choose a prime, for example 251, 4093 or 65537: at least a hundred times the number of rows."
            report.add("E1015", str(error), decl.span, why=why, mend=mend)
        except TypeError as error:
            why = "Maglev hashes its rows, so they have a fixed size."
            report.add("E1016", f"config `{decl.name}`: {error}", decl.span, why=why, mend="Use a row without lists.")

    def read(self, c: Converter, item: Item, type: t.Table) -> tuple[tuple[Any, int], ...]:
        rows = tuple(collect(partial(self._backend, c, row, type) for row in c.rows(item, type)))
        size, total = places(c.decl.options), sum(weight for _, weight in rows)
        if total > size:
            why = f"Each of the table's {size} places belongs to one row; a row has at least as many as its weight."
            mend = f"Divide all weights, or declare a `size` (a prime) above {total}."
            c.report.add("E1015", f"the weights add up to {total}, more than {size}", item.span, why=why, mend=mend)
        return rows

    def _backend(self, c: Converter, row: Item, type: t.Table) -> tuple[Any, int]:
        plain = not isinstance(row.value, dict) and row.header is None
        if plain and not isinstance(type.value, t.Struct):
            return c.value(row, type.value), 1
        members, read = self.members(c, row, (), ["weight"], type)
        jobs = [read]
        if "weight" in members:
            jobs.append(lambda: c.value(members["weight"], t.U64))
        value, *weight = collect(jobs)
        return value, weight[0] if weight else 1

    def example(self, type: t.Table, ports: Sequence[str]) -> Any:
        if not isinstance(type.value, (t.Struct, t.Tuple)):
            return sample(type.value, ports)
        return self.example_of({}, type, ports)

    def written(self, row: Any, type: t.Table, write: Write) -> Form:
        value, weight = row
        return self.written_of({} if weight == 1 else {"weight": weight}, value, type, write)


ROWS = MaglevRows()
